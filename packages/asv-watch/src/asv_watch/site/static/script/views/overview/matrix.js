// The table of the newest values.

import { getModel, isComparable } from "../../data/model.js";
import { el, muted, notice } from "../../page/elements.js";
import {
  casePage,
  changeSign,
  hasCourse,
  keySquare,
  nothing,
  outcomeTag,
  signsHelp,
  smallHistory,
  versionMarks,
} from "../../page/signs.js";
import { ofGroup } from "../../page/fields.js";
import { columnOf, drawTable, sheetOf } from "../../page/tables.js";
import { capital, formatChange, plural } from "../../text/format.js";
import { columnsElsewhere, matrixColumns, rowsOfCases } from "./rows.js";

/** Rows that are drawn at once: the rest follows at a click. */
const ROWS_AT_ONCE = 60;

/**
 * A machine and environment that measured one commit so far, the newest: it stands beside the
 * longest history.
 * @param {Setup} setup
 */
export function firstRun(setup) {
  const { newest_runs: runs } = getModel().index;
  const newest = Math.max(...runs.map(({ c }) => c));
  const here = runs.find(({ m, e }) => m === setup.m && e === setup.e);
  const first = runs.find(({ commits, c }) => commits === 1 && c === newest);
  return first && here && here.commits > 1 ? first : null;
}

/** What stands beside a value. @param {Series} series */
function stateOf(series) {
  const { status, change, reason, last } = series;
  if (!["ok", "stale"].includes(status)) return outcomeTag(status, status, reason);
  const current = change && last && isComparable(series, change.c, last.c) ? change : null;
  return current ? changeSign(current) : null;
}

/** A value of a first run, and how it differs. @param {Series | undefined} series @param {Series | undefined} longest */
function drawFirst(series, longest) {
  if (!series?.last) return nothing();
  const ratio = longest?.last ? series.last.v / longest.last.v : NaN;
  return el(
    "a",
    { class: "cell", href: casePage(series) },
    el("span", { class: "value" }, series.last.text),
    longest?.last
      ? el("span", { class: "change" }, formatChange(ratio, series.metric.kind))
      : null,
  );
}

/** @param {Series | undefined} series @param {Series[]} row */
function drawCell(series, row) {
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
    hasCourse(series) ? smallHistory(series, row) : null,
    state,
  );
}

/** Whether there is anything to show of a series besides that it exists. @param {Series} series */
const hasRun = ({ last, status }) => last !== null || !["skipped", "never run"].includes(status);

/** The columns of a first run, beside those of the longest history. @param {Table} table @param {NewestRun} beside @param {Setup} setup */
function besideColumns({ columns }, beside, { m, metric }) {
  const { machines, environments } = getModel().index;
  const where = beside.m === m ? environments[beside.e]?.short : machines[beside.m]?.name;
  return columns.map((column) => {
    /** @param {Row} row */
    const seriesIn = ({ cells }) => {
      const here = cells.get(column);
      return here && getModel().find(here.case, beside);
    };
    const text = `${column.name || capital(metric.label)} on ${where}`;
    return columnOf(text, (/** @type {Row} */ row) => seriesIn(row)?.last?.v, {
      draw: (row) => drawFirst(seriesIn(row), row.cells.get(column)),
    });
  });
}

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
  const beside = firstRun(setup);
  const columns = [
    ...matrixColumns(table, setup.metric, (column) => {
      const where = machineOf.get(column);
      return {
        text: `${column.name || capital(label)}${where ? ` on ${where.name}` : ""}`,
        key: keySquare(column.look),
        draw: ({ cells }) => drawCell(cells.get(column), [...cells.values()]),
      };
    }),
    ...(beside ? besideColumns(table, beside, setup) : []),
  ];
  const drawn = drawTable(`Newest ${label} of every ${subject}`, columns, rows, {
    className: "matrix",
    first: ROWS_AT_ONCE,
    groupOf: ({ line }) => line.group,
    headingOf: (of) => [headingOf(rows, of), behindOf(rows, of)],
  });
  const parts = [drawn, el("p", { class: "note" }, noteText(setup).trim()), signsHelp()];
  const none = notice(`No ${label} is measured here: choose another machine.`);
  return { parts: rows.length ? parts : [none], sheet: () => sheetOf(columns, rows) };
}

/** The heading of a suite, without its modules where it has one row. @param {Row[]} rows @param {string} group */
function headingOf(rows, group) {
  const groupRows = rows.filter(({ line }) => line.group === group);
  return groupRows.length > 1 ? group : (group.split(" · ").at(-1) ?? group);
}

/** How many newer commits did not measure a group's cases. @param {Row[]} rows @param {string} group */
function behindOf(rows, group) {
  const cells = rows
    .filter(({ line }) => line.group === group)
    .flatMap((row) => [...row.cells.values()]);
  const stale = cells.filter(({ status }) => status === "stale");
  if (!stale.length) return null;
  const most = Math.max(...stale.map(({ behind }) => behind));
  const all = stale.length === cells.length ? "all" : `${stale.length} of ${cells.length}`;
  const when = `up to ${plural(most, "commit")} ago`;
  return muted(` · ${all} last measured ${when}`);
}

/** What the small lines show. @param {Setup} setup */
function noteText(setup) {
  if ((getModel().commitsAt(setup)?.commits ?? 0) < 2) return "";
  const names = versionMarks(setup).map(([, name]) => name);
  const versions =
    names.length > 1
      ? `Short upright lines: versions ${names[0]} to ${names.at(-1)}.`
      : names.map((name) => `Short upright line: version ${name}.`).join("");
  return `A line moves only where a comparison measured a change; dots are separate runs. ${versions}`;
}
