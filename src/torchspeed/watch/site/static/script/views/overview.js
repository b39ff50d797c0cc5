// Overview: every model by device and pass. The page arrives with the first matrix drawn;
// this draws it again for another metric, machine or environment.

import { addressOf, firstParam } from "../address.js";
import { getModel } from "../data/model.js";
import { el } from "../page/elements.js";
import { environmentField, machineField } from "../page/place-fields.js";
import { byColumn, changeSign, keySquare, markClass, outcomeTag } from "../page/signs.js";
import { sparkline } from "../page/sparkline.js";
import { scrollBox } from "../page/tables.js";
import { formatValue, plural } from "../text/format.js";

/** @import { State } from "../address.js" */
/** @import { Case } from "../data/cases.js" */
/** @import { Series } from "../data/model.js" */
/** @import { View } from "./view.js" */

/** @typedef {{ what: Case, cells: Map<string, Series> }} Row */

/** Whether the last change of a series is still news. @param {Series} series */
function isNews({ change }) {
  const { newest, news } = getModel();
  return change !== null && newest - change.c < news;
}

/** The state of a series beside its value. @param {Series} series */
function stateOf(series) {
  const { status, change, reason, behind } = series;
  const model = getModel();
  if (status === "stale")
    return outcomeTag(status, `${behind} behind`, `last measured ${behind} commits ago`);
  if (status !== "ok") return outcomeTag(status, status, reason);
  if (!change) {
    const count = series.spark.filter((value) => value !== null).length;
    const { confirmed } = model.rules;
    const word = count < 2 ? "first value" : count < confirmed ? plural(count, "value") : "steady";
    const title =
      word === "steady"
        ? "no change point was found"
        : `confirming a change takes ${confirmed} values`;
    return el("span", { class: "change steady", title }, word);
  }
  const sign = changeSign(change.ratio, isNews(series) ? change.verdict : "same");
  sign.title = `since ${model.commitLine(change.c)}`;
  if (!isNews(series)) sign.classList.add("old");
  return sign;
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
        href: addressOf("timeline", { s: series.key, m: machine.name, e: environment.id }),
        // In a list of links, as screen readers offer it, a number alone would say nothing.
        "aria-label": `${value} ${state.textContent}, ${what.title}`,
      },
      el("span", { class: "value" }, value),
      state,
      sparkline(series.spark, isNews(series) ? series.change?.verdict : ""),
    ),
  );
}

/**
 * Sorts series into rows and columns. A column that this machine skips from top to bottom is a
 * sentence, not a column.
 * @param {Series[]} chosen
 */
function arrange(chosen) {
  /** @type {Map<string, { name: string, device: string, pass: string }>} */
  const columns = new Map();
  /** @type {Map<string, Map<string, Row>>} */
  const groups = new Map();
  /** @type {Map<string, string>} */
  const skipped = new Map();
  const live = new Set(
    chosen.flatMap((series) =>
      series.last || !["skipped", "never run"].includes(series.status) ? [series.case.column] : [],
    ),
  );
  for (const series of chosen) {
    const { case: what } = series;
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
  return { columns: [...columns.values()].sort(byColumn), groups, skipped };
}

/**
 * @param {number} metricAt
 * @param {number} m
 * @param {number} e
 */
function drawMatrix(metricAt, m, e) {
  const { series, index } = getModel();
  const chosen = series
    .filter((one) => one.m === m && one.e === e && one.case.metricAt === metricAt)
    .sort((a, b) => a.case.order - b.case.order);
  const { columns, groups, skipped } = arrange(chosen);
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
    { class: "matrix" },
    el(
      "caption",
      { class: "visually-hidden" },
      `Newest ${label} of every model, with its last change`,
    ),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Model"), heads)),
    [...groups].map(([group, rows]) =>
      el("tbody", {}, groups.size > 1 ? family(group) : null, [...rows.values()].map(drawRow)),
    ),
  );
  return { table, skipped };
}

/**
 * A link for each metric.
 * @param {State} state
 * @param {number} metricAt
 */
function metricTabs(state, metricAt) {
  const { index, measuredMetrics } = getModel();
  return index.metrics.flatMap((metric, i) => {
    if (!measuredMetrics.has(i) && i !== metricAt) return [];
    const href = addressOf("overview", { ...state.params, metric: i === 0 ? null : metric.id });
    return [el("a", { href, "aria-current": i === metricAt ? "true" : null }, metric.label)];
  });
}

/** @type {View} */
export const overviewView = {
  title: "Overview",
  mount(section) {
    const box = section.querySelector("#overview-matrix");
    if (!box) return () => {};
    const tabs = el("nav", { class: "tabs", "aria-label": "Metric" });
    const machine = machineField();
    const environment = environmentField();
    const note = el("p", { class: "note" });
    const matrix = scrollBox("Newest values");
    const fields = el("div", { class: "fields" }, machine.node, environment.node);
    box.replaceChildren(el("div", { class: "matrix-bar" }, tabs, fields), matrix, note);
    return (state) => {
      const model = getModel();
      const { metrics } = model.index;
      machine.show(state);
      environment.show(state);
      const wanted = firstParam(state, "metric", metrics[0]?.id);
      const found = metrics.findIndex((metric) => metric.id === wanted);
      const metricAt = Math.max(0, found);
      const m = model.machineAt(firstParam(state, "m", model.defaultMachine));
      const e = model.environmentAt(firstParam(state, "e", model.defaultEnvironment));
      tabs.replaceChildren(...metricTabs(state, metricAt));
      const { table, skipped } = drawMatrix(metricAt, Math.max(0, m), Math.max(0, e));
      matrix.replaceChildren(table);
      note.replaceChildren(
        `${metrics[metricAt]?.higher_is_better ? "More" : "Less"} is better. Each change is ` +
          `since the last change point of the series: coloured for ${model.news} commits, grey ` +
          "after. Choose a value to see its history.",
        ...[...skipped].map(([column, text]) => ` Not shown: ${column}, skipped here (${text}).`),
      );
    };
  },
};
