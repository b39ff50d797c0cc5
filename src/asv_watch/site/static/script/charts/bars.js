// Charts of one value per mark: dots on lines on a logarithmic axis, bars from zero or from 1×.

import { svg } from "../page/elements.js";
import { DIAMOND, fix, markPath } from "./marks.js";
import { linearScale, logScale } from "./scales.js";

/** @import { Scale } from "./scales.js" */

/**
 * @typedef {object} Mark
 * @property {number} value
 * @property {[number, number] | null} [interval]
 * @property {string} look class that gives hue and fill
 * @property {number} [shape]
 * @property {string} text
 * @property {boolean} [published]
 * @property {string} title
 *
 * @typedef {Mark | { missing: string } | null} Slot a mark, why there is none, or nothing
 * @typedef {{ label: string, marks: Slot[] }} MarkRow
 *
 * @typedef {object} MarkOptions
 * @property {number} width in pixels
 * @property {"log" | "linear"} scale
 * @property {0 | 1 | null} from bars start there; null draws dots
 * @property {string} unit
 * @property {(value: number) => string} tick
 */

const LINE = 15;
const GAP = 12;
const LABEL_LINE = 14;

/** @param {string} text */
export const textWidth = (text, size = 12) => text.length * size * 0.6;

/**
 * @param {Slot} slot
 * @returns {slot is Mark}
 */
const isMark = (slot) => slot !== null && !("missing" in slot);

/**
 * @param {MarkRow[]} rows
 * @param {MarkOptions} options
 */
function layoutOf(rows, options) {
  const { width } = options;
  const marks = rows.flatMap((row) => row.marks.filter(isMark));
  const longest = Math.max(...rows.map((row) => textWidth(row.label, 13)), 40);
  const left = Math.min(longest + 16, width * (width < 560 ? 0.4 : 0.26));
  const widest = Math.max(...marks.map((mark) => textWidth(mark.text)), 30) + 12;
  const room = Math.min(widest, width * 0.42);
  const right = width - 10 - room;
  const values = marks.map((mark) => mark.value);
  let [low, high] = values.length ? [Math.min(...values), Math.max(...values)] : [1, 10];
  if (options.scale === "linear")
    return { left, right, x: linearScale(0, high, left, right, options.unit) };
  if (options.from === 1) [low, high] = [Math.min(low, 1), Math.max(high, 1)];
  const pad = options.from === 1 ? 1.04 : Math.max(1.15, (high / low) ** 0.04);
  const start = left + (options.from === 1 && low < 1 ? room : 0);
  return { left, right, x: logScale(low / pad, high * pad, start, right, options.unit) };
}

/**
 * The name of a row; a long name goes on two lines, the model above its details.
 * @param {string} label
 * @param {number} left where the marks begin, in pixels
 */
function linesOf(label, left) {
  if (textWidth(label, 13) <= left - 14) return [label];
  const space = label.indexOf(" ");
  const cut = space >= 0 ? space : label.lastIndexOf("_", Math.floor((left - 14) / 7.8) - 1);
  return cut < 0 ? [label] : [label.slice(0, cut + 1).trim(), label.slice(cut + 1)];
}

/**
 * @param {string} label
 * @param {number} left
 * @param {number} middle
 */
function rowLabel(label, left, middle) {
  const lines = linesOf(label, left);
  return lines.map((line, i) => {
    const fits = Math.floor((left - 14) / (i ? 7 : 7.8));
    const half = Math.floor((fits - 1) / 2);
    const text =
      line.length > fits ? `${line.slice(0, half)}…${line.slice(half + 1 - fits)}` : line;
    const at = middle + (lines.length > 1 ? i * LABEL_LINE - LABEL_LINE / 2 : 0);
    return svg(
      "text",
      { class: i ? "detail" : "strong", x: fix(left - 12), y: fix(at), "text-anchor": "end" },
      svg("title", {}, label),
      text,
    );
  });
}

/**
 * A dot at the end of a thin line, with its interval.
 * @param {Mark} mark
 * @param {Scale} x
 * @param {number} left
 * @param {number} at
 * @returns {[Element[], number]} the parts and where they end
 */
