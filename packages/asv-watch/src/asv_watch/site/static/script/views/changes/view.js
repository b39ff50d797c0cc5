// Changes: those of one commit, or all; times and memory first, exact counts folded.

import { addressOf, currentState, firstParam, linkTo } from "../../address.js";
import { getModel } from "../../data/model.js";
import { announce, el, fold, muted, nodesOf, notice, part } from "../../page/elements.js";
import { matcher, searchField, selectField, unknownCommit } from "../../page/fields.js";
import { isOfSetup } from "../../page/setup.js";
import { repositoryLink, seriesOf, signsHelp, wordsOf } from "../../page/signs.js";
import { drawTable, sheetOf } from "../../page/tables.js";
import { tally } from "../../page/tally.js";
import { formatDay, plural, shortHash } from "../../text/format.js";
import { commitColumns, drawRange } from "./table.js";

/** @param {Change} change */
const sizeOf = ({ ratio, about }) => Math.abs(Math.log(ratio ?? about ?? 0));

/** The changes that pass the filters, measured ones first. @param {State} state */
function chosen(state) {
  const model = getModel();
  const wanted = (/** @type {string} */ key) => firstParam(state, key);
  const rev = wanted("rev") ? model.findCommit(wanted("rev")) : -1;
  if (wanted("rev") && rev < 0) throw new Error(unknownCommit(wanted("rev")));
  const matches = matcher(wanted("q"));
  const found = model.changes.filter((change) => {
    const series = seriesOf(change);
    if (rev >= 0 && !(change.p < rev && rev <= change.c)) return false;
    if (!isOfSetup(series, state)) return false;
    if (wanted("direction") && change.verdict !== wanted("direction")) return false;
    const { hash = "", subject = "" } = model.commits[change.c] ?? {};
    return matches([wordsOf(series.case), hash, subject, change.cause].join(" "));
  });
  /** @param {Change} change */
  const suspected = (change) => Number(change.state === "suspected");
  return found.sort((a, b) => suspected(a) - suspected(b) || b.c - a.c || sizeOf(b) - sizeOf(a));
}

/** The commit in view, with links to the commits before and after it that changed anything. @param {State} state */
function commitBar(state) {
  const model = getModel();
  const text = firstParam(state, "rev");
  const position = text ? model.findCommit(text) : -1;
  const commit = model.commits[position];
  if (!commit) return [];
  const changedCommits = [...new Set(model.changes.map(({ c }) => c))].sort((a, b) => a - b);
  /** A link without an address is none. @param {number | undefined} other @param {string} words */
  function link(other, words) {
    const rev = other === undefined ? null : model.shortOf(other);
    return el("a", { href: rev && addressOf("changes", { ...state.params, rev }) }, words);
  }
  const ranges = model.index.ranges.filter((range) => range.p < position && position <= range.c);
  const before = Math.min(position - 1, ...ranges.map(({ p }) => p));
  const older = changedCommits.findLast((other) => other < position);
  const newer = changedCommits.find((other) => other > position);
  const sides = { by: "commit", a: model.shortOf(before), b: model.shortOf(position) };
  return [
    el(
      "div",
      { class: "commit-bar" },
      link(older, "← older"),
      el(
        "span",
        { class: "subject" },
        repositoryLink(commit.hash),
        ` · ${formatDay(commit.date)} · ${commit.subject} `,
        commit.tags.map((tag) => el("span", { class: "tag" }, tag)),
      ),
      link(newer, "newer →"),
      el("a", { href: linkTo("compare", sides) }, "all its values"),
      el("a", { href: addressOf("changes", { ...state.params, rev: null }) }, "all commits"),
    ),
    ranges.map(drawRange),
  ];
}

/** Changes of a group that are shown at once. */
const OPEN = 8;

/** Times before memory, worse before better, the largest first. @param {Change} a @param {Change} b */
const byWeight = (a, b) =>
  Number(a.kind !== "time") - Number(b.kind !== "time") ||
  Number(a.verdict !== "worse") - Number(b.verdict !== "worse") ||
  sizeOf(b) - sizeOf(a);

