// The values of the large chart as a table and as CSV.

import { getModel } from "../../data/model.js";
import { buildTable } from "../../page/tables.js";
import { csvText } from "../../text/export.js";
import { formatValue } from "../../text/format.js";
import { commitNote } from "./lines.js";

/** @import { Scene } from "./chart.js" */

const CSV_HEAD = [
  "case",
  "machine",
  "environment",
  "revision",
  "date",
  "unit",
  "value",
  "interval_low",
  "interval_high",
  "quartile_1",
  "quartile_3",
  "outcome",
  "reason",
];

/** @param {Scene} scene */
export function csvOf({ asked, lines, axis }) {
  const { commits, releases } = getModel();
  const stops = new Set(axis.stops);
  const rows = lines.flatMap((line) => {
    const points = line.points.map((point) => ({
      ...point,
      commit: line.series ? point.at : line.commit,
      outcome: "ok",
      reason: "",
    }));
    const others = line.others.map((run) => ({
      ...run,
      value: NaN,
      interval: null,
      quartiles: null,
      commit: run.at,
    }));
    return [...points, ...others]
      .filter((run) => stops.has(run.at))
      .sort((a, b) => a.at - b.at)
      .map((run) => {
        const commit = commits[run.commit];
        const release = line.series ? line.series.environment : releases[run.at];
        return [
          line.case.key,
          asked.machine,
          release?.id,
          commit?.hash,
          commit ? new Date(commit.date * 1000).toISOString() : null,
          line.unit,
          run.value,
          ...(run.interval ?? [null, null]),
          ...(run.quartiles ?? [null, null]),
          run.outcome,
          run.reason,
        ];
      });
  });
  return csvText([CSV_HEAD, ...rows]);
}

/** @param {Scene} scene */
export function valueTable({ lines, axis }) {
  const values = lines.map((line) => new Map(line.points.map((point) => [point.at, point.value])));
  const rows = [...axis.stops].reverse().map((at) => [
    axis.name(at),
    ...lines.map((line, i) => {
      const value = values[i]?.get(at);
      if (value !== undefined) return formatValue(value, line.unit);
      return line.others.find((run) => run.at === at)?.outcome ?? "–";
    }),
  ]);
  const heads = lines.map((line) => ({ text: line.label + commitNote(line), number: true }));
  const places = lines.some((line) => !line.series) ? "Release" : "Commit";
  return buildTable("Every value of the chart, newest first", [places, ...heads], rows);
}
