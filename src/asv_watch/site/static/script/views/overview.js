// Overview: every model by device and pass, or every benchmark. The page arrives with the first matrix drawn;
// this draws it again for another metric, machine or environment.

import { addressOf, firstParam } from "../address.js";
import { getModel } from "../data/model.js";
import { el } from "../page/elements.js";
import { selectField } from "../page/fields.js";
import { environmentField, machineField } from "../page/place-fields.js";
import { byColumn, foundChange, isNews, keySquare, markClass, outcomeTag } from "../page/signs.js";
import { hasCourse, sparkline } from "../page/sparkline.js";
import { scrollBox } from "../page/tables.js";
import { capital, formatValue, plural } from "../text/format.js";

/** @import { Case } from "../data/cases.js" */
/** @import { Series } from "../data/model.js" */
/** @import { View } from "./view.js" */

/** @typedef {{ what: Case, cells: Map<string, Series> }} Row */

/** The state of a series beside its value. @param {Series} series */
function stateOf(series) {
  const { status, change, reason, behind } = series;
  if (status === "stale")
    return outcomeTag(status, `${behind} behind`, `last measured ${behind} commits ago`);
  if (status !== "ok") return outcomeTag(status, status, reason);
  if (change) return foundChange(change);
  const count = series.spark.filter((value) => value !== null).length;
  const [word, title] =
    count < 2
      ? ["first value", "there is nothing to compare it with"]
      : series.noise === null
        ? [plural(count, "value"), "too few runs to know their noise"]
        : ["no change", "no value is beyond the noise"];
  return el("span", { class: "change steady", title }, word);
}

/** The verdict that colours a sparkline. @param {Series} series */
const freshVerdict = ({ change }) =>
  change && change.state === "measured" && isNews(change) ? change.verdict : "";

/** The scale of a sparkline: the largest and the least of its values. @param {Series} series */
function rangeOf({ spark, cuts, metric }) {
  const known = spark.filter((value) => value !== null);
  if (!hasCourse(spark, cuts)) return el("span", { class: "range" });
  const ends = [Math.max(...known), Math.min(...known)];
  return el(
    "span",
    { class: "range", title: `largest and least of the newest ${known.length} values` },
    ends.map((end) => el("span", {}, formatValue(end, metric.unit))),
  );
}

/** @param {Series | undefined} series */
function drawCell(series) {
  if (!series)
    return el("td", { class: "none" }, el("span", { class: "muted", title: "no such case" }, "–"));
  const { case: what, machine, environment, metric } = series;
  const value = formatValue(series.last?.v, metric.unit);
  const state = stateOf(series);
  return el(
    "td",
    {},
    el(
      "a",
      {
        class: `cell ${markClass(what.device, what.pass)}`,
        href: addressOf("case", { s: series.key, m: machine.name, e: environment.id }),
        // In a list of links, as screen readers offer it, a number alone would say nothing.
        "aria-label": `${value} ${state.textContent}, ${what.title}`,
      },
      el("span", { class: "value" }, value),
      sparkline(series.spark, series.cuts, freshVerdict(series)),
      rangeOf(series),
      state,
    ),
  );
}

/** Whether there is anything to show of a series besides that it exists. @param {Series} series */
const hasRun = ({ last, status }) => last !== null || !["skipped", "never run"].includes(status);

/**
 * Sorts series into rows and columns. A column that this machine skips from top to bottom is a
 * sentence, not a column; rows of which nothing was measured are counted.
 * @param {Series[]} chosen
 */
function arrange(chosen) {
  /** @type {Map<string, { name: string, device: string, pass: string }>} */
  const columns = new Map();
  /** @type {Map<string, Map<string, Row>>} */
  const groups = new Map();
  /** @type {Map<string, string>} */
  const skipped = new Map();
  const live = new Set(chosen.flatMap((series) => (hasRun(series) ? [series.case.column] : [])));
  const run = new Set(chosen.flatMap((member) => (hasRun(member) ? [member.case.rowId] : [])));
  const neverRun = new Set(chosen.map((member) => member.case.rowId)).size - run.size;
  for (const series of chosen) {
    const { case: what } = series;
    if (run.size && !run.has(what.rowId)) continue;
    const { column: name, device, pass, group, rowId } = what;
    if (live.size && !live.has(name)) {
      if (!skipped.get(name)) skipped.set(name, series.reason || series.status);
      continue;
    }
    columns.set(name, { name, device, pass });
    const rows = groups.get(group) ?? new Map();
    groups.set(group, rows);
    const row = rows.get(rowId) ?? { what, cells: new Map() };
    rows.set(rowId, row);
    row.cells.set(name, series);
  }
  return { columns: [...columns.values()].sort(byColumn), groups, skipped, neverRun };
}

