// The values of a chart as a table.

import { getModel } from "../../data/model.js";
import { formatDay, formatValue } from "../../text/format.js";
import { columnOf } from "../../page/tables.js";

/** @import { Sheet } from "../../text/export.js" */
/** @import { CommitIndex } from "../../../types.js" */
/** @import { Column } from "../../page/tables.js" */
/** @import { Series } from "../../data/model.js" */
/** @import { SeriesLine } from "./lines.js" */

/**
 * Columns of a table with a row for each commit and a column for each line.
 * @param {SeriesLine[]} lines
 * @returns {Column<CommitIndex>[]}
 */
export function valueColumns(lines) {
  const { commitLine, commits } = getModel();
  return [
    columnOf("Commit", (at) => commits[at]?.hash, { draw: commitLine }),
    ...lines.map((line) =>
      columnOf(line.label, (/** @type {CommitIndex} */ at) => line.values.get(at)?.value, {
        number: true,
        draw: (/** @type {CommitIndex} */ at) =>
          formatValue(line.values.get(at)?.value, line.series.metric),
      }),
    ),
  ];
}

/**
 * Every run in view, with its interval.
 * @param {SeriesLine[]} lines
 * @param {CommitIndex[]} stops
 * @returns {Sheet}
 */
export function runsSheet(lines, stops) {
  const { commits } = getModel();
  const inView = new Set(stops);
  return {
    head: [
      "case",
      "machine",
      "environment",
      "commit",
      "date",
      "unit",
      "value",
      "low",
      "high",
      "outcome",
    ],
    rows: lines.flatMap(({ series, points, others }) => {
      const { case: what, machine, environment, metric } = series;
      /** @param {CommitIndex} at */
      const front = (at) => [
        what.key,
        machine.name,
        environment.id,
        commits[at]?.hash,
        formatDay(commits[at]?.date ?? 0),
        metric.unit,
      ];
      return [
        ...points.map(({ at, value, interval }) => ({
          at,
          row: [...front(at), value, interval?.[0], interval?.[1], "ok"],
        })),
        ...others.map(({ at, outcome }) => ({
          at,
          row: [...front(at), null, null, null, outcome],
        })),
      ]
        .filter(({ at }) => inView.has(at))
        .sort((a, b) => a.at - b.at)
        .map(({ row }) => row);
    }),
  };
}

/**
 * The newest value of every line of many charts.
 * @param {Series[][]} rows
 * @returns {Sheet}
 */
export const newestSheet = (rows) => ({
  head: ["case", "machine", "environment", "commit", "unit", "newest value"],
  rows: rows
    .flat()
    .map(({ case: what, machine, environment, metric, last }) => [
      what.key,
      machine.name,
      environment.id,
      getModel().commits[last?.c ?? -1]?.hash,
      metric.unit,
      last?.v,
    ]),
});
