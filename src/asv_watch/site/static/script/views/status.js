// Status: how the newest run of every case went, why, and how noisy each series is.

import { addressOf, filterWords, firstParam } from "../address.js";
import { getModel } from "../data/model.js";
import { announce } from "../page/announce.js";
import { el, nodesOf } from "../page/elements.js";
import { controlBox, searchField, selectField } from "../page/fields.js";
import { anyEnvironmentField, anyMachineField } from "../page/place-fields.js";
import { commitLink, OUTCOME_NAMES, outcomeTag } from "../page/signs.js";
import {
  moreButton,
  replaceKeepingFocus,
  ROWS_AT_ONCE,
  scrollBox,
  sortedBy,
  sortHeads,
} from "../page/tables.js";
import { formatCount, formatDay, formatSpread, plural } from "../text/format.js";
import { appOf, notice } from "./view.js";

/** @import { State } from "../address.js" */
/** @import { Outcome } from "../../types.js" */
/** @import { Series } from "../data/model.js" */
/** @import { View } from "./view.js" */

/** What needs a look comes first. @type {Outcome[]} */
const WORST_FIRST = ["failed", "timed out", "stale", "never run", "skipped", "ok"];

/** @param {Series} series */
const byOutcome = (series) => WORST_FIRST.indexOf(series.status);

/** @type {Record<string, (series: Series) => number | string>} */
const SORTERS = {
  outcome: byOutcome,
  case: (series) => series.case.order,
  where: (series) => `${series.machine.name} ${getModel().environmentLabel(series.environment)}`,
  at: (series) => series.newestRun ?? -1,
  noise: (series) => series.noise ?? -1,
};
const COLUMNS = [
  { id: "case", text: "Case" },
  { id: "outcome", text: "Newest run" },
  { id: "where", text: "Where" },
  { id: "at", text: "At" },
  { id: "noise", text: "Noise", number: true },
];

/** The series that pass the filters. @param {State} state */
function chosen(state) {
  const outcome = firstParam(state, "outcome");
  const machine = firstParam(state, "m");
  const environment = firstParam(state, "e");
  const words = filterWords(state);
  return getModel().series.filter((series) => {
    if (outcome && series.status !== outcome) return false;
    if (machine && series.machine.name !== machine) return false;
    if (environment && series.environment.id !== environment) return false;
    const text = `${series.key} ${series.case.group} ${series.reason}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Why the newest run has no value, or is not of the newest commit. @param {Series} series */
function why(series) {
  if (series.status === "stale") return `${plural(series.behind, "commit")} behind the newest`;
  if (!series.reason) return series.status === "failed" ? "the run left no message" : "";
  const whole = series.text === null ? null : getModel().index.texts[series.text];
  if (!whole) return series.reason;
  return el("details", {}, el("summary", {}, series.reason), el("pre", {}, whole));
}

/** @param {Series} series */
function drawRow(series) {
  const { newestRun: at, machine, environment } = series;
  const model = getModel();
  const commit = at === null ? undefined : model.commits[at];
  const page = addressOf("case", { s: series.key, m: machine.name, e: environment.id });
  const label = ` · ${model.environmentLabel(environment)}`;
  return el(
    "tr",
    {},
    el(
      "th",
      { scope: "row" },
      el("a", { href: page }, series.case.title),
      el("span", { class: "muted" }, ` · ${series.metric.label}`),
    ),
    el("td", {}, outcomeTag(series.status)),
    el("td", {}, machine.name, el("span", { class: "muted" }, label)),
    el("td", {}, commit ? [commitLink(commit.at), ` ${formatDay(commit.date)}`] : "–"),
    el("td", { class: "number" }, series.noise ? formatSpread(series.noise) : "–"),
    el("td", { class: "text" }, why(series)),
  );
}

/** How many series have each outcome, as filters. @param {State} state */
function tallyLinks(state) {
  const { series } = getModel();
  const now = firstParam(state, "outcome");
  const links = OUTCOME_NAMES.flatMap((outcome) => {
    const count = series.filter((member) => member.status === outcome).length;
    if (!count) return [];
    const current = now === outcome ? "true" : null;
    const href = addressOf("status", { outcome });
    const link = { class: "tally-item", href, "aria-current": current };
    return [el("a", link, outcomeTag(outcome), ` ${formatCount(count)}`)];
  });
  const all = { class: "tally-item", href: addressOf("status") };
  return [...links, el("a", all, `all ${formatCount(series.length)}`)];
}

/** @param {Series[]} list @param {string} order */
function drawTable(list, order) {
  if (!list.length) return [notice("No case passes the filters.")];
  const caption = "The newest run of each case";
  const body = el("tbody", {}, list.slice(0, ROWS_AT_ONCE).map(drawRow));
  const heads = sortHeads(COLUMNS, order, "outcome");
  return [
    scrollBox(
      caption,
      el(
        "table",
        { class: "list status" },
        el("caption", { class: "visually-hidden" }, caption),
        el("thead", {}, el("tr", {}, heads, el("th", { scope: "col" }, "Why"))),
        body,
      ),
    ),
    moreButton(body, list, drawRow),
  ];
}

/** @type {View} */
export const statusView = {
  title: "Status",
  mount(section) {
    const outcomes = [
      { value: "", label: "any" },
      ...OUTCOME_NAMES.map((value) => ({ value, label: value })),
    ];
    const controls = controlBox([
      selectField("outcome", "Newest run", { options: () => outcomes }),
      anyMachineField(),
      anyEnvironmentField(),
      searchField("q", "Filter", "case or message"),
    ]);
    const tally = el("p", { class: "tally" });
    const out = el("div", {});
    appOf(section).replaceChildren(tally, controls.node, out);
    return (state) => {
      controls.show(state);
      tally.replaceChildren(...tallyLinks(state));
      const order = firstParam(state, "sort", "outcome");
      const value = SORTERS[order.replace(/^-/, "")] ?? byOutcome;
      const list = sortedBy(chosen(state), value, order.startsWith("-"), (series) => series.at);
      replaceKeepingFocus(out, nodesOf(drawTable(list, order)));
      announce(`${plural(list.length, "case")}.`);
    };
  },
};
