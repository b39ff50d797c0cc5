// Releases: how fast every case is with each of them, what each changed, and how that was found.

import { addressOf, firstParam } from "../../address.js";
import { drawBar, sharedScale } from "../../charts/bars.js";
import { getModel } from "../../data/model.js";
import { loadReleases } from "../../data/registry.js";
import { el, fold, muted, nodesOf, notice } from "../../page/elements.js";
import { casePageOf, changeLine, daysText, outcomeTag } from "../../page/signs.js";
import { columnOf, drawTable, sheetOf } from "../../page/tables.js";
import { tally } from "../../page/tally.js";
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

/** @param {StepRow} row @returns {Bar[]} */
const barOf = ({ ratio, interval, verdict = "same", pale }) =>
  ratio && interval ? [{ ratio, interval, verdict, pale }] : [];

/** @param {ReleaseHistory} history @param {StepRow[]} rows all that share a scale @returns {Column<StepRow>[]} */
function stepColumns(history, rows) {
  const scale = sharedScale(rows.flatMap(barOf));
  /** @param {StepRow} row */
  const drawChange = (row) => {
    const { verdict = "same", text = "", days, pale, outcome } = row;
    if (outcome) return outcomeTag(outcome);
    const bars = barOf(row).map((bar) => drawBar(bar, scale));
    return changeLine(bars, { text, verdict, days, pale }, row.interval_text);
  };
  return [
    columnOf("Case", ({ case: index }) => history.cases[index]?.title, {
      draw: ({ case: index }) => caseLink(history, index),
    }),
    columnOf("Change", ({ ratio, outcome }) => ratio ?? outcome, { draw: drawChange }),
    columnOf("99 % interval", (row) => row.interval_text, { hidden: true }),
    columnOf("Shown on", ({ days }) => daysText(days), { wrap: true }),
    columnOf("Why", ({ operator, reason }) => operator || reason, { wrap: true }),
  ];
}

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

/** Differences of one cause stand together, the largest first; those without one come last. @param {StepRatio[]} differing */
function byCause(differing) {
  /** @param {StepRatio} row */
  const size = ({ ratio }) => Math.abs(Math.log(ratio));
  const sorted = [...differing].sort((a, b) => size(b) - size(a));
  const groups = [...Map.groupBy(sorted, ({ operator }) => operator)];
  return groups.sort(([a], [b]) => Number(!a) - Number(!b)).flatMap(([, rows]) => rows);
}

/** What one release changed: times by cause, memory folded, and all comparisons folded. @param {ReleaseHistory} history @param {ReleaseStep} step */
function stepSection(history, step) {
  const { after, before } = step;
  const [times, memory] = ["time", "memory"].map((metric) =>
    step.ratios.filter((ratio) => ratio.metric === metric),
  );
  /** @param {StepRatio[]} ratios @param {string} kind */
  const together = (ratios, kind) => tally(ratios, kind, ratios.filter(isMain));
  /** @param {StepRatio} ratio */
  const isMain = ({ case: index }) => history.cases[index]?.main;
  /** @param {string} caption @param {StepRow[]} rows @param {(row: StepRow) => string} [groupOf] */
  const table = (caption, rows, groupOf) =>
    drawTable(caption, stepColumns(history, rows), rows, {
      className: "list cards changes",
      first: groupOf ? OPEN : undefined,
      groupOf,
      headingOf: (group) => group,
    });
  const all = fold(`All ${plural(step.ratios.length, "comparison")}`);
  all.addEventListener("toggle", () => {
    if (!all.open || all.children.length > 1) return;
    const rows = [...step.ratios, ...step.values, ...step.unmeasured];
    all.append(
      table(
        `${after} against ${before}`,
        rows.sort((a, b) => a.case - b.case),
      ),
    );
  });
  const slower = byCause(times?.filter(({ verdict }) => verdict !== "same") ?? []);
  const larger = memory?.filter(({ verdict }) => verdict !== "same") ?? [];
  const hasCauses = slower.some(({ operator }) => operator);
  return el(
    "section",
    { class: "commit-group", id: idOf(history, step) },
    el("h3", {}, after, muted(` against ${before}`)),
    times?.length ? el("p", { class: "note" }, "time: ", together(times, "time")) : null,
    slower.length
      ? table(`What ${after} changed`, slower, ({ operator }) =>
          hasCauses ? operator || "no profile" : "",
        )
      : null,
    larger.length
      ? fold(["memory: ", together(memory ?? [], "memory")], table(`Memory of ${after}`, larger))
      : memory?.length
        ? el("p", { class: "note" }, `memory: no change in ${plural(memory.length, "case")}`)
        : null,
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
        app.replaceChildren(
          ...nodesOf([
            tabs(histories, shown),
            m && !here.length ? notice(`${m} compared no releases.`) : null,
            el("p", { class: "lead" }, lead(shown)),
            drawHistory(shown),
          ]),
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
