// Rows of the table of values: of each model or benchmark, with a column for each device and pass;
// or of each model on a device in a pass, with a column for each implementation.

import { getModel } from "../../data/model.js";

/**
 * @typedef {{ name: string, look: string }} MatrixColumn
 * @typedef {{ line: Omit<CaseRow, "hue">, cells: Map<MatrixColumn, Series> }} Row
 * @typedef {{ rows: Row[], columns: MatrixColumn[] }} Table
 */

/**
 * @template {string | number} K
 * @param {Series[]} chosen
 * @param {(series: Series) => { row: K, line: Row["line"], column: MatrixColumn }} placeOf
 * @returns {Row[]}
 */
function rowsOf(chosen, placeOf) {
  /** @type {Map<K, Row>} */
  const rows = new Map();
  for (const series of chosen) {
    const { row, line, column } = placeOf(series);
    const of = rows.get(row) ?? { line, cells: new Map() };
    rows.set(row, of);
    if (!of.cells.has(column)) of.cells.set(column, series);
  }
  return [...rows.values()];
}

/** A row for each model or benchmark. @param {Series[]} chosen @returns {Table} */
export function rowsOfCases(chosen) {
  const rows = rowsOf(chosen, ({ case: { row, line, field } }) => ({ row, line, column: field }));
  const used = new Set(rows.flatMap(({ cells }) => [...cells.keys()]));
  return { rows, columns: getModel().index.columns.filter((column) => used.has(column)) };
}

/** A row for each model that has several implementations. @param {Series[]} measured @returns {Table} */
export function rowsOfImplementations(measured) {
  /** @type {Map<string, MatrixColumn>} */
  const columns = new Map();
  const known = measured.filter(({ last, case: { labels } }) => last && labels.implementation);
  const rows = rowsOf(known, ({ case: { labels, line, field } }) => {
    const { implementation: name = "", mode = "", batch } = labels;
    const column = columns.get(name) ?? { name, look: "pass-none" };
    columns.set(name, column);
    const settings = line.details
      .split(", ")
      .filter((text) => text && ![mode, "plain"].includes(text));
    const details = [...settings, field.name].join(" · ");
    const row = JSON.stringify([line.name, batch, details]);
    return { row, line: { name: line.name, details, group: "" }, column };
  }).filter(({ cells }) => cells.size > 1);
  const sorted = [...columns.values()].sort((a, b) => a.name.localeCompare(b.name));
  return { rows, columns: sorted };
}

/** Whether a model was measured in several implementations here. @param {Place} place */
export const hasImplementations = (place) =>
  rowsOfImplementations(getModel().seriesAt(place)).rows.length > 0;

/** @param {Table} table @param {Metric} metric @returns {Sheet} */
export function matrixSheet({ rows, columns }, metric) {
  const unit = metric.unit ? ` (${metric.unit})` : "";
  return {
    head: ["suite", "name", "settings", ...columns.map(({ name }) => `${name}${unit}`)],
    rows: rows.map(({ line, cells }) => [
      line.group,
      line.name,
      line.details,
      ...columns.map((column) => cells.get(column)?.last?.v),
    ]),
  };
}
