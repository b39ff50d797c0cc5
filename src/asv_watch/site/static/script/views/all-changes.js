// All changes: every change that was found in any series, sortable and filterable.

import { filterWords, firstParam } from "../address.js";
import { getModel } from "../data/model.js";
import { announce } from "../page/announce.js";
import { el, nodesOf } from "../page/elements.js";
import { allOr, choicesOf, controlBox, searchField, selectField } from "../page/fields.js";
import {
  CHANGE_COLUMNS,
  changeRow,
  OTHER_CHANGE_COLUMNS,
  seriesOf,
} from "../page/found-changes.js";
import { csvButton } from "../page/handover.js";
import { anyEnvironmentField, anyMachineField, metricChoices } from "../page/place-fields.js";
import {
  moreButton,
  replaceKeepingFocus,
  ROWS_AT_ONCE,
  scrollBox,
  sortedBy,
  sortHeads,
} from "../page/tables.js";
import { csvText } from "../text/export.js";
import { capital, plural } from "../text/format.js";
import { appOf, notice } from "./view.js";

/** @import { State } from "../address.js" */
/** @import { Change, ChangeState } from "../../types.js" */
/** @import { View } from "./view.js" */

/** @type {ChangeState[]} */
const STATES = ["suspected", "measured"];

/** @param {Change} change */
const bySize = ({ ratio, about }) => Math.abs(Math.log(ratio ?? about ?? NaN));
/** @param {Change} change */
const byCommit = (change) => change.c;

/** Smallest relative changes to choose from. @type {[string, string][]} */
const SIZES = [
  ["0.03", "at least 3%"],
  ["0.05", "at least 5%"],
  ["0.1", "at least 10%"],
  ["0.25", "at least 25%"],
  ["0.5", "at least 50%"],
];

/** @type {Record<string, (change: Change) => number | string>} */
const SORTERS = {
  case: (change) => seriesOf(change).case.title,
  change: bySize,
  state: (change) => STATES.indexOf(change.state),
  evidence: (change) => change.interval?.[0] ?? NaN,
  commit: byCommit,
  cause: (change) => change.cause,
};
/** The changes that pass the filters. @param {State} state */
function chosen(state) {
  const model = getModel();
  const words = filterWords(state);
  const wanted = (/** @type {string} */ key) => firstParam(state, key);
  const [certainty, direction, metric] = ["state", "direction", "metric"].map(wanted);
  const [machine, environment, cause, model_] = ["m", "e", "cause", "model"].map(wanted);
  const least = Math.log1p(Number(wanted("size")) || 0);
  return model.index.changes.filter((change) => {
    const series = seriesOf(change);
    if (certainty && change.state !== certainty) return false;
    if (direction && change.verdict !== direction) return false;
    if (metric && series.metric.id !== metric) return false;
    if (machine && series.machine.name !== machine) return false;
    if (environment && series.environment.id !== environment) return false;
    if (cause && change.cause !== cause) return false;
    if (model_ && series.case.owner !== model_) return false;
    if (least && !(bySize(change) >= least)) return false;
    const { hash = "", subject = "" } = model.commits[change.c] ?? {};
    const within = model.index.ranges[change.range]?.commits ?? [];
    const commits = [[hash, 0, subject], ...within].map(([id, , text]) => `${id} ${text}`);
    const searched = [series.key, series.case.title, ...commits].join(" ").toLowerCase();
    return words.every((word) => searched.includes(word));
  });
}

/** @param {Change[]} changes */
function csvOf(changes) {
  const { commits } = getModel();
  const head = [
    "case",
    "machine",
    "environment",
    "unit",
    "ratio",
    "about",
    "verdict",
    "state",
    "interval_low",
    "interval_high",
    "last_old_revision",
    "first_new_revision",
    "cause",
    "made_by_revision",
    "explanation",
  ];
  return csvText([
    head,
    ...changes.map((change) => {
      const { key, machine, environment, metric } = seriesOf(change);
      return [
        key,
        machine.name,
        environment.id,
        metric.unit,
        change.ratio,
        change.about,
        change.verdict,
        change.state,
        change.interval?.[0],
        change.interval?.[1],
        commits[change.p]?.hash,
        commits[change.c]?.hash,
        change.cause,
        change.made_by?.[1],
        change.explanation,
      ];
    }),
  ]);
}

/**
 * @param {Change[]} changes
 * @param {string} order
 */
function drawTable(changes, order) {
  if (!changes.length) return [notice("No change passes the filters.")];
  const caption = "All changes found";
  const body = el("tbody", {}, changes.slice(0, ROWS_AT_ONCE).map(changeRow));
  const heads = [
    ...sortHeads(CHANGE_COLUMNS, order, "-commit"),
    ...OTHER_CHANGE_COLUMNS.map((text) => el("th", { scope: "col" }, text)),
  ];
  return [
    scrollBox(
      caption,
      el(
        "table",
        { class: "list all-changes" },
        el("caption", { class: "visually-hidden" }, caption),
        el("thead", {}, el("tr", {}, heads)),
        body,
      ),
    ),
    moreButton(body, changes, changeRow),
  ];
}

function buildFields() {
  const { index, allCases } = getModel();
  const causes = [...new Set(index.changes.map((change) => change.cause))].sort();
  const owners = [...new Set(allCases.map((what) => what.owner))].filter(Boolean);
  const owner = index.layout.subject === "model" ? "model" : "group";
  return controlBox([
    selectField("state", "State", { options: () => allOr(STATES, "states") }),
    selectField("direction", "Direction", {
      options: () =>
        choicesOf([
          ["", "both directions"],
          ["worse", "worse"],
          ["better", "better"],
        ]),
    }),
    selectField("size", "Size", {
      options: () => choicesOf([["", "any size"], ...SIZES]),
    }),
    selectField("model", capital(owner), { options: () => allOr(owners, `${owner}s`) }),
    selectField("metric", "Metric", {
      options: () => [...choicesOf([["", "all metrics"]]), ...metricChoices()],
    }),
    anyMachineField(),
    anyEnvironmentField(),
    selectField("cause", "Likely cause", { options: () => allOr(causes, "causes") }),
    searchField("q", "Filter", "case or commit"),
  ]);
}

/** @type {View} */
export const allChangesView = {
  title: "All changes",
  mount(section) {
    const controls = buildFields();
    const out = el("div", { class: "out" });
    /** @type {Change[]} */
    let shown = [];
    const actions = el(
      "div",
      { class: "actions" },
      csvButton(
        () => "all-changes.csv",
        () => csvOf(shown),
      ),
    );
    const tally = el("p", { class: "note" });
    appOf(section).replaceChildren(controls.node, tally, out, actions);
    return (state) => {
      controls.show(state);
      const order = firstParam(state, "sort", "-commit");
      const value = SORTERS[order.replace(/^-/, "")] ?? byCommit;
      shown = sortedBy(chosen(state), value, order.startsWith("-"), (change) => change.s);
      const counts = STATES.map(
        (name) => `${shown.filter((change) => change.state === name).length} ${name}`,
      );
      tally.textContent = `${plural(shown.length, "change")}: ${counts.join(", ")}.`;
      replaceKeepingFocus(out, nodesOf(drawTable(shown, order)));
      announce(tally.textContent);
    };
  },
};
