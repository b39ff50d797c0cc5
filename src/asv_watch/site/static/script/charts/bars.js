// A chart with a row for each case: bars of ratios from 0 % on, with their intervals.

import { svg } from "../page/elements.js";
import { formatRatioTick } from "../text/format.js";
import { fix, shortened, SIGNS } from "./marks.js";
import { logScale } from "./scales.js";

/**
 * @typedef {object} BarRow
 * @property {string} label
 * @property {string | null} href
 * @property {number} ratio
 * @property {[number, number] | null} interval
 * @property {Verdict} verdict gives the colour
 * @property {string} text written beside the bar
 * @property {string} tip
 */

const LINE = 18;
const GAP = 8;
const HEAD = 24;
/** Height of a row's name where it stands above its bar, as a phone has no room beside it. */
const NAME = 18;
/** Charts below this width have names above the bars. */
const NARROW = 560;
/** Width of a letter in pixels, roughly. */
const LETTER = 6.7;

/**
 * @param {BarRow[]} rows
 * @param {number} width
 */
function layoutOf(rows, width) {
  const longest = Math.max(...rows.map(({ label }) => label.length)) * LETTER + 14;
  const left = width < NARROW ? 0 : Math.min(longest, width * 0.4);
  const words = Math.max(...rows.map(({ text }) => text.length + 2)) * LETTER + 14;
  const ends = rows.flatMap(({ ratio, interval }) => [ratio, ...(interval ?? [])]);
  const [low, high] = [Math.min(0.98, ...ends), Math.max(1.02, ...ends)];
  const pad = Math.exp(Math.max(Math.log(high / low) * 0.04, 0.003));
  const right = width - Math.min(words, width / 3);
  return { left, x: logScale(low / pad, high * pad, left + 8, right) };
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
 * A bar from 0 % to a ratio, with its interval if that is wide enough to be seen.
 * @param {{ ratio: number, interval: [number, number] | null }} change
 * @param {(ratio: number) => number} x
 * @param {number} middle
 */
export function barShapes({ ratio, interval }, x, middle) {
  const [zero, place] = [x(1), x(ratio)];
  const [low = place, high = place] = interval?.map(x) ?? [];
  const d = `M${fix(low)} ${fix(middle)}H${fix(high)}m0 -4v8M${fix(low)} ${fix(middle - 4)}v8`;
  return [
    svg("rect", {
      class: "bar",
      x: fix(Math.min(zero, place)),
      y: fix(middle - 5),
      width: fix(Math.max(1, Math.abs(place - zero))),
      height: 10,
    }),
    high - low > 3 ? svg("path", { class: "whisker", d }) : null,
  ];
}

/**
 * @param {BarRow} row
 * @param {AxisScale} x
 * @param {number} middle
 * @param {number} width
 */
function drawBar({ ratio, interval, verdict, text, tip }, x, middle, width) {
  const end = Math.max(...[1, ratio, ...(interval ?? [])].map(x));
  return svg(
    "g",
    { class: `mark ${verdict}`, "data-tip": tip },
    // What is pointed at is larger than what is drawn.
    svg("rect", { class: "reach", x: 0, y: fix(middle - LINE / 2), width, height: LINE }),
    barShapes({ ratio, interval }, x, middle),
    svg("text", { class: "size", x: fix(end + 8), y: fix(middle + 4) }, SIGNS[verdict], text),
  );
}

/**
 * The axis above the rows.
 * @param {AxisScale} x
 * @param {number} bottom
 * @param {number} width
 */
function drawAxis(x, bottom, width) {
  let lastEnd = -Infinity;
  return x.ticks(width < NARROW ? 3 : 5).flatMap((tick) => {
    const at = Math.round(x(tick)) + 0.5;
    const text = formatRatioTick(tick);
    const half = (text.length * LETTER) / 2;
    const kind = Math.abs(tick - 1) < 1e-9 ? "one" : "gridline";
    const line = svg("line", { class: kind, x1: at, x2: at, y1: 20, y2: bottom });
    if (at - half < lastEnd + 6) return [line];
    lastEnd = at + half;
    return [line, svg("text", { x: Math.max(at, half), y: 13, "text-anchor": "middle" }, text)];
  });
}

/**
 * Draws rows into an <svg>.
 * @param {SVGSVGElement} root
 * @param {BarRow[]} rows
 * @param {number} width in pixels
 */
function drawBars(root, rows, width) {
  const { left, x } = layoutOf(rows, width);
  const name = left ? 0 : NAME;
  const height = name + LINE + GAP;
  const parts = rows.flatMap((row, i) => {
    const top = HEAD + i * height;
    return [
      rowLabel(row, left, top + (left ? LINE : NAME) / 2),
      drawBar(row, x, top + name + LINE / 2, width),
    ];
  });
  const bottom = HEAD + rows.length * height;
  root.setAttribute("viewBox", `0 0 ${width} ${bottom}`);
  root.replaceChildren(...drawAxis(x, bottom - GAP / 2, width), ...parts);
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
 */
export const barChart = (label, rows) =>
  fittingChart(label, (root, width) => drawBars(root, rows, width));
