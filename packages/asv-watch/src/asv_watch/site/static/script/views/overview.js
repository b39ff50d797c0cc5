// Overview: the newest values below the tables and charts of the page itself.

import { firstParam, linkTo } from "../address.js";
import { getModel, isComparable } from "../data/model.js";
import { el, fillAnew, muted, notice } from "../page/elements.js";
import { groupField, ofGroup } from "../page/fields.js";
import { casePage, changeSign, commitLink, outcomeTag, signsHelp } from "../page/signs.js";
import { columnOf, drawTable, sheetOf } from "../page/tables.js";
import { capital, formatDay, plural } from "../text/format.js";

/** Rows of the table as the layout of the project has them. @param {Series[]} chosen @returns {Table} */
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
function columnsElsewhere(setup, here) {
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

/** What stands beside a value. @param {Series} series */
function stateOf(series) {
  const { status, change, reason, last } = series;
  if (!["ok", "stale"].includes(status)) return outcomeTag(status, reason);
  const current = change && last && isComparable(series, change.c, last.c) ? change : null;
  return current ? changeSign(current) : null;
}

/** @param {Series | undefined} series */
function drawCell(series) {
  if (!series) return muted("–");
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
function drawMatrix(setup, group) {
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
      key: el("span", { class: `key ${column.look}`, "aria-hidden": "true" }),
      draw: ({ cells }) => drawCell(cells.get(column)),
    };
  });
  const members = Map.groupBy(rows, ({ line }) => line.group);
  const drawn = drawTable(`Newest ${label} of every ${subject}`, columns, rows, {
    className: "matrix",
    first: 60,
    // A suite that has one row is named without its modules.
    groupOf: ({ line: { group: name } }) =>
      (members.get(name)?.length === 1 && name.split(" · ").at(-1)) || name,
  });
  const none = notice(`No ${label} is measured here: choose another machine.`);
  return { parts: drawn ? [drawn, signsHelp()] : none, sheet: () => sheetOf(columns, rows) };
}

/** What was measured last here. @param {Setup} setup */
function lead(setup) {
  const { commits, commitsAt, index } = getModel();
  const run = commitsAt(setup);
  const commit = commits[run?.c ?? -1];
  if (!run || !commit) return [];
  const machine = index.machines[setup.m]?.name;
  const href = linkTo("about", { m: machine, e: index.environments[setup.e]?.id });
  return [
    `${machine} measured `,
    run.commits > 1 ? `${plural(run.commits, "commit")}, the newest ` : "one commit, ",
    commitLink(run.c),
    ` of ${formatDay(commit.date)}: ${commit.subject}. ${plural(run.ran, "case")} ran, `,
    run.failed ? el("a", { href }, `${run.failed} failed`) : "none failed",
    ".",
  ];
}

/** @type {View} */
export const overviewView = {
  title: "Overview",
  setup: ["m", "e", "metric"],
  mount(app) {
    const { index } = getModel();
    const group = groupField();
    const values = el("div", {});
    const note = el("p", { class: "note newest" });
    const title = el("h2", {});
    const fields = el("div", { class: "fields" }, group.node);
    app.replaceChildren(el("div", { class: "head" }, title, fields), note, values);
    return (state) => {
      group.show(state);
      const setup = getModel().setup(state);
      const { parts, sheet } = drawMatrix(setup, firstParam(state, "group"));
      const { label, better } = setup.metric;
      fillAnew(note, lead(setup));
      fillAnew(title, `Newest values: ${label}`, muted(` · ${better} is better`));
      fillAnew(values, parts);
      const machine = index.machines[setup.m]?.name ?? "";
      return { name: "overview", title: `Newest values: ${label}, ${machine}`, sheet };
    };
  },
};
