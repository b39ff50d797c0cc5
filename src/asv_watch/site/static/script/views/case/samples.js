// The distribution of a series' samples at two commits.

import { svg } from "../../page/elements.js";
import { formatTick } from "../../text/format.js";
import { fix } from "../../charts/marks.js";
import { linearScale } from "../../charts/scales.js";

/**
 * @typedef {object} RunSamples
 * @property {string} label
 * @property {number[]} values ascending, in the unit of the benchmark
 * @property {number} value what the run reports
 */

const ROW = 46;
const HEAD = 24;

/**
 * Where dots stand so that equal ones do not cover each other: each goes to the lowest of a few
 * lanes that is free.
 * @param {number[]} pixels ascending
 */
function lanesOf(pixels) {
  /** @type {number[]} */
  const ends = [];
  return pixels.map((pixel) => {
    const free = ends.findIndex((end) => pixel - end >= 6);
    const lane = free >= 0 ? free : ends.length < 5 ? ends.length : 0;
    ends[lane] = pixel;
    return lane;
  });
}

/**
 * Draws a row of dots for each run, with a line at the value that it reports.
 * @param {SVGSVGElement} root
 * @param {RunSamples[]} runs
 * @param {{ width: number, unit: string }} options
 */
export function drawSamples(root, runs, { width, unit }) {
  const all = runs.flatMap((run) => [...run.values, run.value]);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const pad = (high - low) * 0.05;
  const left = width < 560 ? 84 : 200;
  const x = linearScale(low - pad, high + pad, left, width - 24, unit);
  const height = HEAD + runs.length * ROW + 6;
  const grid = x.ticks(Math.max(2, Math.round((width - left) / 110))).flatMap((tick) => {
    const at = Math.round(x(tick)) + 0.5;
    const line = { class: "gridline", x1: at, x2: at, y1: HEAD - 4, y2: height };
    const text = { x: at, y: 13, "text-anchor": "middle" };
    return [svg("line", line), svg("text", text, formatTick(tick, unit))];
  });
  const rows = runs.map((run, i) => {
    const middle = HEAD + i * ROW + ROW / 2;
    const pixels = run.values.map(x);
    const lanes = lanesOf(pixels);
    const dots = pixels.map((pixel, k) =>
      svg("circle", {
        class: "sample",
        cx: fix(pixel),
        cy: fix(middle + 12 - (lanes[k] ?? 0) * 6),
        r: 2.6,
      }),
    );
    const at = fix(x(run.value));
    const line = { class: "reported", x1: at, x2: at, y1: middle - 19, y2: middle + 19 };
    const label = { class: "strong", x: left - 12, y: middle + 4, "text-anchor": "end" };
    return svg(
      "g",
      { class: `hue-${i}` },
      svg("text", label, run.label),
      svg("line", line, svg("title", {}, `reported: ${formatTick(run.value, unit)}`)),
      dots,
    );
  });
  root.setAttribute("viewBox", `0 0 ${width} ${height}`);
  root.replaceChildren(...grid, ...rows);
}