function drawDot(mark, x, left, at) {
  const place = x(mark.value);
  const y = fix(at);
  /** @type {Element[]} */
  const parts = [svg("line", { class: "stem", x1: fix(left), x2: fix(place), y1: y, y2: y })];
  let end = place;
  if (mark.interval) {
    const [a, b] = mark.interval.map((value) => x(Math.max(value, x.domain[0])));
    if (a !== undefined && b !== undefined && b - a > 8) {
      parts.push(svg("line", { class: "whisker", x1: fix(a), x2: fix(b), y1: y, y2: y }));
      end = Math.max(place, b);
    }
  }
  const shape = mark.published ? DIAMOND : (mark.shape ?? 0);
  parts.push(svg("path", { class: `dot ${mark.look}`, d: markPath(shape, place, at) }));
  return [parts, end];
}

/**
 * @param {Slot} slot
 * @param {Scale} x
 * @param {number} left
 * @param {number} at
 * @param {MarkOptions} options
 */
function drawMark(slot, x, left, at, options) {
  if (!slot) return [];
  if (!isMark(slot)) return [svg("text", { x: fix(left + 4), y: fix(at + 4) }, slot.missing)];
  const place = x(slot.value);
  const group = svg("g", { class: slot.look }, svg("title", {}, slot.title));
  let end = place;
  if (options.from === null) {
    const [parts, last] = drawDot(slot, x, left, at);
    group.append(...parts);
    end = last;
  } else {
    const start = x(options.from);
    group.append(
      svg("rect", {
        class: `bar ${slot.look}`,
        x: fix(Math.min(start, place)),
        y: fix(at - 4.5),
        width: fix(Math.abs(place - start)),
        height: 9,
      }),
    );
  }
  const before = options.from === 1 && place < x(1);
  const anchor = before ? "end" : "start";
  const text = { x: fix(before ? place - 7 : end + 8), y: fix(at + 4), "text-anchor": anchor };
  const letters = Math.floor((before ? place - left : options.width - end - 10) / textWidth("0"));
  const fits = slot.text.length <= letters;
  const shown = fits ? slot.text : `${slot.text.slice(0, Math.max(8, letters - 1))}…`;
  group.append(svg("text", { class: "strong", ...text }, shown));
  return [group];
}

/**
 * The axis above the rows.
 * @param {Scale} x
 * @param {{ left: number, right: number }} frame
 * @param {number} bottom
 * @param {MarkOptions} options
 */
function drawAxis(x, { left, right }, bottom, { width, from, tick: tickText }) {
  /** @type {Element[]} */
  const parts = [];
  let lastEnd = -Infinity;
  for (const tick of x.ticks(Math.max(2, Math.round((right - left) / (width < 560 ? 80 : 95))))) {
    const at = Math.round(x(tick)) + 0.5;
    const text = tickText(tick);
    const half = textWidth(text) / 2;
    parts.push(svg("line", { class: "gridline", x1: at, x2: at, y1: 20, y2: bottom }));
    if (at - half < lastEnd + 6) continue;
    lastEnd = at + half;
    parts.push(svg("text", { x: at, y: 13, "text-anchor": "middle" }, text));
  }
  if (from !== null) {
    const at = Math.round(x(from)) + 0.5;
    parts.push(svg("line", { class: "one", x1: at, x2: at, y1: 20, y2: bottom }));
  }
  return parts;
}

/**
 * Draws rows of marks into an <svg>.
 * @param {SVGSVGElement} root
 * @param {MarkRow[]} rows
 * @param {MarkOptions} options
 */
export function drawMarks(root, rows, options) {
  const { left, right, x } = layoutOf(rows, options);
  /** @type {Element[]} */
  const rules = [];
  /** @type {Element[]} */
  const marks = [];
  let y = 26;
  for (const row of rows) {
    if (y > 26) {
      const at = y - GAP / 2;
      rules.push(svg("line", { class: "gridline", x1: 0, x2: options.width, y1: at, y2: at }));
    }
    const top = y;
    const ofMarks = row.marks.length * LINE;
    const height = Math.max(ofMarks, linesOf(row.label, left).length * LABEL_LINE);
    const first = top + (height - ofMarks + LINE) / 2;
    marks.push(...rowLabel(row.label, left, top + height / 2 + 4));
    row.marks.forEach((slot, i) =>
      marks.push(...drawMark(slot, x, left, first + i * LINE, options)),
    );
    y += height + GAP;
  }
  const bottom = y - GAP / 2;
  root.setAttribute("viewBox", `0 0 ${options.width} ${Math.ceil(bottom + 4)}`);
  root.replaceChildren(...drawAxis(x, { left, right }, bottom, options), ...rules, ...marks);
}
