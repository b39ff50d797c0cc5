// Tables: declared as columns, sorted by their headings, a page of rows at a time. What a table
// shows is also what a reader can save of it.

import { changeParams, firstParam } from "../address.js";
import { formatCount } from "../text/format.js";
import { announce, button, el } from "./elements.js";

/**
 * A column; addresses that sort by it have its text in small letters.
 * @template T
 * @param {string} text
 * @param {Column<T>["value"]} value
 * @param {Partial<Column<T>>} [how]
 * @returns {Column<T>}
 */
export const columnOf = (text, value, how) => ({ id: text.toLowerCase(), text, value, ...how });

/** Rows that are drawn at once: more make a browser, and a reader, wait. */
const ROWS_AT_ONCE = 200;

/**
 * A table, and a button for the rows beyond the first page.
 * @template T
 * @param {string} caption
 * @param {Column<T>[]} columns the first one names the row
 * @param {T[]} rows
 * @param {object} [how]
 * @param {State} [how.state] the headings sort by its parameter `sort`; without it they do not
 * @param {string} [how.className]
 * @param {number} [how.first] rows that are drawn at once
 * @param {(row: T) => string} [how.groupOf] rows of one group stand below its heading
 * @param {(group: string) => Child} [how.headingOf]
 */
export function drawTable(caption, columns, rows, how = {}) {
  const { state, className = "list", first = ROWS_AT_ONCE, groupOf = () => "", headingOf } = how;
  const order = state ? firstParam(state, "sort") : "";
  const sorted = sortedRows(columns, rows, order);
  const shown = columns.filter(({ hidden }) => !hidden);
  /** @param {Column<T>} column @param {number} i @param {T} row */
  const drawCell = ({ value, draw = value, number, wrap }, i, row) =>
    i === 0
      ? el("th", { scope: "row" }, draw(row))
      : el("td", { class: number ? "number" : wrap ? "text" : null }, draw(row));
  const wide = { scope: "rowgroup", colspan: shown.length };
  let group = "";
  /** @param {T} row */
  function drawRow(row) {
    const drawn = [el("tr", {}, ...shown.map((column, i) => drawCell(column, i, row)))];
    if (groupOf(row) === group) return drawn;
    group = groupOf(row);
    return [el("tr", { class: "family" }, el("th", wide, headingOf?.(group))), ...drawn];
  }
  const body = el("tbody", {}, sorted.slice(0, first).flatMap(drawRow));
  const heads = shown.map((column) => heading(column, order, Boolean(state)));
  return el(
    "div",
    {},
    tableBox(caption, className, el("thead", {}, el("tr", {}, heads)), body),
    moreButton(body, sorted.slice(first), drawRow, rows.length),
  );
}

/**
 * The rows in the order that a heading asks for: a column's id, with a minus for descending.
 * @template T
 * @param {Column<T>[]} columns
 * @param {T[]} rows
 * @param {string} order
 */
export function sortedRows(columns, rows, order) {
  const column = columns.find(({ id }) => id === order.replace(/^-/, ""));
  if (!column) return rows;
  const sign = order.startsWith("-") ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [column.value(a), column.value(b)];
    if (typeof x === "string" || typeof y === "string")
      return sign * String(x ?? "").localeCompare(String(y ?? ""), "en", { numeric: true });
    const [known, other] = [Number.isFinite(x), Number.isFinite(y)];
    return known && other ? sign * (Number(x) - Number(y)) : Number(other) - Number(known);
  });
}

/**
 * The plain values of a table.
 * @template T
 * @param {Column<T>[]} columns
 * @param {T[]} rows
 * @returns {Sheet}
 */
export const sheetOf = (columns, rows) => ({
  head: columns.map(({ text }) => text),
  rows: rows.map((row) => columns.map(({ value }) => value(row))),
});

/**
 * @template T
 * @param {Column<T>} column
 * @param {string} order
 * @param {boolean} sortable
 */
function heading({ id, text, number, key, axis }, order, sortable) {
  const attributes = { scope: "col", class: number ? "number" : null };
  if (!sortable) return el("th", attributes, key, text, axis);
  const active = order.replace(/^-/, "") === id;
  const next = active === order.startsWith("-") ? id : `-${id}`;
  const sort = active ? (order.startsWith("-") ? "descending" : "ascending") : null;
  const sorts = button(text, {
    class: null,
    "data-sort": id,
    onclick: () => {
      changeParams({ sort: next });
      const again = /** @type {HTMLElement | null} */ (
        document.querySelector(`section:not([hidden]) [data-sort="${id}"]`)
      );
      again?.focus(); // the table was drawn anew
    },
  });
  return el("th", { ...attributes, "aria-sort": sort }, sorts, axis);
}

/**
 * @template T
 * @param {HTMLTableSectionElement} body
 * @param {T[]} others
 * @param {(row: T) => HTMLElement[]} draw
 * @param {number} count of all rows
 */
function moreButton(body, others, draw, count) {
  if (!others.length) return null;
  const text = `Show the other ${formatCount(others.length)}`;
  const more = button(text, {
    onclick: () => {
      const firstAdded = body.rows.length;
      body.append(...others.flatMap(draw));
      announce(`${formatCount(count)} rows.`);
      body.rows[firstAdded]?.querySelector("a")?.focus();
      more.remove();
    },
  });
  return el("p", {}, more);
}

/**
 * A table of names and values; what is empty has no row.
 * @param {string} caption
 * @param {[string, Child][]} rows
 */
export function factsTable(caption, rows) {
  const drawn = rows.map(([name, value]) =>
    value ? el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value)) : null,
  );
  return tableBox(caption, "facts", el("tbody", {}, drawn));
}

/**
 * A table in a box that scrolls sideways by itself, by keyboard too, so that the page never does.
 * @param {string} caption
 * @param {string} className
 * @param {Child[]} parts
 */
function tableBox(caption, className, ...parts) {
  const title = el("caption", { class: "visually-hidden" }, caption);
  const box = { class: "scroll", role: "region", "aria-label": caption, tabindex: "0" };
  return el("div", box, el("table", { class: className }, title, ...parts));
}