/** The commit that made some changes, or those that may have. @param {CommitRange} range */
function titleOf({ p, c, commits, culprit, suspects }) {
  const { shortOf } = getModel();
  const hash = culprit ?? getModel().commits[c]?.hash ?? "";
  const [, date = 0, subject = ""] = commits.find(([other]) => other === hash) ?? [];
  const href = addressOf("changes", { ...currentState().params, rev: shortOf(c) });
  const link = el("a", { href }, el("code", {}, shortHash(hash)));
  const title = culprit
    ? [link, ` ${subject} `]
    : [`One of ${plural(suspects, "commit")} up to `, link, ", not bisected "];
  const where = culprit ? "" : `after ${shortOf(p)} · `;
  return { title, where: `${where}${formatDay(date)}`, name: shortHash(hash) };
}

/** Changes of one commit on one machine. @param {Change[]} changes */
function drawGroup(changes) {
  const [first] = changes;
  const range = first && getModel().index.ranges[first.range];
  if (!range) return [];
  const { title, where, name } = titleOf(range);
  const columns = commitColumns(changes).filter(({ id }) => id !== "since");
  const sizes = Map.groupBy(changes, ({ kind }) => kind);
  return el(
    "section",
    { class: "commit-group" },
    el("h2", {}, title, muted(`${where} · ${seriesOf(first).machine.name}`)),
    [...sizes].map(([kind, of]) =>
      el(
        "p",
        { class: "note" },
        kind === "time" ? null : `${kind}: `,
        tally(
          of.flatMap(({ ratio, verdict }) => (ratio === null ? [] : [{ ratio, verdict }])),
          kind,
        ),
      ),
    ),
    drawTable(`Changes by ${name}`, columns, changes.sort(byWeight), {
      className: "list cards changes",
      first: OPEN,
    }),
  );
}

/** Changes below the commit that made them, or the commits that may have. @param {Change[]} measured */
function drawGroups(measured) {
  const { index } = getModel();
  const groups = Map.groupBy(measured, (change) => {
    const made = index.ranges[change.range]?.culprit ?? change.range;
    return `${seriesOf(change).m} ${made}`;
  });
  return [...groups.values()].map(drawGroup);
}

/** @type {View} */
export const changesView = {
  title: "Changes",
  setup: ["m", "e"],
  allMachines: true,
  mount(app) {
    const direction = selectField("direction", "Direction", {
      options: () => [
        ["", "both"],
        ["worse", "worse"],
        ["better", "better"],
      ],
    });
    const words = searchField("q", "Words", "case, suite or commit");
    const lead = el("p", { class: "lead" });
    const out = el("div", {});
    const signs = signsHelp();
    const fields = el("div", { class: "fields" }, direction.node, words.node);
    app.replaceChildren(lead, el("div", { class: "head" }, fields, signs), out);
    return (state) => {
      direction.show(state);
      words.show(state);
      const changes = chosen(state);
      const counts = changes.filter((change) => change.kind === "exact");
      const others = changes.filter((change) => change.kind !== "exact");
      const measured = others.filter((change) => change.state === "measured");
      const guesses = others.filter((change) => change.state === "suspected");
      const suspected = guesses.filter((change) => change.may_be_code).length;
      const open = suspected
        ? ` ${plural(guesses.length, "suspected change")}, ${suspected} still to be measured.`
        : "";
      lead.textContent = `${plural(measured.length, "measured change")}.${open}`;
      const exact = fold(
        `${plural(counts.length, "change")} of exact counts`,
        drawTable("Changes of exact counts", commitColumns(counts), counts),
      );
      exact.open = !others.length;
      out.replaceChildren(
        ...nodesOf([
          commitBar(state),
          others.length ? drawGroups(measured) : notice("No time or memory changed here."),
          guesses.length
            ? part(
                "Suspected, not measured yet",
                drawTable("Suspected changes", commitColumns(guesses), guesses, {
                  className: "list cards changes",
                  first: OPEN,
                }),
              )
            : null,
          counts.length ? exact : null,
        ]),
      );
      announce(lead.textContent);
      return {
        name: "changes",
        title: "Changes",
        sheet: () => sheetOf(commitColumns(changes), changes),
      };
    };
  },
};
