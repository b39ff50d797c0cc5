// Rows of the table of values, as the layout of the project has them.

import { getModel } from "../../data/model.js";

/**
 * @typedef {{ line: CaseRow, cells: Map<CaseColumn, Series> }} Row
 * @typedef {{ rows: Row[], columns: CaseColumn[] }} Table
 */

/** @param {Series[]} chosen @returns {Table} */
export function rowsOfCases(chosen) {
  /** @type {Map<number, Row>} */
  const rows = new Map();
  for (const series of chosen) {
    const { row, line, field } = series.case;
    const of = rows.get(row) ?? { line, cells: new Map() };
    rows.set(row, of);
    if (!of.cells.has(field)) of.cells.set(field, series);
  }
  const used = new Set([...rows.values()].flatMap(({ cells }) => [...cells.keys()]));
  const columns = getModel().index.columns.filter((column) => used.has(column));
  return { rows: [...rows.values()], columns };
}

/**
 * Series of columns that nothing was measured of here, from the setup that measured most of them: a
 * GPU stands beside the CPU of another machine. Only rows that are here have them.
 * @param {Setup} setup
 * @param {Series[]} here
 * @returns {Series[]}
 */
export function columnsElsewhere(setup, here) {
  const { series, index } = getModel();
  const used = new Set(here.filter(({ last }) => last).map((one) => one.case.field));
  const rows = new Set(here.map((one) => one.case.row));
  const missing = series.filter(
    (one) =>
      one.last &&
      one.metric === setup.metric &&
      rows.has(one.case.row) &&
      !used.has(one.case.field),
  );
  const setups = index.newest_runs.map(({ m, e }) =>
    missing.filter((one) => one.m === m && one.e === e),
  );
  return setups.reduce((most, one) => (one.length > most.length ? one : most), []);
}

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
