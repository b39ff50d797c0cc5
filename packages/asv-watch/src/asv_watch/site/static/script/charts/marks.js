// Marks, labels, and the bars in the rows of tables: a ratio from 0 % on, with its interval.

import { svg } from "../page/elements.js";
import { logScale } from "./scales.js";

/** Colours alone do not tell. */
export const SIGNS = { better: "✓ ", worse: "✗ ", same: "" };

/** Drawn at a point given in pixels. @type {((x: number, y: number) => string)[]} */
const SHAPES = [
  (x, y) => `M${x - 3.5} ${y}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0Z`,
  (x, y) => `M${x - 3.2} ${y - 3.2}h6.4v6.4h-6.4Z`,
  (x, y) => `M${x} ${y - 4.4}l4.2 7.6h-8.4Z`,
  (x, y) => `M${x} ${y - 4.6}l4.6 4.6l-4.6 4.6l-4.6 -4.6Z`,
  (x, y) => `M${x} ${y + 4.4}l4.2 -7.6h-8.4Z`,
];

/**
 * The path of a mark.
 * @param {number} shape
 * @param {number} x
 * @param {number} y
 */
export const markPath = (shape, x, y) =>
  SHAPES[shape % SHAPES.length]?.(Number(x.toFixed(1)), Number(y.toFixed(1))) ?? "";

/** A pixel as text. @param {number} pixel */
export const fix = (pixel) => pixel.toFixed(1);

/** Half the width of a letter in pixels, roughly. */
const HALF_LETTER = 3.8;

/**
 * Labels in a row; those that would touch are left out.
 * @param {{ x: number, text: string, look?: string }[]} labels from left to right
 * @param {number} y
 * @param {{ left?: number, right?: number }} [frame] that they stay in
 */
export function labelRow(labels, y, { left = -Infinity, right = Infinity } = {}) {
  let lastEnd = -Infinity;
  return labels.flatMap(({ x, text, look }) => {
    const half = text.length * HALF_LETTER;
    const middle = Math.max(left + half, Math.min(x, right - half));
    if (middle - half < lastEnd + 2 * HALF_LETTER) return [];
    lastEnd = middle + half;
    return [svg("text", { class: look, x: fix(middle), y, "text-anchor": "middle" }, text)];
  });
}

/**
 * The classes that give a case its hue and dash: the hue of its column, or of its row where
 * columns have none.
 * @param {Case} what
 */
export const lookOf = ({ field, line }) =>
  field.look.includes("hue-") ? field.look : `${field.look} hue-${line.hue}`;

/**
 * A piece of a line with its mark, as legends show it.
 * @param {string} look
 * @param {number} [shape] no mark without it
 */
export const lineSwatch = (look, shape) =>
  svg(
    "svg",
    { class: `chart swatch ${look}`, viewBox: "0 0 30 12", "aria-hidden": "true" },
    svg("path", { class: "line", d: "M1 6H29" }),
    shape === undefined ? null : svg("path", { class: "dot", d: markPath(shape, 15, 6) }),
  );

/** Of bars, in pixels. */
const [BAR_WIDTH, BAR_HEIGHT, BAR_MARGIN] = [120, 14, 3];

/**
 * A logarithmic scale that all bars of a table share, wide enough for all of their intervals.
 * @param {Bar[]} bars
 */
export function barScale(bars) {
  const ends = bars.flatMap(({ ratio, interval }) => [ratio, ...(interval ?? [])]);
  const [low, high] = [Math.min(0.98, ...ends), Math.max(1.02, ...ends)];
  return logScale(low, high, BAR_MARGIN, BAR_WIDTH - BAR_MARGIN);
}

/** A bar without an interval is hollow: nothing compared it. @param {Bar} bar @param {AxisScale} x */
export function drawBar({ ratio, interval, verdict, pale = false }, x) {
  const middle = BAR_HEIGHT / 2;
  const [zero, end] = [x(1), x(ratio)];
  const [low = end, high = end] = interval?.map(x) ?? [];
  const d = `M${fix(low)} ${middle}H${fix(high)}m0 -4v8M${fix(low)} ${middle - 4}v8`;
  return svg(
    "svg",
    {
      class: `bar-cell mark ${interval ? verdict : "hollow"}${pale ? " pale" : ""}`,
      viewBox: `0 0 ${BAR_WIDTH} ${BAR_HEIGHT}`,
      "aria-hidden": "true",
    },
    svg("line", { class: "one", x1: zero, x2: zero, y1: 0, y2: BAR_HEIGHT }),
    svg("rect", {
      class: "bar",
      x: fix(Math.min(zero, end)),
      y: middle - 5,
      width: fix(Math.max(1, Math.abs(end - zero))),
      height: 10,
    }),
    high - low > 3 ? svg("path", { class: "whisker", d }) : null,
  );
}
