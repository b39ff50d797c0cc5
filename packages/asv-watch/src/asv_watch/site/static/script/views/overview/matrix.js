// The table of the newest values.

import { getModel, isComparable } from "../../data/model.js";
import { el, notice } from "../../page/elements.js";
import {
  casePage,
  changeSign,
  keySquare,
  nothing,
  outcomeTag,
  signsHelp,
} from "../../page/signs.js";
import { ofGroup } from "../../page/fields.js";
import { drawTable, sheetOf } from "../../page/tables.js";
import { capital } from "../../text/format.js";
import { columnsElsewhere, matrixColumns, rowsOfCases } from "./rows.js";

/** Rows that are drawn at once: the rest follows at a click. */
const ROWS_AT_ONCE = 60;

/** What stands beside a value. @param {Series} series */
function stateOf(series) {
  const { status, change, reason, last } = series;
  if (!["ok", "stale"].includes(status)) return outcomeTag(status, status, reason);
  const current = change && last && isComparable(series, change.c, last.c) ? change : null;
  return current ? changeSign(current) : null;
}

/** @param {Series | undefined} series */
function drawCell(series) {
  if (!series) return nothing();
  const state = stateOf(series);
  const { case: what, last, change } = series;
  const value = last?.text ?? "–";
  const tip = [
    [what.title, what.line.group].filter(Boolean).join(", "),
    value,
    change ? `${change.state} change ${change.text} since ${getModel().commitLine(change.c)}` : "",
  ];
  return el(
    "a",
    {
      class: `cell ${what.field.look}`,
      href: casePage(series),
      // In a list of links, as screen readers offer it, a number alone would say nothing.
      "aria-label": `${value} ${state?.textContent ?? ""}, ${what.title}`,
      "data-tip": tip.filter(Boolean).join("\n"),
    },
    el("span", { class: "value" }, value),
    state,
  );
}

/** Whether there is anything to show of a series besides that it exists. @param {Series} series */
const hasRun = ({ last, status }) => last !== null || !["skipped", "never run"].includes(status);

/**
 * The table of a setup, and what a reader can save of it.
 * @param {Setup} setup
 * @param {string} group heading of a suite, empty for the main ones, * for all
 */
export function drawMatrix(setup, group) {
  const { seriesAt, subject } = getModel();
  const own = ofGroup(seriesAt(setup).filter(hasRun), group, (series) => series.case);
  const elsewhere = columnsElsewhere(setup, own);
  const machineOf = new Map(elsewhere.map(({ case: { field }, machine }) => [field, machine]));
  const live = own.filter(({ case: { field } }) => !machineOf.has(field));
  const table = rowsOfCases([...live, ...elsewhere]);
  const { rows } = table;
  const { label } = setup.metric;
  const columns = matrixColumns(table, setup.metric, (column) => {
    const where = machineOf.get(column);
    return {
      text: `${column.name || capital(label)}${where ? ` on ${where.name}` : ""}`,
      key: keySquare(column.look),
      draw: ({ cells }) => drawCell(cells.get(column)),
    };
  });
  const drawn = drawTable(`Newest ${label} of every ${subject}`, columns, rows, {
    className: "matrix",
    first: ROWS_AT_ONCE,
    groupOf: ({ line }) => line.group,
    headingOf: (of) => headingOf(rows, of),
  });
  const parts = [drawn, signsHelp()];
  const none = notice(`No ${label} is measured here: choose another machine.`);
  return { parts: rows.length ? parts : [none], sheet: () => sheetOf(columns, rows) };
}

/** The heading of a suite, without its modules where it has one row. @param {Row[]} rows @param {string} group */
function headingOf(rows, group) {
  const groupRows = rows.filter(({ line }) => line.group === group);
  return groupRows.length > 1 ? group : (group.split(" · ").at(-1) ?? group);
}
