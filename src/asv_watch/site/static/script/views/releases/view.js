// Releases: how fast every case is with each of them, what each changed, and how that was found.

import { getModel } from "../../data/model.js";
import { loadReleases } from "../../data/registry.js";
import { el, fold, listOf, nodesOf, notice, part } from "../../page/elements.js";
import { casePageOf, changeSign, outcomeTag } from "../../page/signs.js";
import { columnOf, drawTable, sheetOf } from "../../page/tables.js";
import { plural } from "../../text/format.js";
import { releaseCharts } from "./charts.js";

/** @import { Column } from "../../page/tables.js" */

/** @param {ReleaseHistory} history @param {number} at */
function caseLink({ cases }, at) {
  const { key = "", title = "" } = cases[at] ?? {};
  const href = casePageOf(key);
  return href ? el("a", { href }, title) : title;
}

/**
 * @param {ReleaseHistory} history
 * @returns {Column<ReleaseFinding>[]}
 */
function findingColumns(history) {
  return [
    columnOf("Case", ({ case: at }) => history.cases[at]?.title, {
      draw: ({ case: at }) => caseLink(history, at),
    }),
    columnOf("Release", ({ after }) => after, {
      draw: ({ after, before }) => [after, el("span", { class: "muted" }, ` against ${before}`)],
    }),
    columnOf("Change", ({ ratio }) => ratio, {
      number: true,
      draw: ({ text, verdict }) => changeSign({ text, verdict }),
    }),
    columnOf("99 % interval", (found) => found.interval_text),
    columnOf("State", ({ state }) => state),
    columnOf("Why", ({ why }) => why, { wrap: true, draw: ({ why }) => why || "not examined" }),
  ];
}

/** @typedef {{ case: number } & Partial<Compared> & { outcome?: "skipped" | "failed", reason?: string }} StepRow */

/** @param {ReleaseHistory} history @returns {Column<StepRow>[]} */
function stepColumns(history) {
  return [
    columnOf("Case", ({ case: at }) => history.cases[at]?.title, {
      draw: ({ case: at }) => caseLink(history, at),
    }),
    columnOf("Change", ({ ratio, outcome }) => ratio ?? outcome, {
      number: true,
      draw: ({ text, verdict, outcome }) =>
        outcome
          ? outcomeTag(outcome)
          : changeSign({ text: text ?? "", verdict: verdict ?? "same" }),
    }),
    columnOf("99 % interval", (row) => row.interval_text ?? row.reason),
  ];
}

/** @param {ReleaseHistory} history @param {ReleaseStep} step */
function stepSection(history, step) {
  const { after, before, faster, slower, count, mean } = step;
  const summary = `${after} against ${before}: ${faster} faster, ${slower} slower of ${count}; mean ${mean}`;
  const section = fold(summary);
  section.id = idOf(history, step);
  section.addEventListener("toggle", () => {
    if (!section.open || section.children.length > 1) return;
    /** @type {StepRow[]} */
    const rows = [...step.ratios, ...step.values, ...step.unmeasured].sort(
      (a, b) => a.case - b.case,
    );
    section.append(drawTable(summary, stepColumns(history), rows, { className: "list cards" }));
  });
  return section;
}

/** @param {ReleaseHistory} history @param {ReleaseStep} step */
const idOf = (history, { after }) => `release-${placeOf(history)}-${after}`;

/** What tells the ids of several histories apart. @param {ReleaseHistory} history */
const placeOf = (history) => `${history.machine}-${nameOf(history)}`.replace(/[^\w.-]/g, "-");

/** @param {ReleaseHistory} history */
const nameOf = (history) => history.package || getModel().index.project.name;

/** What was compared, where, and what the charts show. @param {ReleaseHistory} history */
const lead = (history) => {
  const { machine, cpu, versions, steps } = history;
  const times = steps.reduce((sum, step) => sum + step.count, 0);
  return (
    `${nameOf(history)} ${versions[0]} to ${versions.at(-1)} on ${machine}${cpu ? ` (${cpu})` : ""}: ` +
    `${plural(times, "comparison")}, each of two neighbouring releases. ` +
    `The charts show time relative to ${versions.at(-1)}: less is faster.`
  );
};

/** @param {ReleaseHistory} history */
function drawHistory(history) {
  const { steps, findings, method, failed } = history;
  const place = placeOf(history);
  return [
    el("p", { class: "lead" }, lead(history)),
    el(
      "nav",
      { class: "contents", "aria-label": "Releases" },
      el("a", { href: `#findings-${place}` }, "Differences"),
      steps.map((step) => el("a", { href: `#${idOf(history, step)}` }, step.after)),
      el("a", { href: `#method-${place}` }, "Method"),
    ),
    releaseCharts(history),
    el(
      "section",
      { id: `findings-${place}` },
      el("h2", {}, "What each release changed"),
      findings.length
        ? drawTable("Differences between releases", findingColumns(history), findings, {
            className: "list cards",
            first: 20,
          })
        : notice("No case differs between two releases."),
    ),
    part(
      "Release by release",
      steps.map((step) => stepSection(history, step)),
    ),
    el(
      "section",
      { id: `method-${place}` },
      fold(
        "How this was measured, and how sure it is",
        listOf([...method, ...failed.map(({ version, reason }) => `${version}: ${reason}`)]),
      ),
    ),
  ];
}

/** @type {View} */
export const releasesView = {
  title: "Releases",
  place: [],
  mount(app) {
    /** @type {ReleaseHistory[]} */
    let histories = [];
    return async () => {
      if (!app.firstChild) {
        histories = await loadReleases();
        app.replaceChildren(
          ...nodesOf(
            histories.length
              ? histories.map(drawHistory)
              : [notice("No releases are compared yet; asv-watch releases measure does so.")],
          ),
        );
      }
      const [first] = histories;
      if (!first) return null;
      return {
        name: "releases",
        title: `What each release of ${nameOf(first)} changed`,
        sheet: () => sheetOf(findingColumns(first), first.findings),
      };
    };
  },
};
