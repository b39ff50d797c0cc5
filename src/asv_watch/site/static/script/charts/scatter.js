// One value against another, both on logarithmic axes.

import { svg } from "../page/elements.js";
import { formatTick } from "../text/format.js";
import { textWidth } from "./bars.js";
import { fix, markPath } from "./marks.js";
import { logScale } from "./scales.js";

/** @import { Scale } from "./scales.js" */

/**
 * @typedef {object} Dot
 * @property {number} x
 * @property {number} y
 * @property {string} look class that gives hue and fill
 * @property {number} shape
 * @property {string} label
 * @property {string} title
 *
 * @typedef {{ width: number, xUnit: string, yUnit: string, xLabel: string, yLabel: string }} ScatterOptions
 */

/** @param {number[]} values */
const reachOf = (values) => ({
  low: Math.min(...values) / 1.25,
  high: Math.max(...values) * 1.25,
});

/**
 * @param {Scale} x
 * @param {Scale} y
 * @param {{ left: number, right: number, top: number, bottom: number }} frame
 * @param {ScatterOptions} options
 */
function drawGrid(x, y, { left, right, top, bottom }, { xUnit, yUnit, xLabel, yLabel }) {
  const columns = x.ticks(Math.round((right - left) / 90)).flatMap((tick) => {
    const at = Math.round(x(tick)) + 0.5;
    const text = formatTick(tick, xUnit);
    return [
      svg("line", { class: "gridline", x1: at, x2: at, y1: top, y2: bottom }),
      svg("text", { x: at, y: bottom + 18, "text-anchor": "middle" }, text),
    ];
  });
  const rows = y.ticks(7).flatMap((tick) => {
    const at = Math.round(y(tick)) + 0.5;
    return [
      svg("line", { class: "gridline", x1: left, x2: right, y1: at, y2: at }),
      svg("text", { x: left - 8, y: at + 4, "text-anchor": "end" }, formatTick(tick, yUnit)),
    ];
  });
  return [
    ...columns,
    ...rows,
    svg("text", { class: "strong", x: right, y: bottom + 40, "text-anchor": "end" }, xLabel),
    svg("text", { class: "strong", x: 4, y: 14 }, yLabel),
  ];
}

/**
 * Draws into an <svg>. A name stands beside its dot only where it hides no other.
 * @param {SVGSVGElement} root
 * @param {Dot[]} dots
 * @param {ScatterOptions} options
 */
export function drawScatter(root, dots, options) {
  const { width } = options;
  const height = Math.round(Math.min(560, Math.max(320, width * 0.55)));
  const frame = { left: 76, right: width - 16, top: 30, bottom: height - 48 };
  const xs = reachOf(dots.map((dot) => dot.x));
  const ys = reachOf(dots.map((dot) => dot.y));
  const x = logScale(xs.low, xs.high, frame.left, frame.right, options.xUnit);
  const y = logScale(ys.low, ys.high, frame.bottom, frame.top, options.yUnit);
  /** @type {Element[]} */
  const marks = [];
  /** @type {Element[]} */
  const texts = [];
  /** @typedef {{ left: number, right: number, top: number, bottom: number }} Box */
  /** @type {Box[]} */
  const taken = dots.map((dot) => {
    const [px, py] = [x(dot.x), y(dot.y)];
    return { left: px - 5, right: px + 5, top: py - 5, bottom: py + 5 };
  });
  for (const dot of [...dots].sort((a, b) => a.y - b.y)) {
    const [px, py] = [x(dot.x), y(dot.y)];
    const mark = svg("path", { class: "dot", d: markPath(dot.shape, px, py) });
    marks.push(svg("g", { class: dot.look }, svg("title", {}, dot.title), mark));
    const size = textWidth(dot.label, 11.5);
    const start = px + 9 + size > frame.right ? px - 9 - size : px + 9;
    /** @type {Box} */
    const box = { left: start, right: start + size, top: py - 7, bottom: py + 7 };
    const hides =
      box.left < 2 ||
      taken.some(
        (other) =>
          box.left <= other.right &&
          other.left <= box.right &&
          box.top <= other.bottom &&
          other.top <= box.bottom,
      );
    if (hides) continue;
    taken.push(box);
    texts.push(svg("text", { class: "strong", x: fix(start), y: fix(py + 4) }, dot.label));
  }
  root.setAttribute("viewBox", `0 0 ${width} ${height}`);
  root.replaceChildren(...drawGrid(x, y, frame, options), ...marks, ...texts);
}
