// Tables: declared as columns, a page of rows at a time. What a table shows is also what a reader can
// save of it.

import { formatCount } from "../text/format.js";
import { announce, button, el } from "./elements.js";

/**
 * A column.
 * @template T
 * @param {string} text
 * @param {Column<T>["value"]} value
 * @param {Partial<Column<T>>} [how]
 * @returns {Column<T>}
 */
export const columnOf = (text, value, how) => ({ text, value, ...how });

/** Rows that are drawn at once: more make a browser, and a reader, wait. */
const ROWS_AT_ONCE = 200;

/**
 * A table, and a button for the rows beyond the first page; nothing without rows.
 * @template T
 * @param {string} caption
 * @param {Column<T>[]} columns the first one names the row
 * @param {T[]} rows
 * @param {object} [how]
 * @param {string} [how.className]
 * @param {number} [how.first] rows that are drawn at once
 * @param {(row: T) => string} [how.groupOf] rows of one group stand below its name
 */
export function drawTable(caption, columns, rows, how = {}) {
  if (!rows.length) return null;
  const { className = "list", first = ROWS_AT_ONCE, groupOf = () => "" } = how;
  const shown = columns.filter(({ hidden }) => !hidden);
  /** @param {Column<T>} column @param {number} i @param {T} row */
  const drawCell = ({ value, draw = value, look }, i, row) =>
    i === 0 ? el("th", { scope: "row" }, draw(row)) : el("td", { class: look }, draw(row));
  const wide = { scope: "rowgroup", colspan: shown.length };
  let group = "";
  /** @param {T} row */
  function drawRow(row) {
    const drawn = [el("tr", {}, ...shown.map((column, i) => drawCell(column, i, row)))];
    if (groupOf(row) === group) return drawn;
    group = groupOf(row);
    return [el("tr", { class: "family" }, el("th", wide, group)), ...drawn];
  }
  const heads = shown.map(({ text, key, look }) =>
    el("th", { scope: "col", class: look }, key, text),
  );
  const body = el("tbody", {}, rows.slice(0, first).flatMap(drawRow));
  const others = rows.slice(first);
  const more = button(`Show the other ${formatCount(others.length)}`, {
    onclick: () => {
      const firstAdded = body.rows.length;
      body.append(...others.flatMap(drawRow));
      announce(`${formatCount(rows.length)} rows.`);
      body.rows[firstAdded]?.querySelector("a")?.focus();
      more.remove();
    },
  });
  return el(
    "div",
    {},
    tableBox(caption, className, el("thead", {}, el("tr", {}, heads)), body),
    others.length ? el("p", {}, more) : null,
  );
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
