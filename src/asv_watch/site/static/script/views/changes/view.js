// Changes: one revision, or one environment, against another.

import { addressOf, currentState, firstParam } from "../../address.js";
import { getModel } from "../../data/model.js";
import { nearestMeasured } from "../../data/runs.js";
import { announce } from "../../page/announce.js";
import { el, nodesOf } from "../../page/elements.js";
import {
  allOr,
  checkField,
  choicesOf,
  controlBox,
  searchField,
  selectField,
} from "../../page/fields.js";
import { copyText, csvButton, doneButton, permalinkButton } from "../../page/handover.js";
import {
  environmentField,
  machineField,
  metricChoices,
  revisionField,
} from "../../page/place-fields.js";
import { replaceKeepingFocus, scrollBox } from "../../page/tables.js";
import { formatCount } from "../../text/format.js";
import { appOf, notice, troubleNotice } from "../view.js";
import { compareRevisions, namesOf } from "./comparing.js";
import { between, commitBar, compareCommand, sensitivity, shortcuts } from "./context.js";
import { csvOf, markdownOf } from "./exports.js";
import { filterRows, sortRows, summarise } from "./rows.js";
import { metricSection, summaryTable } from "./tables.js";

/** @import { State } from "../../address.js" */
/** @import { CommitIndex, Metric } from "../../../types.js" */
/** @import { View } from "../view.js" */
/** @import { Comparison, Row } from "./comparing.js" */

/** @type {readonly (readonly [string, string])[]} */
const BASE_WORDS = [
  ["previous", "the measured commit before"],
  ["baseline", "the fixed baseline"],
  ["same", "the same commit"],
];

const NOTHING_COMPARABLE =
  "No case can be compared: the two sides have no case in common, or were measured with " +
  "different recipes or conditions. Choose another revision, or another machine.";

const NOTHING_BEFORE =
  "Nothing was measured before this commit in this environment, so there is nothing to compare " +
  "with: choose another base, or another base environment.";

/**
 * The fields; `shown` gives the comparison in view, which some defaults follow.
 * @param {() => Comparison | null} shown
 */
function fields(shown) {
  const model = getModel();
  const revision = () => {
    const result = shown();
    return result ? model.shortOf(result.rev) : "";
  };
  return controlBox([
    revisionField("rev", "Results for revision", { initial: revision }),
    revisionField("base", "Compared with", {
      words: BASE_WORDS,
      initial: () => shown()?.against ?? "previous",
    }),
    machineField(),
    environmentField(),
    environmentField("be", "Base environment", (state) =>
      firstParam(state, "e", model.defaultEnvironment),
    ),
    selectField("n", "Trend over", {
      options: () =>
        ["5", "10", "20", "50", "100"].map((value) => ({ value, label: `${value} commits` })),
      initial: () => "10",
    }),
    selectField("metric", "Metric", {
      options: () => [...choicesOf([["", "all metrics"]]), ...metricChoices()],
    }),
    selectField("device", model.columnNames[0] ?? "", {
      options: () => allOr(model.devices, model.columnNouns[0] ?? ""),
    }),
    selectField("pass", model.columnNames[1] ?? "", {
      options: () => allOr(model.passes, model.columnNouns[1] ?? ""),
    }),
    searchField("q", "Filter", `${model.subject}, suite, …`),
    checkField("sig", "only significant"),
  ]);
}

/**
 * The address with all that follows from the data written out.
 * @param {State} state
 * @param {Comparison} result
 */
function pinnedAddress(state, result) {
  const model = getModel();
  return addressOf("changes", {
    ...state.params,
    rev: model.shortOf(result.rev),
    base: result.base < 0 ? null : model.shortOf(result.base),
    m: model.index.machines[result.m]?.name,
    e: model.index.environments[result.e]?.id,
    be: result.across ? model.index.environments[result.be]?.id : null,
  });
}

