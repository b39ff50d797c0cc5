// About the data: how the newest run of every case went. All else stands in the page itself.

import { addressOf, firstParam } from "../address.js";
import { getModel } from "../data/model.js";
import { announce, el, fold, muted, nodesOf, notice } from "../page/elements.js";
import { isOfSetup } from "../page/setup.js";
import {
  caseName,
  casePage,
  commitLink,
  nameOf,
  OUTCOME_NAMES,
  outcomeTag,
} from "../page/signs.js";
import { columnOf, drawTable, sheetOf } from "../page/tables.js";
import { formatCount, plural } from "../text/format.js";

/** Outcomes that need a look. @type {Outcome[]} */
const TROUBLE = ["failed", "timed out"];

/** The series of the machine and environment that an address names. @param {State} state */
const seriesHere = (state) => getModel().series.filter((series) => isOfSetup(series, state));

/** @param {State} state */
function chosen(state) {
  const outcome = firstParam(state, "outcome");
  return seriesHere(state).filter(({ status }) =>
    outcome ? status === outcome : TROUBLE.includes(status),
  );
}

/** Why the newest run has no value, or is not of the newest commit. @param {Series} series */
function why({ status, behind, reason, text }) {
  if (status === "stale") return `${plural(behind, "commit")} behind the newest`;
  const whole = text === null ? null : getModel().index.texts[text];
  if (!whole) return reason || (status === "failed" ? "the run left no message" : "");
  return el("details", {}, el("summary", {}, reason), el("pre", {}, whole));
}

/** @param {Series} series */
const placeOf = ({ machine, environment }) => `${machine.name} · ${environment.short}`;

/** @type {Column<Series>[]} */
const COLUMNS = [
  columnOf("Case", nameOf, {
    draw: (series) => el("a", { href: casePage(series) }, caseName(series.case)),
  }),
  columnOf("Newest run", ({ status }) => status, { draw: ({ status }) => outcomeTag(status) }),
  columnOf("Why", ({ reason }) => reason, { wrap: true, draw: why }),
  columnOf("Commit", ({ newestRun }) => getModel().commits[newestRun ?? -1]?.hash, {
    draw: ({ newestRun }) => (newestRun === null ? "–" : commitLink(newestRun)),
  }),
  columnOf("Machine", ({ machine, environment }) => `${machine.name} ${environment.label}`, {
    draw: placeOf,
  }),
];

/** How many cases have each outcome, as filters. @param {State} state */
function tallyLinks(state) {
  const now = firstParam(state, "outcome");
  const here = seriesHere(state);
  return OUTCOME_NAMES.flatMap((outcome) => {
    const count = here.filter((series) => series.status === outcome).length;
    if (!count) return [];
    const href = addressOf("about", {
      ...state.params,
      outcome: now === outcome ? null : outcome,
    });
    const current = now === outcome ? "true" : null;
    return el(
      "a",
      { class: "button", href, "aria-current": current },
      outcomeTag(outcome),
      ` ${formatCount(count)}`,
    );
  });
}

/** What failed, by reason: the reason of most cases first. @param {Series[]} failed */
function drawReasons(failed) {
  const groups = Map.groupBy(failed, (one) => one.reason || `${one.status} without a message`);
  const ordered = [...groups].sort(([, a], [, b]) => b.length - a.length);
  return ordered.map(([reason, members]) => {
    const where = [...new Set(members.map(placeOf))];
    const places = where.length > 3 ? `${where.length} environments` : where.join("; ");
    const size = ` ${plural(members.length, "case")}: ${reason}`;
    const head = [outcomeTag(members[0]?.status ?? "failed"), size, muted(` · ${places}`)];
    return fold(head, drawTable(reason, COLUMNS, members, { first: 50 }));
  });
}

/** How many cases were skipped, by reason. @param {Series[]} skipped */
function drawSkipped(skipped) {
  const groups = [...Map.groupBy(skipped, ({ reason }) => reason || "no reason given")];
  const lines = groups.sort(([, a], [, b]) => b.length - a.length);
  return skipped.length
    ? el(
        "p",
        {},
        `${plural(skipped.length, "case")} skipped: `,
        lines.map(([reason, members]) => `${formatCount(members.length)} ${reason}`).join(", "),
        ".",
      )
    : null;
}

/** @type {View} */
export const aboutView = {
  title: "About the data",
  setup: ["m", "e"],
  allMachines: true,
  mount(app) {
    const tally = el("p", { class: "tally" });
    const out = el("div", {});
    app.replaceChildren(tally, out);
    return (state) => {
      tally.replaceChildren(...tallyLinks(state));
      const list = chosen(state);
      const chose = Boolean(firstParam(state, "outcome"));
      const nothing = notice(chose ? "No case." : "No case failed in its newest run.");
      const drawn = chose
        ? [drawTable("The newest run of each case", COLUMNS, list, { state, first: 50 })]
        : drawReasons(list);
      const skipped = seriesHere(state).filter(({ status }) => status === "skipped");
      out.replaceChildren(
        ...nodesOf([list.length ? drawn : nothing, chose ? null : drawSkipped(skipped)]),
      );
      announce(`${plural(list.length, "case")}.`);
      return { name: "outcomes", title: "Newest runs", sheet: () => sheetOf(COLUMNS, list) };
    };
  },
};
