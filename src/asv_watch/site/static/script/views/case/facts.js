// What is known of a case besides its history: numbers, source, environment, command.

import { addressOf } from "../../address.js";
import { getModel } from "../../data/model.js";
import { el } from "../../page/elements.js";
import { copyText, doneButton } from "../../page/handover.js";
import { commitLink, foundChange, outcomeTag } from "../../page/signs.js";
import { scrollBox } from "../../page/tables.js";
import { formatDay, formatReach, formatSpread, formatValue, plural } from "../../text/format.js";

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

/**
 * Other measurements of the same work in the same place: instructions, FLOPs, its floor, memory.
 * @param {Series} series
 * @param {BenchmarkSource} source
 */
const relatedOf = (series, source) =>
  (source.related[String(series.at)] ?? []).flatMap((at) => getModel().series[at] ?? []);

/** The page of a series. @param {Series} series */
const pageOf = ({ key, machine, environment }) =>
  addressOf("case", { s: key, m: machine.name, e: environment.id });

/**
 * How many times its floor a time is, where the suite `floor` measured that.
 * @param {Series} series
 * @param {BenchmarkSource} source
 */
function floorCard(series, source) {
  if (series.metric.label !== "time") return null;
  const others = relatedOf(series, source);
  const mode = series.case.mode || "eager";
  /** @param {string} name */
  const measured = (name) =>
    others.find(({ case: what, metric }) => metric.label === name && what.mode === mode);
  const [times, floor] = [measured("times floor"), measured("floor seconds")];
  if (!times?.last) return null;
  const { last, metric } = times;
  const least = floor?.last ? ` of ${formatValue(floor.last.v, floor.metric.unit)}` : "";
  return card(
    "Distance from the floor",
    el("a", { href: pageOf(times) }, formatValue(last.v, metric.unit)),
    `the floor${least}, both measured at ${getModel().shortOf(last.c)}: what products, traffic ` +
      "and dispatches of the pass cost at least on this machine",
  );
}

/**
 * The newest value, its state, noise, smallest detectable change and distance from its floor.
 * @param {Series} series
 * @param {BenchmarkSource} source
 */
export function summaryCards(series, source) {
  const { last, metric, status, reason, behind, change, noise, detectable } = series;
  const model = getModel();
  const commit = last ? model.commits[last.c] : undefined;
  const measured = commit
    ? [commitLink(commit.at), ` · ${formatDay(commit.date)}`]
    : "no value yet";
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
        : known
          ? "no value is beyond the noise"
          : "the noise is not known yet",
    ),
    card(
      "Noise between runs",
      known ? formatSpread(noise) : "unknown",
      known
        ? `Smallest detectable change between two runs: ${formatReach(detectable)}`
        : "Too few runs.",
    ),
    card(
      "Newest run",
      outcomeTag(status),
      status === "stale" ? `last measured ${plural(behind, "commit")} before the newest` : reason,
    ),
    floorCard(series, source),
  );
}

/**
 * The newest values of `relatedOf`.
 * @param {Series} series
 * @param {BenchmarkSource} source
 */
export function relatedTable(series, source) {
  const others = relatedOf(series, source);
  if (!others.length) return null;
  return factsTable(
    "Other measurements of this model and pass",
    others.map((other) => {
      const value = formatValue(other.last?.v, other.metric.unit);
      const change = other.change ? [" ", foundChange(other.change)] : null;
      const { label } = other.metric;
      const settings = other.case.details
        .split(", ")
        .filter((detail) => detail && !label.toLowerCase().startsWith(detail.toLowerCase()));
      return [[label, ...settings].join(" · "), [el("a", { href: pageOf(other) }, value), change]];
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
  const command = /^[\w.+-]+$/.test(torch) ? `${measured} --release ${torch}` : measured;
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