/** @param {() => string} markdown */
function markdownFold(markdown) {
  const text = el("textarea", {
    class: "export",
    readonly: true,
    "aria-label": "The changes as Markdown",
  });
  const fold = el("details", { class: "fold" }, el("summary", {}, "Markdown as text"), text);
  fold.addEventListener("toggle", () => {
    if (fold.open) text.value = markdown();
  });
  return fold;
}

/**
 * @param {State} state
 * @param {Comparison} result
 */
function emptyText(state, result) {
  if (result.base < 0) return NOTHING_BEFORE;
  if (firstParam(state, "sig") === "1")
    return "No series that passes the filters changed significantly between the two.";
  return "No series passes the filters.";
}

/**
 * @param {HTMLElement} out
 * @param {State} state
 * @param {Comparison} result
 * @param {{ older: CommitIndex, newer: CommitIndex }} neighbours
 */
function draw(out, state, result, neighbours) {
  const model = getModel();
  const passing = filterRows(result.rows, state);
  const summary = summarise(passing);
  const only = firstParam(state, "sig") === "1";
  const shown = only ? passing.filter((row) => row.verdict !== "same") : passing;
  const rows = sortRows(shown, firstParam(state, "sort", "-change"));
  /** @type {Map<Metric, Row[]>} */
  const byMetric = new Map(model.index.metrics.map((metric) => [metric, []]));
  for (const row of rows) byMetric.get(row.metric)?.push(row);
  const markdown = () => markdownOf(result, rows, summary);
  const stem = () => `changes-${namesOf(result).now.split(" ")[0]}.csv`;

  const parts = [
    commitBar(result, state, neighbours),
    result.moved.map(([at, near]) =>
      notice(
        `${model.shortOf(at)} was not measured here: the nearest measured commit, ` +
          `${model.shortOf(near)}, is shown instead.`,
      ),
    ),
    result.asked > result.rev
      ? notice(
          `Most values of the newest commit, ${model.shortOf(result.asked)}, were measured with ` +
            "another recipe or under other conditions than those before it and cannot be " +
            "compared with them: the newest commit that can be compared is shown.",
        )
      : null,
    result.base < 0 && passing.length ? notice(NOTHING_BEFORE) : null,
    result.base >= 0 && !result.rows.some((row) => Number.isFinite(row.ratio))
      ? notice(NOTHING_COMPARABLE)
      : null,
    between(result),
    scrollBox("Summary of the changes", summaryTable(summary)),
    sensitivity(passing),
    compareCommand(result),
    el(
      "div",
      { class: "actions" },
      doneButton("Copy as Markdown", "Markdown copied", () => copyText(markdown(), "Markdown")),
      csvButton(stem, () => csvOf(result, rows)),
      permalinkButton(() => pinnedAddress(state, result)),
    ),
    markdownFold(markdown),
    rows.length
      ? [...byMetric].map(([metric, members]) =>
          members.length ? metricSection(metric, members, result, state) : null,
        )
      : notice(emptyText(state, result)),
  ];
  replaceKeepingFocus(out, nodesOf(parts));
  const [worse, better] = summary.lines;
  announce(
    `${formatCount(rows.length)} series, ${worse.count} regressed, ${better.count} improved.`,
  );
}

/** @type {View} */
export const changesView = {
  title: "Revisions",
  mount(section) {
    /** @type {Comparison | null} */
    let shown = null;
    const controls = fields(() => shown);
    const links = el("p", { class: "note shortcuts" });
    const out = el("div", { class: "out" });
    appOf(section).replaceChildren(controls.node, links, out);
    return async (state) => {
      controls.show(state);
      let result;
      try {
        result = await compareRevisions(state);
      } catch (error) {
        out.replaceChildren(troubleNotice(error instanceof Error ? error.message : String(error)));
        return;
      }
      const neighbours = {
        older: await nearestMeasured(result.rev - 1, -1, result.places),
        newer: await nearestMeasured(result.rev + 1, 1, result.places),
      };
      if (state.view !== currentState().view) return; // the reader went elsewhere meanwhile
      shown = result;
      controls.show(state);
      links.replaceChildren(...shortcuts(state));
      draw(out, state, result, neighbours);
    };
  },
};
