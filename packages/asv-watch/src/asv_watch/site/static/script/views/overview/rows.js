// Rows of the table of values, as the layout of the project has them.

import { getModel } from "../../data/model.js";
import { el, muted } from "../../page/elements.js";
import { columnOf } from "../../page/tables.js";
import { capital } from "../../text/format.js";

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
  const { series, fullest } = getModel();
  const used = new Set(here.filter(({ last }) => last).map((one) => one.case.field));
  const rows = new Set(here.map((one) => one.case.row));
  return fullest(
    series.filter(
      (one) =>
        one.last &&
        one.metric === setup.metric &&
        rows.has(one.case.row) &&
        !used.has(one.case.field),
    ),
  );
}

/**
 * The columns of the table, all of which are saved.
 * @param {Table} table
 * @param {Metric} metric
 * @param {(column: CaseColumn) => Partial<Column<Row>>} [shownOf] how a column of values is shown
 * @returns {Column<Row>[]}
 */
export const matrixColumns = ({ columns }, { label, unit }, shownOf = () => ({})) => [
  columnOf(capital(getModel().subject), ({ line }) => line.name, {
    draw: ({ line }) => [
      el("span", {}, line.name),
      line.details ? muted(` ${line.details}`) : null,
    ],
  }),
  columnOf("Settings", ({ line }) => line.details, { hidden: true }),
  columnOf("Suite", ({ line }) => line.group, { hidden: true }),
  columnOf("Unit", () => unit, { hidden: true }),
  ...columns.map((column) =>
    columnOf(
      column.name || capital(label),
      (/** @type {Row} */ { cells }) => cells.get(column)?.last?.v,
      shownOf(column),
    ),
  ),
];
