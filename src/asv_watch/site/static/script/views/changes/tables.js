// The tables of a comparison: its summary, and the series of each metric.

import { addressOf, firstParam } from "../../address.js";
import { getModel } from "../../data/model.js";
import { el } from "../../page/elements.js";
import { changeSign, keySquare, noNumber, otherConditions } from "../../page/signs.js";
import { sparkline } from "../../page/sparkline.js";
import { buildTable, moreButton, ROWS_AT_ONCE, scrollBox, sortHeads } from "../../page/tables.js";
import {
  formatChange,
  formatCount,
  formatValue,
  geometricMean,
  plural,
} from "../../text/format.js";
import { namesOf } from "./comparing.js";

/** @import { State } from "../../address.js" */
/** @import { Metric } from "../../../types.js" */
/** @import { Comparison, Row } from "./comparing.js" */
/** @import { Summary } from "./rows.js" */

const SIGNS = new Map([
  ["worse", "✗ "],
  ["better", "✓ "],
]);

/** @param {Summary} summary */
export const summaryTable = (summary) =>
  buildTable(
    "Summary of the changes in cost: less is better; for rates the ratio is inverted",
    [
      "verdict",
      { text: "series", number: true },
      { text: "range of changes", number: true },
      { text: "geometric mean", number: true },
    ],
    [
      ...summary.lines.map((line) => {
        const sign = SIGNS.get(line.verdict ?? "") ?? "";
        const className = line.count && sign ? `${line.verdict}-text` : null;
        return [
          el("span", { class: className }, sign + line.name),
          formatCount(line.count),
          line.range,
          line.count ? formatChange(line.mean) : "–",
        ];
      }),
      [
        "not compared: only one value, or other conditions",
        formatCount(summary.missing),
        "–",
        "–",
      ],
    ],
    "list compact",
  );

/** @param {Comparison} result */
function columnsOf(result) {
  const names = namesOf(result);
  const { columnNames } = getModel();
  return [
    { id: "name", text: "Benchmark" },
    { id: "change", text: "Change", number: true },
    ...columnNames.map((text, at) => ({ id: at ? "pass" : "device", text })),
    { id: "base", text: names.base, number: true },
    { id: "now", text: names.now, number: true },
    {
      id: "noise",
      text: "Times the noise",
      number: true,
      title: "The change as a multiple of the noise of both values",
    },
    { id: "trend", text: `Trend (${result.window})`, number: true },
  ];
}

/**
 * @param {Row} row
 * @param {Comparison} result
 */
function drawRow(row, result) {
  const { case: what, metric } = row;
  const page = addressOf("case", {
    s: row.key,
    m: row.series.machine.name,
    e: getModel().index.environments[result.e]?.id,
  });
  const details = what.details ? el("span", { class: "muted" }, " " + what.details) : null;
  const change = Number.isFinite(row.ratio)
    ? changeSign(row.ratio, row.verdict)
    : row.comparable
      ? noNumber()
      : otherConditions();
  const trend = Number.isFinite(row.trend) ? changeSign(row.trend, row.trendVerdict) : noNumber();
  const count = getModel().columnNames.length;
  const device = what.device ? [keySquare(what.device, what.pass), what.device] : "–";
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, el("a", { href: page }, what.model), details),
    el("td", { class: "number" }, change),
    [device, what.pass || "–"].slice(0, count).map((cell) => el("td", {}, cell)),
    el("td", { class: "number" }, formatValue(row.then?.value, metric.unit)),
    el("td", { class: "number" }, formatValue(row.now?.value, metric.unit)),
    el(
      "td",
      { class: "number" },
      Number.isFinite(row.inNoise) ? `${row.inNoise.toFixed(1)}×` : "–",
    ),
    el("td", { class: "number" }, trend),
    el("td", { "aria-hidden": "true" }, sparkline(row.history, [], row.verdict)),
  );
}

/**
 * One metric's heading and table.
 * @param {Metric} metric
 * @param {Row[]} rows
 * @param {Comparison} result
 * @param {State} state
 */
export function metricSection(metric, rows, result, state) {
  const ratios = rows.map((row) => row.ratio).filter(Number.isFinite);
  const direction = `${metric.higher_is_better ? "more" : "less"} is better`;
  const mean = ratios.length
    ? ` · geometric mean ${formatChange(geometricMean(ratios))} of ${plural(ratios.length, "series")}`
    : "";
  const title = `${metric.label}, ${direction}`;
  const heads = sortHeads(columnsOf(result), firstParam(state, "sort", "-change"), "-change");
  /** @param {Row} row */
  const draw = (row) => drawRow(row, result);
  const body = el("tbody", {}, rows.slice(0, ROWS_AT_ONCE).map(draw));
  return el(
    "section",
    { class: "unit" },
    el("h2", {}, metric.label, el("span", { class: "muted" }, ` · ${direction}${mean}`)),
    scrollBox(
      title,
      el(
        "table",
        { class: "list" },
        el("caption", { class: "visually-hidden" }, title),
        el("thead", {}, el("tr", {}, heads, el("td", { "aria-hidden": "true" }))),
        body,
      ),
    ),
    moreButton(body, rows, draw),
  );
}
