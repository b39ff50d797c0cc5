// Tables: built from rows of cells, sorted by their headings, a page of rows at a time.

import { changeParams } from "../address.js";
import { formatCount } from "../text/format.js";
import { announce } from "./announce.js";
import { el } from "./elements.js";

/** @import { Child } from "./elements.js" */

/**
 * @typedef {string | { text: string, number?: boolean, wrap?: boolean }} Heading
 *
 * @typedef {object} Column
 * @property {string} id
 * @property {string} text
 * @property {boolean} [number]
 * @property {string} [title]
 */

/**
 * A table from headings and rows of cells; the first cell of a row is its heading.
 * @param {string} caption
 * @param {Heading[]} headings
 * @param {Child[][]} rows
 */
export function buildTable(caption, headings, rows, className = "list") {
  const heads = headings.map((head) => (typeof head === "string" ? { text: head } : head));
  /** @param {number} i */
  const classOf = (i) => (heads[i]?.number ? "number" : heads[i]?.wrap ? "text" : null);
  return el(
    "table",
    { class: className },
    el("caption", { class: "visually-hidden" }, caption),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        heads.map(({ text, number }) =>
          el("th", { scope: "col", class: number ? "number" : null }, text),
        ),
      ),
    ),
    el(
      "tbody",
      {},
      rows.map((cells) =>
        el(
          "tr",
          {},
          cells.map((cell, i) =>
            i === 0 ? el("th", { scope: "row" }, cell) : el("td", { class: classOf(i) }, cell),
          ),
        ),
      ),
    ),
  );
}

/**
 * The headings of a table that is sorted by the address: each is a button, and the parameter
 * `sort` holds a column's id, with a minus for descending.
 * @param {Column[]} columns
 * @param {string} order what `sort` is now
 * @param {string} initial what `sort` is when the address does not say
 */
export function sortHeads(columns, order, initial) {
  const down = order.startsWith("-");
  return columns.map(({ id, text, number, title }) => {
    const active = order.replace("-", "") === id;
    const next = active ? (down ? id : `-${id}`) : number ? `-${id}` : id;
    const button = el(
      "button",
      {
        type: "button",
        title,
        "data-sort": id,
        onclick: () => changeParams({ sort: next === initial ? null : next }),
      },
      text,
    );
    return el(
      "th",
      {
        scope: "col",
        class: number ? "number" : null,
        "aria-sort": active ? (down ? "descending" : "ascending") : null,
      },
      button,
    );
  });
}

/**
 * Replaces what a box holds; a sort button that was pressed is drawn anew, and the keyboard
 * focus stays where it was.
 * @param {HTMLElement} box
 * @param {(Node | string)[]} parts
 */
export function replaceKeepingFocus(box, parts) {
  const focused = document.activeElement;
  const id = focused instanceof HTMLElement ? focused.dataset.sort : undefined;
  const alike = () =>
    /** @type {HTMLElement[]} */ ([...box.querySelectorAll(`[data-sort="${id}"]`)]);
  const nth = id === undefined ? -1 : alike().findIndex((button) => button === focused);
  box.replaceChildren(...parts);
  if (nth >= 0) alike()[nth]?.focus();
}

/**
 * Sorts rows by a value of each, numbers or text; unknown numbers are always last.
 * @template T
 * @param {T[]} rows
 * @param {(row: T) => number | string} value
 * @param {boolean} down
 * @param {(row: T) => number} tie
 */
export function sortedBy(rows, value, down, tie) {
  const sign = down ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (typeof x === "string" || typeof y === "string")
      return sign * String(x).localeCompare(String(y), "en", { numeric: true }) || tie(a) - tie(b);
    if (Number.isNaN(x) || Number.isNaN(y))
      return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
    return sign * (x - y) || tie(a) - tie(b);
  });
}

/** Rows of a table that are drawn at once: more make a browser, and a reader, wait. */
export const ROWS_AT_ONCE = 200;

/**
 * What offers the rows after the first page, if there are any.
 * @template T
 * @param {HTMLTableSectionElement} body
 * @param {T[]} rows
 * @param {(row: T) => HTMLElement} draw
 */
export function moreButton(body, rows, draw) {
  const others = rows.length - ROWS_AT_ONCE;
  if (others <= 0) return null;
  const button = el(
    "button",
    { type: "button", class: "button" },
    `Show the other ${formatCount(others)}`,
  );
  button.addEventListener("click", () => {
    body.append(...rows.slice(ROWS_AT_ONCE).map(draw));
    announce(`${formatCount(rows.length)} rows.`);
    body.rows[ROWS_AT_ONCE]?.querySelector("a")?.focus();
    button.remove();
  });
  return el("div", { class: "actions" }, button);
}

/**
 * A box that scrolls sideways by itself, by keyboard too, so that the page never does.
 * @param {string} label
 * @param {Child[]} children
 */
export const scrollBox = (label, ...children) =>
  el("div", { class: "scroll", role: "region", "aria-label": label, tabindex: "0" }, ...children);
