// What is known of a case besides its history: numbers, source, environment, command.

import { addressOf } from "../../address.js";
import { getModel } from "../../data/model.js";
import { el } from "../../page/elements.js";
import { copyText, doneButton } from "../../page/handover.js";
import { commitLink, foundChange, outcomeTag } from "../../page/signs.js";
import { scrollBox } from "../../page/tables.js";
import { formatDay, formatReach, formatSpread, formatValue } from "../../text/format.js";

/** @import { BenchmarkSource } from "../../../types.js" */
/** @import { Child } from "../../page/elements.js" */
/** @import { Series } from "../../data/model.js" */

/**
 * A table of names and values.
 * @param {string} caption
 * @param {[string, Child][]} rows
 */
const factsTable = (caption, rows) =>
  scrollBox(
    caption,
    el(
      "table",
      { class: "facts" },
      el("caption", { class: "visually-hidden" }, caption),
      el(
        "tbody",
        {},
        rows.map(([name, value]) =>
          el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value)),
        ),
      ),
    ),
  );

/** The newest value, its state, noise and smallest detectable change. @param {Series} series */
export function summaryCards(series) {
  const { last, metric, status, reason, change, noise, detectable } = series;
  const model = getModel();
  const commit = last ? model.commits[last.c] : undefined;
  const measured = commit
    ? [commitLink(commit.at), ` · ${formatDay(commit.date)}`]
    : "no value yet";
  /**
   * @param {string} title
   * @param {Child} value
   * @param {Child} note
   */
  const card = (title, value, note) =>
    el(
      "li",
      { class: "card" },
      el("h2", { class: "of" }, title),
      el("strong", {}, value),
      el("p", { class: "note" }, note),
    );
  const known = noise !== null && detectable !== null;
  return el(
    "ul",
    { class: "cards" },
    card(`Newest ${metric.label}`, formatValue(last?.v, metric.unit), measured),
    card(
      "Newest change",
      change ? foundChange(change, false) : "No change",
      change
        ? `${change.state}, since ${model.commitLine(change.c)}`
        : "no value is beyond the noise",
    ),
    card(
      "Noise between runs",
      known ? formatSpread(noise) : "unknown",
      known
        ? `Smallest detectable change between two runs: ${formatReach(detectable)}`
        : "Too few runs; `make calibrate` measures it.",
    ),
    card(
      "Newest run",
      outcomeTag(status),
      reason || `${metric.higher_is_better ? "More" : "Less"} is better`,
    ),
  );
}

/**
 * Other measurements of the same work: instructions, FLOPs, its floor, memory.
 * @param {Series} series
 * @param {BenchmarkSource} source
 */
export function relatedTable(series, source) {
  const model = getModel();
  const others = (source.related[String(series.at)] ?? []).flatMap((s) => model.series[s] ?? []);
  if (!others.length) return null;
  return factsTable(
    "Other measurements of this model and pass",
    others.map((other) => {
      const page = addressOf("case", {
        s: other.key,
        m: other.machine.name,
        e: other.environment.id,
      });
      const value = formatValue(other.last?.v, other.metric.unit);
      const change = other.change ? [" ", foundChange(other.change)] : null;
      const { label } = other.metric;
      const settings = other.case.details
        .split(", ")
        .filter((detail) => detail && !label.toLowerCase().startsWith(detail.toLowerCase()));
      return [[label, ...settings].join(" · "), [el("a", { href: page }, value), change]];
    }),
  );
}

/**
 * The command that measures the case again.
 * @param {Series} series
 * @param {BenchmarkSource} source
 */
export function commandBlock(series, source) {
  const measured = source.commands[series.key];
  if (!measured) return null;
  const { torch } = series.environment;
  const command = /^[\w.+-]+$/.test(torch) ? `${measured} --torch ${torch}` : measured;
  return el(
    "div",
    { class: "command" },
    el("pre", {}, command),
    doneButton("Copy command", "Command copied", () => copyText(command, "Command")),
  );
}

/** Where and with what the case was measured. @param {Series} series */
export function environmentTable(series) {
  const { machine, environment } = series;
  const record = getModel().index.records.find(({ m, e }) => m === series.m && e === series.e);
  const facts = {
    machine: machine.name,
    ...machine.facts,
    environment: environment.label,
    ...environment.requirements,
    ...environment.variables,
    ...record?.machine,
    ...record?.environment,
  };
  const { cpu } = machine.facts;
  return [
    el("p", {}, [machine.name, cpu, environment.label].filter(Boolean).join(" · ")),
    el(
      "details",
      { class: "fold" },
      el("summary", {}, "Everything that was recorded about it"),
      factsTable("Environment", Object.entries(facts)),
    ),
  ];
}

/** @param {BenchmarkSource} source */
export function sourceBlock(source) {
  return [
    source.description ? el("p", {}, source.description) : null,
    factsTable("Benchmark", [
      ["benchmark", el("code", {}, source.benchmark)],
      ["version", source.version],
      ["time limit", source.timeout === null ? "none" : `${source.timeout} s`],
    ]),
    el(
      "details",
      { class: "fold" },
      el("summary", {}, "Source"),
      el("pre", { tabindex: "0", role: "region", "aria-label": "Source" }, source.code),
    ),
  ];
}
