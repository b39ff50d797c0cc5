// The shapes of marks, by which lines and dots differ besides their hue.

import { svg } from "../page/elements.js";

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
