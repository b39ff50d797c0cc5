// Pointer and keyboard of the large chart.

/** @import { Chart } from "./chart.js" */

/** Pixels that a pointer may move and still be a click. */
const CLICK = 5;

/**
 * The stop nearest to a pointer.
 * @param {Chart} chart
 * @param {PointerEvent} event
 */
function nearestStop({ svg, pixels }, event) {
  const box = svg.getBoundingClientRect();
  const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
  let [low, high] = [0, pixels.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pixels[middle] ?? Infinity) < x) low = middle + 1;
    else high = middle;
  }
  const [before, after] = [pixels[low - 1], pixels[low]];
  return before !== undefined && after !== undefined && x - before < after - x ? low - 1 : low;
}

/** @param {Chart} chart */
function attachPointer(chart) {
  const { frame } = chart;
  /** @type {{ from: number, x: number } | null} */
  let drag = null;

  /** @param {PointerEvent} event */
  const follow = (event) => {
    if (!chart.scene || !chart.pixels.length) return;
    const i = nearestStop(chart, event);
    const at = chart.scene.axis.stops[i];
    if (at === undefined || (!drag && at === chart.cursor)) return;
    chart.moveTo(at);
    if (drag && Math.abs(event.clientX - drag.x) > CLICK) chart.select(drag.from, i);
  };
  frame.addEventListener("pointermove", follow);
  frame.addEventListener("pointerleave", (event) => {
    if (!drag && event.pointerType !== "touch") chart.settle();
  });
  frame.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !chart.pixels.length) return;
    if (event.pointerType !== "touch") frame.setPointerCapture(event.pointerId);
    drag = { from: nearestStop(chart, event), x: event.clientX };
  });
  frame.addEventListener("pointerup", (event) => {
    if (!drag) return;
    const moved = Math.abs(event.clientX - drag.x) > CLICK;
    const [from, to] = [drag.from, nearestStop(chart, event)];
    drag = null;
    if (moved && from !== to) chart.zoomTo(from, to);
    else if (!moved && event.pointerType === "mouse") chart.enter();
    else follow(event); // a finger only moves the cursor: the commit's link is below
  });
  frame.addEventListener("pointercancel", () => {
    drag = null;
    chart.mark();
  });
  frame.addEventListener("dblclick", () => chart.reset());
}

/** Stops that a key moves the cursor by. */
const MOVES = new Map([
  ["ArrowLeft", -1],
  ["ArrowRight", 1],
  ["PageUp", -10],
  ["PageDown", 10],
  ["Home", -Infinity],
  ["End", Infinity],
]);

/** @type {Map<string, (chart: Chart) => void>} */
const KEYS = new Map([
  ["+", (chart) => chart.zoom(0.5)],
  ["=", (chart) => chart.zoom(0.5)],
  ["-", (chart) => chart.zoom(2)],
  ["_", (chart) => chart.zoom(2)],
  ["0", (chart) => chart.reset()],
  ["Escape", (chart) => chart.reset()],
  ["Enter", (chart) => chart.enter()],
]);

/**
 * @param {Chart} chart
 * @param {KeyboardEvent} event
 */
function pressKey(chart, event) {
  const stops = chart.scene?.axis.stops ?? [];
  if (event.ctrlKey || event.altKey || event.metaKey || !stops.length) return;
  const step = MOVES.get(event.key);
  const work = KEYS.get(event.key);
  if (step !== undefined && event.shiftKey && Math.abs(step) === 1) chart.pan(step * 0.25);
  else if (step !== undefined) {
    const here = stops.indexOf(chart.place ?? NaN);
    const wanted = chart.cursor === null && step === 1 ? 0 : here + step;
    chart.moveTo(stops[Math.max(0, Math.min(stops.length - 1, wanted))] ?? 0);
    chart.readout.announce();
  } else if (work) work(chart);
  else return;
  event.preventDefault();
}

/** Makes the chart answer to pointers and keys. @param {Chart} chart */
export function attachInput(chart) {
  attachPointer(chart);
  chart.frame.addEventListener("keydown", (event) => pressKey(chart, event));
}