/**
 * @param {number} metricAt
 * @param {number} m
 * @param {number} e
 */
function drawMatrix(metricAt, m, e) {
  const { series, index } = getModel();
  const chosen = series
    .filter((member) => member.m === m && member.e === e && member.case.metricAt === metricAt)
    .sort((a, b) => a.case.order - b.case.order);
  const { columns, groups, skipped, neverRun } = arrange(chosen);
  const heads = columns.map(({ name, device, pass }) =>
    el("th", { scope: "col" }, keySquare(device, pass), name),
  );
  /** @param {string} group */
  const family = (group) =>
    el(
      "tr",
      { class: "family" },
      el("th", { scope: "rowgroup", colspan: columns.length + 1 }, group),
    );
  /** @param {Row} row */
  const drawRow = ({ what, cells }) =>
    el(
      "tr",
      {},
      el(
        "th",
        { scope: "row" },
        el("span", { class: "model" }, what.model),
        what.details ? el("span", { class: "muted" }, " " + what.details) : null,
      ),
      columns.map((column) => drawCell(cells.get(column.name))),
    );
  const label = index.metrics[metricAt]?.label;
  const table = el(
    "table",
    { class: columns.length < 3 ? "matrix few" : "matrix" },
    el(
      "caption",
      { class: "visually-hidden" },
      `Newest ${label} of every ${index.layout.subject}, with its last change`,
    ),
    el(
      "thead",
      {},
      el("tr", {}, el("th", { scope: "col" }, capital(index.layout.subject)), heads),
    ),
    [...groups].map(([group, rows]) =>
      el("tbody", {}, groups.size > 1 ? family(group) : null, [...rows.values()].map(drawRow)),
    ),
  );
  return { table, skipped, neverRun };
}

/** A list of the metrics that were measured, as there may be dozens. */
const metricField = () =>
  selectField("metric", "Metric", {
    options: () => {
      const { index, measuredMetrics } = getModel();
      return index.metrics.flatMap(({ id, label }, i) =>
        measuredMetrics.has(i) ? [{ value: id, label }] : [],
      );
    },
    initial: () => getModel().index.metrics[0]?.id ?? "",
  });

/** @type {View} */
export const overviewView = {
  title: "Overview",
  mount(section) {
    const box = section.querySelector("#overview-matrix");
    if (!box) return () => {};
    const metric = metricField();
    const machine = machineField();
    const environment = environmentField();
    const note = el("p", { class: "note" });
    const matrix = scrollBox("Newest values");
    const fields = el("div", { class: "fields" }, metric.node, machine.node, environment.node);
    box.replaceChildren(el("div", { class: "matrix-bar" }, fields), matrix, note);
    return (state) => {
      const model = getModel();
      const { metrics } = model.index;
      metric.show(state);
      machine.show(state);
      environment.show(state);
      const wanted = firstParam(state, "metric", metrics[0]?.id);
      const wantedAt = metrics.findIndex(({ id }) => id === wanted);
      const metricAt = Math.max(0, wantedAt);
      const m = model.machineAt(firstParam(state, "m", model.defaultMachine));
      const e = model.environmentAt(firstParam(state, "e", model.defaultEnvironment));
      const { table, skipped, neverRun } = drawMatrix(metricAt, Math.max(0, m), Math.max(0, e));
      matrix.replaceChildren(table);
      note.replaceChildren(
        `${metrics[metricAt]?.higher_is_better ? "More" : "Less"} is better. The change beside ` +
          `a value is the newest one found: coloured for ${model.news} commits, grey after. ` +
          "Choose a value to see everything about its case.",
        neverRun ? ` Not shown: ${plural(neverRun, "row")} without any value here.` : "",
        ...[...skipped].map(([column, text]) => ` Not shown: ${column}, skipped here (${text}).`),
      );
    };
  },
};
