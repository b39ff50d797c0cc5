// A comparison of revisions as Markdown and as CSV.

import { getModel } from "../../data/model.js";
import { csvText, escapeMarkdown } from "../../text/export.js";
import { formatChange, formatDay, formatValue } from "../../text/format.js";
import { namesOf } from "./comparing.js";

/** @import { Comparison, Row } from "./comparing.js" */
/** @import { Summary } from "./rows.js" */

const SIGNS = { better: "✓ better", worse: "✗ worse", same: "" };

/**
 * @param {Comparison} result
 * @param {Row[]} rows
 * @param {Summary} summary
 */
export function markdownOf(result, rows, summary) {
  const model = getModel();
  const names = namesOf(result);
  const commit = model.commits[result.rev];
  const machine = model.index.machines[result.m]?.name ?? "";
  const environment = model.index.environments[result.e]?.label ?? "";
  const about = [
    `${escapeMarkdown(commit?.subject ?? "")} (${formatDay(commit?.date ?? 0)})`,
    `machine ${escapeMarkdown(machine)}`,
    escapeMarkdown(environment),
  ];
  const { base, now } = names;
  const heads = ["benchmark", "device", "pass", "metric", base, now, "change", ""];
  const lines = [
    `### ${escapeMarkdown(now)} against ${escapeMarkdown(base)}`,
    "",
    about.join(", "),
    "",
    "| | series | range of changes | geometric mean |",
    "|---|---:|---:|---:|",
    ...summary.lines.map((line) => {
      const mean = line.count ? formatChange(line.mean) : "–";
      return `| ${line.name} | ${line.count} | ${line.range} | ${mean} |`;
    }),
    "",
    `| ${heads.map(escapeMarkdown).join(" | ")} |`,
    "|---|---|---|---|---:|---:|---:|---|",
    ...rows.map((row) => {
      const { unit, label } = row.metric;
      const cells = [
        row.case.row,
        row.case.device,
        row.case.pass,
        label,
        formatValue(row.then?.value, unit),
        formatValue(row.now?.value, unit),
        formatChange(row.ratio),
        SIGNS[row.verdict],
      ];
      return `| ${cells.map(escapeMarkdown).join(" | ")} |`;
    }),
  ];
  return lines.join("\n") + "\n";
}

/**
 * @param {Comparison} result
 * @param {Row[]} rows
 */
export function csvOf(result, rows) {
  const { commits } = getModel();
  const head = [
    "case",
    "model",
    "device",
    "pass",
    "metric",
    "unit",
    "base_revision",
    "base_value",
    "revision",
    "value",
    "ratio",
    "verdict",
    "multiple_of_noise",
    "trend_ratio",
  ];
  return csvText([
    head,
    ...rows.map((row) => [
      row.key,
      row.case.row,
      row.case.device,
      row.case.pass,
      row.metric.label,
      row.metric.unit,
      commits[result.base]?.hash,
      row.then?.value,
      commits[result.rev]?.hash,
      row.now?.value,
      row.ratio,
      row.verdict === "same" ? "not significant" : row.verdict,
      row.inNoise,
      row.trend,
    ]),
  ]);
}
