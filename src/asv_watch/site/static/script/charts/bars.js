// Charts with a row for each case: bars of ratios from 0 % on with their intervals, or dots of
// values on a logarithmic axis.

import { svg } from "../page/elements.js";
import { formatRatioTick, formatTick } from "../text/format.js";
import { DIAMOND, fix, markPath, shortened } from "./marks.js";
import { logScale } from "./scales.js";

/** @import { Metric } from "../../types.js" */
/** @import { Scale } from "./scales.js" */

/**
 * @typedef {object} Mark a bar or a dot
 * @property {number} value
 * @property {[number, number] | null} interval
 * @property {string} look classes of its colour
 * @property {string} text written beside it
 * @property {boolean} [published] whether others measured it
 * @property {string} tip
 *
 * @typedef {object} BarRow
 * @property {string} label
 * @property {string | null} href
 * @property {Mark[]} marks
 *
 * @typedef {object} BarOptions
 * @property {number} width in pixels
 * @property {Metric | null} metric of dots; bars of ratios without it
 */

const LINE = 18;
const GAP = 8;
const HEAD = 24;
/** Height of a row's name where it stands above its bars, as a phone has no room beside them. */
const NAME = 18;
/** Charts below this width have names above the bars. */
const NARROW = 560;
/** Width of a letter in pixels, roughly. */
const LETTER = 6.7;

/**
 * @param {BarRow[]} rows
 * @param {BarOptions} options
 */
function layoutOf(rows, { width, metric }) {
  const marks = rows.flatMap((row) => row.marks);
  const longest = Math.max(...rows.map((row) => row.label.length)) * LETTER + 14;
  const left = width < NARROW ? 0 : Math.min(longest, width * 0.4);
  const room = Math.min(
    Math.max(...marks.map(({ text }) => text.length)) * LETTER + 14,
    width / 3,
  );
  const ends = marks.flatMap(({ value, interval }) => [value, ...(interval ?? [])]);
  let [low, high] = [Math.min(...ends), Math.max(...ends)];
  if (!metric) [low, high] = [Math.min(low, 0.98), Math.max(high, 1.02)];
  const pad = Math.exp(Math.max(Math.log(high / low) * 0.04, 0.003));
  return { left, x: logScale(low / pad, high * pad, left + 8, width - room, metric?.unit ?? "") };
}

/**
 * @param {BarRow} row
 * @param {number} left
 * @param {number} middle
 */
function rowLabel({ label, href }, left, middle) {
  const text = svg(
    "text",
    left
      ? { class: "strong", x: fix(left - 10), y: fix(middle + 4), "text-anchor": "end" }
      : { class: "strong", x: 0, y: fix(middle + 4) },
    left ? shortened(label, Math.floor((left - 8) / LETTER)) : label,
  );
  return href ? svg("a", { href, "aria-label": label }, text) : text;
}

/**
 * @param {Mark} mark
 * @param {Scale} x
 * @param {number} middle
 * @param {BarOptions} options
 */
function drawMark(mark, x, middle, { metric, width }) {
  const place = x(mark.value);
  const group = svg("g", { class: `mark ${mark.look}`, "data-tip": mark.tip });
  const [a, b] = (mark.interval ?? [mark.value, mark.value]).map(x);
  const [low = place, high = place] = [a, b];
  // What is pointed at is larger than what is drawn.
  const reach = { x: 0, y: fix(middle - LINE / 2), width, height: LINE };
  group.append(svg("rect", { class: "reach", ...reach }));
  if (!metric) {
    const zero = x(1);
    group.append(
      svg("rect", {
        class: "bar",
        x: fix(Math.min(zero, place)),
        y: fix(middle - 5),
        width: fix(Math.max(1, Math.abs(place - zero))),
        height: 10,
      }),
    );
  } else {
    const from = x(x.domain[0]);
    const y = fix(middle);
    group.append(svg("line", { class: "stem", x1: fix(from), x2: fix(place), y1: y, y2: y }));
    const d = markPath(mark.published ? DIAMOND : 0, place, middle);
    group.append(svg("path", { class: "dot", d }));
  }
  if (high - low > 3) {
    const d = `M${fix(low)} ${fix(middle)}H${fix(high)}m0 -4v8M${fix(low)} ${fix(middle - 4)}v8`;
    group.append(svg("path", { class: "whisker", d }));
  }
  const end = Math.max(place, high, metric ? 0 : x(1));
  const text = svg("text", { class: "size", x: fix(end + 8), y: fix(middle + 4) }, mark.text);
  group.append(text);
  return group;
}

/**
 * The axis above the rows.
 * @param {Scale} x
 * @param {number} bottom
 * @param {BarOptions} options
 */
function drawAxis(x, bottom, { width, metric }) {
  let lastEnd = -Infinity;
  return x.ticks(width < NARROW ? 3 : 5).flatMap((tick) => {
    const at = Math.round(x(tick)) + 0.5;
    const text = metric ? formatTick(tick, metric) : formatRatioTick(tick);
    const half = (text.length * LETTER) / 2;
    const kind = !metric && Math.abs(tick - 1) < 1e-9 ? "one" : "gridline";
    const line = svg("line", { class: kind, x1: at, x2: at, y1: 20, y2: bottom });
    if (at - half < lastEnd + 6) return [line];
    lastEnd = at + half;
    return [line, svg("text", { x: at, y: 13, "text-anchor": "middle" }, text)];
  });
}

/**
 * Draws rows of marks into an <svg>.
 * @param {SVGSVGElement} root
 * @param {BarRow[]} rows
 * @param {BarOptions} options
 */
export function drawBars(root, rows, options) {
  const { left, x } = layoutOf(rows, options);
  /** @type {Element[]} */
  const parts = [];
  let y = HEAD;
  for (const row of rows) {
    const height = row.marks.length * LINE;
    parts.push(rowLabel(row, left, left ? y + height / 2 : y + NAME / 2));
    if (!left) y += NAME;
    row.marks.forEach((mark, i) =>
      parts.push(drawMark(mark, x, y + i * LINE + LINE / 2, options)),
    );
    y += height + GAP;
  }
  root.setAttribute("viewBox", `0 0 ${options.width} ${y}`);
  root.replaceChildren(...drawAxis(x, y - GAP / 2, options), ...parts);
}

/**
 * A chart that is drawn again when its width changes.
 * @param {string} label what the chart shows, for people who listen
 * @param {(root: SVGSVGElement, width: number) => void} draw
 */
export function fittingChart(label, draw) {
  const root = svg("svg", { class: "chart still", role: "group", "aria-label": label });
  const frame = document.createElement("div");
  frame.append(root);
  let drawn = 0;
  new ResizeObserver(() => {
    const width = Math.round(frame.clientWidth);
    if (!width || Math.abs(width - drawn) < 3) return;
    drawn = width;
    draw(root, Math.max(260, width));
  }).observe(frame);
  return frame;
}

/**
 * @param {string} label
 * @param {BarRow[]} rows
 * @param {Metric | null} [metric]
 */
export const barChart = (label, rows, metric = null) =>
  fittingChart(label, (root, width) => drawBars(root, rows, { width, metric }));
