// Releases: how fast every case is with each of them, what each changed, and how that was found.

import { drawBar } from "../../charts/bars.js";
import { getModel } from "../../data/model.js";
import { loadReleases } from "../../data/registry.js";
import { el, fold, muted, nodesOf, notice } from "../../page/elements.js";
import { casePageOf, changeLine, outcomeTag } from "../../page/signs.js";
import { columnOf, drawTable, sheetOf } from "../../page/tables.js";
import { plural } from "../../text/format.js";
import { releaseCharts } from "./charts.js";

/** @param {ReleaseHistory} history @param {number} index */
function caseLink({ cases }, index) {
  const { key = "", title = "" } = cases[index] ?? {};
  const href = casePageOf(key);
  return href ? el("a", { href }, title) : title;
}

/** Differences of a release that are shown at once. */
const OPEN = 8;

/**
 * @typedef {{ case: number, operator?: string, outcome?: "skipped" | "failed", reason?: string } &
 *   Partial<ReleaseStep["ratios"][number]>} StepRow
 */

/** @param {StepRow} row */
function drawChange(row) {
  const { ratio, interval, verdict = "same", text = "", days, pale, outcome } = row;
  if (outcome) return outcomeTag(outcome);
  const bar = ratio && interval ? drawBar({ ratio, interval, verdict, pale }) : null;
  return changeLine(bar, { text, verdict, days, pale }, row.interval_text);
}

/** @param {ReleaseHistory} history @returns {Column<StepRow>[]} */
const stepColumns = (history) => [
  columnOf("Case", ({ case: index }) => history.cases[index]?.title, {
    draw: ({ case: index }) => caseLink(history, index),
  }),
  columnOf("Change", ({ ratio, outcome }) => ratio ?? outcome, { draw: drawChange }),
  columnOf("99 % interval", (row) => row.interval_text, { hidden: true }),
  columnOf("Shown on", ({ days }) => days, { hidden: true }),
  columnOf("Why", ({ operator, reason }) => operator ?? reason, {
    wrap: true,
    draw: ({ operator, reason, days, pale }) => [
      operator ?? reason,
      days && !pale ? muted(` · ${days}`) : null,
    ],
  }),
];

/** Cases of a release with their ratios. @param {ReleaseStep} step @param {number} index */
const ratioOf = ({ ratios }, index) =>
  /** @type {ReleaseStep["ratios"][number]} */ (ratios.find((ratio) => ratio.case === index));

/** All comparisons, as they are saved. @param {ReleaseHistory} history */
const comparisonSheet = (history) => {
  const rows = history.steps.flatMap((step) =>
    step.ratios.map((ratio) => ({ ...step, ...ratio })),
  );
  return sheetOf(
    [
      columnOf("Release", ({ after }) => after),
      columnOf("Before", ({ before }) => before),
      .../** @type {Column<(typeof rows)[number]>[]} */ (stepColumns(history)),
    ],
    rows,
  );
};

/** What one release changed: times by operator, memory in one line, and all comparisons folded. @param {ReleaseHistory} history @param {ReleaseStep} step */
function stepSection(history, step) {
  const { after, before, time } = step;
  const times = step.differences.map(({ case: index, operator }) => ({
    ...ratioOf(step, index),
    operator: operator || "operator not known",
  }));
  const memory = step.memory_differences.map((index) => ratioOf(step, index));
  const all = fold(`All ${plural(step.ratios.length, "comparison")}`);
  all.addEventListener("toggle", () => {
    if (!all.open || all.children.length > 1) return;
    /** @type {StepRow[]} */
    const rows = [...step.ratios, ...step.values, ...step.unmeasured].sort(
      (a, b) => a.case - b.case,
    );
    all.append(
      drawTable(`${after} against ${before}`, stepColumns(history), rows, {
        className: "list cards",
      }),
    );
  });
  const summary = `time: ${time.worse} slower, ${time.better} faster of ${time.count}, mean ${time.mean_text}`;
  return el(
    "section",
    { class: "commit-group", id: idOf(history, step) },
    el("h3", {}, after, muted(` against ${before} · ${summary}`)),
    times.length
      ? drawTable(`What ${after} changed`, stepColumns(history), times, {
          className: "list cards changes",
          first: OPEN,
        })
      : null,
    memory.length
      ? fold(
          step.memory_text,
          drawTable(`Memory of ${after}`, stepColumns(history), memory, {
            className: "list cards changes",
          }),
        )
      : el("p", { class: "note" }, step.memory_text),
    all,
  );
}

/** @param {ReleaseHistory} history @param {ReleaseStep} step */
const idOf = (history, { after }) => `release-${idPartOf(history)}-${after}`;

/** What tells the ids of several histories apart. @param {ReleaseHistory} history */
const idPartOf = (history) => `${history.machine}-${nameOf(history)}`.replace(/[^\w.-]/g, "-");

/** @param {ReleaseHistory} history */
const nameOf = (history) => history.package || getModel().index.project.name;

/** What was compared, where, and what the charts show. @param {ReleaseHistory} history */
const lead = (history) => {
  const { machine, cpu, versions, steps } = history;
  const ratios = steps.reduce((sum, step) => sum + step.ratios.length, 0);
  return (
    `${nameOf(history)} ${versions[0]} to ${versions.at(-1)} on ${machine}${cpu ? ` (${cpu})` : ""}: ` +
    `${plural(ratios, "comparison")}, each of two neighbouring releases. ` +
    `The charts show time relative to ${versions.at(-1)}: less is faster.`
  );
};

/** @param {ReleaseHistory} history */
function drawHistory(history) {
  const { steps, method, failed } = history;
  const sentences = [...method, ...failed.map(({ version, reason }) => `${version}: ${reason}`)];
  const part = idPartOf(history);
  return [
    el(
      "nav",
      { class: "contents", "aria-label": "Releases" },
      el("a", { href: `#findings-${part}` }, "Differences"),
      steps.map((step) => el("a", { href: `#${idOf(history, step)}` }, step.after)),
      el("a", { href: `#method-${part}` }, "Method"),
    ),
    releaseCharts(history),
    el(
      "section",
      { id: `findings-${part}` },
      el("h2", {}, "What each release changed"),
      steps.map((step) => stepSection(history, step)),
    ),
    el(
      "section",
      { id: `method-${part}` },
      fold(
        "How this was measured, and how sure it is",
        el("ul", {}, ...sentences.map((sentence) => el("li", {}, sentence))),
      ),
    ),
  ];
}

/** @type {View} */
export const releasesView = {
  title: "Releases",
  setup: [],
  mount(app) {
    /** @type {ReleaseHistory[]} */
    let histories = [];
    return async () => {
      if (!app.firstChild) {
        histories = await loadReleases();
        // Others are one click away, or the first would be hard to leave.
        const drawn = histories.map((history, index) =>
          index
            ? fold(lead(history), drawHistory(history))
            : [el("p", { class: "lead" }, lead(history)), drawHistory(history)],
        );
        const none = "No releases were compared yet: `asv-watch releases measure` compares them.";
        app.replaceChildren(...nodesOf(drawn.length ? drawn : [notice(none)]));
      }
      const [first] = histories;
      if (!first) return null;
      return {
        name: "releases",
        title: `What each release of ${nameOf(first)} changed`,
        sheet: () => comparisonSheet(first),
      };
    };
  },
};
