// Releases: how fast every case is with each of them, what each changed, and how that was found.

import { addressOf, firstParam } from "../../address.js";
import { getModel } from "../../data/model.js";
import { loadReleases } from "../../data/files.js";
import { changeColumns, changesTable, sizeOf, tally } from "../../page/changes.js";
import { el, fillAnew, fold, muted, notice } from "../../page/elements.js";
import { casePageOf } from "../../page/signs.js";
import { columnOf, sheetOf } from "../../page/tables.js";
import { plural } from "../../text/format.js";
import { releaseCharts } from "./charts.js";

/** @param {ReleaseHistory} history @param {StepRatio[]} rows @returns {Column<StepRatio>[]} */
const stepColumns = ({ cases }, rows) => [
  columnOf("Case", ({ case: index }) => cases[index]?.title, {
    draw: ({ case: index }) => {
      const { key = "", title = "" } = cases[index] ?? {};
      return el("a", { href: casePageOf(key) }, title);
    },
  }),
  ...changeColumns(rows),
];

/** All comparisons, as they are saved. @param {ReleaseHistory} history */
const comparisonSheet = (history) => {
  const rows = history.steps.flatMap((step) =>
    step.ratios.map((ratio) => ({ ...step, ...ratio })),
  );
  return sheetOf(
    [
      columnOf("Release", ({ after }) => after),
      columnOf("Before", ({ before }) => before),
      .../** @type {Column<(typeof rows)[number]>[]} */ (stepColumns(history, rows)),
    ],
    rows,
  );
};

/** Differences by cause, the largest first; then those of times without one, then memory. @param {StepRatio[]} ratios */
function byCause(ratios) {
  const sorted = ratios.filter(({ verdict }) => verdict !== "same");
  sorted.sort((a, b) => sizeOf(b) - sizeOf(a));
  const groups = Map.groupBy(sorted, causeOf);
  const last = ["", "memory"];
  return [...groups.keys()]
    .sort((a, b) => last.indexOf(a) - last.indexOf(b))
    .flatMap((cause) => groups.get(cause) ?? []);
}

/** @param {StepRatio} row */
const causeOf = ({ cause, metric }) => (metric === "memory" ? metric : cause);

/** All comparisons of two versions, in Compare. @param {ReleaseHistory} history @param {ReleaseStep} step */
function compareLink({ machine, package: requirement }, { before, after, ratios }) {
  const sides = { by: requirement ? "release" : "commit", a: before, b: after };
  const href = addressOf("compare", { ...sides, m: machine, group: "*" });
  return el("a", { href }, `All ${plural(ratios.length, "comparison")}`);
}

/** Why cases were not measured, and how many. @param {ReleaseStep} step */
const unmeasuredText = ({ unmeasured }) =>
  [...Map.groupBy(unmeasured, ({ outcome, reason }) => `${outcome}: ${reason}`)]
    .map(([reason, { length }]) => ` ${plural(length, "case")} ${reason}.`)
    .join("");

/** What one release changed. @param {ReleaseHistory} history @param {ReleaseStep} step */
function stepSection(history, step) {
  const { after, before, ratios } = step;
  const rows = byCause(ratios);
  const hasCauses = rows.some(({ cause }) => cause);
  return el(
    "section",
    { class: "commit-group", id: `release-${after}` },
    el("h3", {}, after, muted(` against ${before}`)),
    ["time", "memory"].map((kind) => {
      const all = ratios.filter(({ metric }) => metric === kind);
      const main = all.filter(({ case: index }) => history.cases[index]?.main);
      return tally(all, kind, main);
    }),
    changesTable(
      `What ${after} changed`,
      stepColumns(history, rows),
      rows,
      (row) => causeOf(row) || (hasCauses ? "no profile" : ""),
    ),
    el("p", { class: "note" }, compareLink(history, step), unmeasuredText(step)),
  );
}

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
  return [
    el(
      "nav",
      { class: "contents", "aria-label": "Releases" },
      el("a", { href: "#findings" }, "Differences"),
      steps.map(({ after }) => el("a", { href: `#release-${after}` }, after)),
      el("a", { href: "#method" }, "Method"),
    ),
    releaseCharts(history),
    el(
      "section",
      { id: "findings" },
      el("h2", {}, "What each release changed"),
      steps.map((step) => stepSection(history, step)),
    ),
    el(
      "section",
      { id: "method" },
      fold(
        "How this was measured, and how sure it is",
        el("ul", {}, ...sentences.map((sentence) => el("li", {}, sentence))),
      ),
    ),
  ];
}

/** Links to the machines that compared releases, or versions of the project. @param {ReleaseHistory[]} histories @param {ReleaseHistory} shown */
const tabs = (histories, shown) =>
  el(
    "nav",
    { class: "tabs", "aria-label": "Machines" },
    histories.map((history) => {
      const href = addressOf("releases", { m: history.machine, of: nameOf(history) });
      const current = history === shown ? "true" : null;
      const name = `${history.machine} · ${nameOf(history)}`;
      return el("a", { class: "button", href, "aria-current": current }, name);
    }),
  );

/** @type {View} */
export const releasesView = {
  title: "Releases",
  setup: [],
  mount(app) {
    /** @type {ReleaseHistory | undefined} */
    let drawn;
    return async (state) => {
      const histories = await loadReleases();
      const [m, of] = [firstParam(state, "m"), firstParam(state, "of")];
      const here = histories.filter(({ machine }) => machine === m);
      const shown = here.find((history) => nameOf(history) === of) ?? here[0] ?? histories[0];
      if (!shown) {
        const none = "No releases were compared yet: `asv-watch releases measure` compares them.";
        app.replaceChildren(notice(none));
        return null;
      }
      if (shown !== drawn)
        fillAnew(
          app,
          tabs(histories, shown),
          m && !here.length ? notice(`${m} compared no releases.`) : null,
          el("p", { class: "lead" }, lead(shown)),
          drawHistory(shown),
        );
      drawn = shown;
      return {
        name: "releases",
        title: `What each release of ${nameOf(shown)} changed`,
        sheet: () => comparisonSheet(shown),
      };
    };
  },
};
