// The shapes and hues of marks, by which lines and dots differ.

import { MODEL_HUES, getModel } from "../data/model.js";
import { svg } from "../page/elements.js";
import { markClass } from "../page/signs.js";

/** @import { Case } from "../data/cases.js" */

/** Drawn at a point given in pixels. @type {((x: number, y: number) => string)[]} */
const SHAPES = [
  (x, y) => `M${x - 3.5} ${y}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0Z`,
  (x, y) => `M${x - 3.2} ${y - 3.2}h6.4v6.4h-6.4Z`,
  (x, y) => `M${x} ${y - 4.4}l4.2 7.6h-8.4Z`,
  (x, y) => `M${x} ${y - 4.6}l4.6 4.6l-4.6 4.6l-4.6 -4.6Z`,
  (x, y) => `M${x} ${y + 4.4}l4.2 -7.6h-8.4Z`,
  (x, y) => `M${x - 4} ${y - 1.4}h2.6v-2.6h2.8v2.6h2.6v2.8h-2.6v2.6h-2.8v-2.6h-2.6Z`,
];

/** The diamond, which also marks events and published values. */
export const DIAMOND = 3;

/**
 * The path of a mark: lines of one hue and dash take six shapes in turn.
 * @param {number} shape
 * @param {number} x
 * @param {number} y
 */
export const markPath = (shape, x, y) =>
  SHAPES[shape % SHAPES.length]?.(Number(x.toFixed(1)), Number(y.toFixed(1))) ?? "";

/** A pixel as text. @param {number} pixel */
export const fix = (pixel) => pixel.toFixed(1);

/**
 * The class of a model's hue, where everything was measured on one device; else nothing.
 * @param {Case} what
 */
export const modelHue = (what) => (getModel().oneDevice ? ` hue-${what.hue}` : "");

/**
 * What has a hue of its own: a model. In a project without models the columns are neither devices
 * nor passes, which have signs of their own, so each case of a row has one.
 * @param {Case} what
 */
const hueOwner = (what) =>
  getModel().subject === "model" ? what.rowId : JSON.stringify([what.rowId, what.column]);

/**
 * Maps each `hueOwner` in a chart to a hue: the hue of its model, or the next free hue.
 * @param {Case[]} cases
 */
function huesOf(cases) {
  /** @type {Map<string, number>} */
  const hues = new Map();
  for (const what of cases) {
    if (hues.has(hueOwner(what))) continue;
    const taken = new Set(hues.values());
    let own = what.hue;
    while (taken.has(own) && taken.size < MODEL_HUES) own = (own + 1) % MODEL_HUES;
    hues.set(hueOwner(what), own);
  }
  return hues;
}

/**
 * The class that gives each case its hue and dash. Where all cases run on one device its hue
 * would say nothing, so each model has a hue of its own; the pass keeps its dash or fill, and
 * anything but a time is dotted.
 * @param {Case[]} cases
 * @returns {(what: Case) => string}
 */
export function looksOf(cases) {
  const { subject, oneDevice } = getModel();
  const hues = huesOf(cases);
  const devices = new Set(cases.map((what) => (subject === "model" ? what.device : "")));
  const kinds = new Set(cases.map((what) => what.metric.unit));
  return (what) => {
    const look = markClass(what.device, what.pass);
    const dotted = kinds.size > 1 && what.metric.unit !== "seconds" ? " not-time" : "";
    if (devices.size > 1 || (hues.size < 2 && !oneDevice)) return look + dotted;
    return `${look} hue-${hues.get(hueOwner(what))}${dotted}`;
  };
}

/**
 * A piece of a line with its mark, as legends show it.
 * @param {string} look
 * @param {number} [shape] no mark without it
 */
export const lineSwatch = (look, shape) =>
  svg(
    "svg",
    {
      class: `chart swatch ${look}`,
      viewBox: "0 0 30 12",
      "aria-hidden": "true",
      focusable: "false",
    },
    svg("path", { class: "line", d: "M1 6H29" }),
    shape === undefined ? null : svg("path", { class: "dot", d: markPath(shape, 15, 6) }),
  );
