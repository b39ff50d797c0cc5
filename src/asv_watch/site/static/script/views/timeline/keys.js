// What keys do in the large chart.

/** @import { Chart } from "./chart.js" */

/** Stops that a key moves the cursor by. */
export const MOVES = new Map([
  ["ArrowLeft", -1],
  ["ArrowRight", 1],
  ["PageUp", -10],
  ["PageDown", 10],
  ["Home", -Infinity],
  ["End", Infinity],
]);

/** @type {Map<string, (chart: Chart) => void>} */
export const KEYS = new Map([
  ["+", (chart) => chart.zoom(0.5)],
  ["=", (chart) => chart.zoom(0.5)],
  ["-", (chart) => chart.zoom(2)],
  ["0", (chart) => chart.reset()],
  ["Escape", (chart) => chart.reset()],
  ["Enter", (chart) => chart.enter()],
]);
