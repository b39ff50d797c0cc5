// Changes: those of one commit, or all; times and memory first, exact counts folded.

import { addressOf, firstParam, linkTo } from "../../address.js";
import { getModel } from "../../data/model.js";
import { announce } from "../../page/announce.js";
import { el, fold, nodesOf } from "../../page/elements.js";
import { foldedFields, searchField, selectField, unknownCommit } from "../../page/fields.js";
import { signsHelp } from "../../page/legend.js";
import { repositoryLink } from "../../page/signs.js";
import { drawTable, sheetOf, sortedRows } from "../../page/tables.js";
import { capital, formatDay, plural } from "../../text/format.js";
import { nameOf, seriesOf } from "../bar-rows.js";
import { notice } from "../view.js";
import { changeColumns, drawRange } from "./table.js";

/** @import { State } from "../../address.js" */
/** @import { Change } from "../../../types.js" */
/** @import { View } from "../view.js" */

/** Smallest relative changes to choose from. @type {[string, string][]} */
const SIZES = [
  ["", "any size"],
  ["0.03", "at least 3%"],
  ["0.1", "at least 10%"],
  ["0.5", "at least 50%"],
];

/** @param {Change} change */
const sizeOf = ({ ratio, about }) => Math.abs(Math.log(ratio ?? about ?? 0));

/** The changes that pass the filters, measured ones first. @param {State} state */
function chosen(state) {
  const model = getModel();
  const [rev, since] = ["rev", "since"].map((key) => {
    const text = firstParam(state, key);
    const at = text ? model.findCommit(text) : -1;
    if (text && at < 0) throw new Error(unknownCommit(text));
    return at;
  });
  const wanted = (/** @type {string} */ key) => firstParam(state, key);
  const least = Math.log1p(Number(wanted("size")) || 0);
  const words = wanted("q").toLowerCase().split(/\s+/).filter(Boolean);
  const found = model.changes.filter((change) => {
    const series = seriesOf(change);
    if (rev !== undefined && rev >= 0 && !(change.p < rev && rev <= change.c)) return false;
    if (since !== undefined && since >= 0 && change.c < since) return false;
    if (wanted("m") && series.machine.name !== wanted("m")) return false;
    if (wanted("m") && wanted("e") && series.environment.id !== wanted("e")) return false;
    if (wanted("state") && change.state !== wanted("state")) return false;
    if (wanted("direction") && change.verdict !== wanted("direction")) return false;
    if (wanted("group") && series.case.line.group !== wanted("group")) return false;
    if (least && sizeOf(change) < least) return false;
    const { hash = "", subject = "" } = model.commits[change.c] ?? {};
    const text = `${nameOf(series)} ${series.case.key} ${hash} ${subject} ${change.cause}`;
    return words.every((word) => text.toLowerCase().includes(word));
  });
  /** @param {Change} change */
  const suspected = (change) => Number(change.state === "suspected");
  return found.sort((a, b) => suspected(a) - suspected(b) || b.c - a.c || sizeOf(b) - sizeOf(a));
}

/** The commit in view, with links to the commits before and after it that changed anything. @param {State} state */
function commitBar(state) {
  const model = getModel();
  const text = firstParam(state, "rev");
  const at = text ? model.findCommit(text) : -1;
  const commit = model.commits[at];
  if (!commit) return [];
  const places = [...new Set(model.changes.map(({ c }) => c))].sort((a, b) => a - b);
  /** @param {number | undefined} place @param {string} words */
  const link = (place, words) =>
    place === undefined
      ? el("span", { class: "muted" }, words)
      : el(
          "a",
          { href: addressOf("changes", { ...state.params, rev: model.shortOf(place) }) },
          words,
        );
  const ranges = model.index.ranges.filter((range) => range.p < at && at <= range.c);
  return [
    el(
      "div",
      { class: "commit-bar" },
      link(
        places.findLast((place) => place < at),
        "← older",
      ),
      el(
        "span",
        { class: "subject" },
        repositoryLink(commit.hash),
        ` · ${formatDay(commit.date)} · ${commit.subject} `,
        commit.tags.map((tag) => el("span", { class: "tag" }, tag)),
      ),
      link(
        places.find((place) => place > at),
        "newer →",
      ),
      el("a", { href: addressOf("changes", { ...state.params, rev: null }) }, "all commits"),
    ),
    ranges.map(drawRange),
    el(
      "p",
      { class: "note" },
      el(
        "a",
        { href: linkTo("compare", { by: "commit", b: model.shortOf(at) }) },
        "Compare all values",
      ),
      " of this commit with another.",
    ),
  ];
}

/** @type {View} */
export const changesView = {
  title: "Changes",
  place: ["m", "e"],
  allMachines: true,
  mount(app) {
    const { index } = getModel();
    const groups = index.groups.map(({ name }) => name).filter(Boolean);
    const filters = foldedFields("Filters", {
      state: selectField("state", "State", {
        options: () => [
          ["", "any"],
          ["measured", "measured"],
          ["suspected", "suspected"],
        ],
      }),
      direction: selectField("direction", "Direction", {
        options: () => [
          ["", "both"],
          ["worse", "worse"],
          ["better", "better"],
        ],
      }),
      size: selectField("size", "Size", { options: () => SIZES }),
      group: selectField("group", "Suite", {
        options: () => [
          ["", "all"],
          ...groups.map((name) => /** @type {[string, string]} */ ([name, name])),
        ],
      }),
      q: searchField("q", "Words", "case or commit"),
    });
    const tally = el("p", { class: "lead" });
    const out = el("div", {});
    const signs = signsHelp("change");
    app.replaceChildren(tally, el("div", { class: "head" }, filters.node, signs), out);
    return (state) => {
      filters.show(state);
      const changes = chosen(state);
      const counts = changes.filter((change) => change.kind === "exact");
      const others = changes.filter((change) => change.kind !== "exact");
      const measured = others.filter((change) => change.state === "measured");
      const suspected = others.length - measured.length;
      tally.textContent =
        `${capital(plural(measured.length, "measured change"))}. ` +
        `${plural(suspected, "suspected change")} still to be measured.`;
      const columns = changeColumns(others);
      const exact = fold(
        `${plural(counts.length, "change")} of exact counts`,
        drawTable("Changes of exact counts", changeColumns(counts), counts, { state }),
      );
      exact.open = !others.length;
      out.replaceChildren(
        ...nodesOf([
          commitBar(state),
          others.length
            ? drawTable("Changes of times and memory", columns, others, {
                state,
                className: "list cards changes",
              })
            : notice("No time or memory changed here."),
          counts.length ? exact : null,
        ]),
      );
      announce(tally.textContent);
      return {
        name: "changes",
        title: "Changes",
        sheet: () => sheetOf(columns, sortedRows(columns, changes, firstParam(state, "sort"))),
      };
    };
  },
};
