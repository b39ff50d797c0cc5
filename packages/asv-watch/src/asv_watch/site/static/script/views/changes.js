// Changes: those of one commit, or all; times and memory first, exact counts folded.

import { addressOf, currentState, firstParam, linkTo } from "../address.js";
import { getModel } from "../data/model.js";
import { changeColumns, changesTable, sizeOf, tally } from "../page/changes.js";
import { announce, el, fillAnew, fold, muted, notice, part } from "../page/elements.js";
import { isOfSetup, matcher, searchField, selectField, unknownCommit } from "../page/fields.js";
import { commandBlock } from "../page/save.js";
import {
  caseName,
  casePage,
  commitLink,
  nameOf,
  repositoryLink,
  seriesOf,
  signsHelp,
  wordsOf,
} from "../page/signs.js";
import { columnOf, sheetOf } from "../page/tables.js";
import { formatDay, plural, shortHash } from "../text/format.js";

/** How a change was found. @param {Change} change */
const howOf = ({ state, through }) => (through ? `${state} through ${through}` : state);

/**
 * The columns of a table of changes by commits.
 * @param {Change[]} changes
 * @returns {Column<Change>[]}
 */
export function commitColumns(changes) {
  const { commits } = getModel();
  /** @param {(change: Change) => unknown} value */
  const differs = (value) => new Set(changes.map(value)).size > 1;
  const machines = differs((change) => seriesOf(change).m);
  const environments = differs((change) => seriesOf(change).e);
  return [
    columnOf("Case", (change) => nameOf(seriesOf(change)), {
      draw: (change) => {
        const series = seriesOf(change);
        const where = [
          machines ? series.machine.name : "",
          environments ? series.environment.short : "",
        ].filter(Boolean);
        return [
          el("a", { href: casePage(series) }, caseName(series.case)),
          muted(` ${where.join(" · ")}`),
        ];
      },
    }),
    ...changeColumns(changes),
    columnOf("State", howOf, { look: "text", hidden: !differs(howOf) }),
    columnOf("Since", ({ c }) => commits[c]?.hash, {
      look: "text",
      draw: ({ c }) => [commitLink(c), ` ${commits[c]?.subject}`],
    }),
    columnOf("Before → after", ({ values }) => values?.join(" → "), { hidden: true }),
    columnOf("Machine", (change) => seriesOf(change).machine.name, { hidden: true }),
  ];
}

/** The commits that a change may come from, with a diff or a command. @param {CommitRange} range */
export function drawRange(range) {
  const model = getModel();
  const items = range.commits.map(([hash, date, subject, touches]) =>
    el(
      "li",
      { class: touches ? null : "muted" },
      repositoryLink(hash),
      ` ${formatDay(date)} ${subject}`,
      touches ? el("span", { class: "tag" }, "touches what is measured") : null,
    ),
  );
  const diff = /^https?:\/\//.test(range.diff)
    ? el("a", { href: range.diff, rel: "noreferrer" }, "Diff")
    : null;
  return fold(
    `${plural(range.commits.length + range.more, "commit")} after ${model.shortOf(range.p)}, ` +
      `up to ${model.shortOf(range.c)}`,
    el("ul", {}, items, range.more ? el("li", {}, `${range.more} more`) : null),
    diff,
    commandBlock(range.command),
    "To call it expected, add to results/notes.toml:",
    commandBlock(
      `[[change]]\ncommit = "${range.culprit ?? model.commits[range.c]?.hash}"\n` +
        'kind = "expected"\ntext = "WHY"\nby = "NAME"',
    ),
  );
}

/** The changes that pass the filters, the newest first. @param {State} state @param {number} rev */
function chosen(state, rev) {
  const { changes, commits } = getModel();
  const direction = firstParam(state, "direction");
  const matches = matcher(firstParam(state, "q"));
  const found = changes.filter((change) => {
    const series = seriesOf(change);
    if (rev >= 0 && !(change.p < rev && rev <= change.c)) return false;
    if (!isOfSetup(series, state)) return false;
    if (direction && change.verdict !== direction) return false;
    const { hash = "", subject = "" } = commits[change.c] ?? {};
    return matches([wordsOf(series.case), hash, subject, change.cause].join(" "));
  });
  return found.sort((a, b) => b.c - a.c || sizeOf(b) - sizeOf(a));
}

/** The commit in view, and the commits that changes of it may come from. @param {State} state @param {number} rev */
function commitBar(state, rev) {
  const { commits, index, shortOf } = getModel();
  const commit = commits[rev];
  if (!commit) return [];
  const ranges = index.ranges.filter(({ p, c }) => p < rev && rev <= c);
  const before = Math.min(rev - 1, ...ranges.map(({ p }) => p));
  const sides = { by: "commit", a: shortOf(before), b: shortOf(rev) };
  return [
    el(
      "div",
      { class: "commit-bar" },
      el(
        "span",
        { class: "subject" },
        repositoryLink(commit.hash),
        ` · ${formatDay(commit.date)} · ${commit.subject} `,
        commit.tags.map((tag) => el("span", { class: "tag" }, tag)),
      ),
      el("a", { href: linkTo("compare", sides) }, "all its values"),
      el("a", { href: addressOf("changes", { ...state.params, rev: null }) }, "all commits"),
    ),
    ranges.map(drawRange),
  ];
}

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
  const columns = commitColumns(changes).filter(({ text }) => text !== "Since");
  return el(
    "section",
    { class: "commit-group" },
    el("h2", {}, title, muted(`${where} · ${seriesOf(first).machine.name}`)),
    ["time", "memory"].map((kind) =>
      tally(
        changes.filter((change) => change.kind === kind),
        kind,
      ),
    ),
    changesTable(`Changes by ${name}`, columns, changes.sort(byWeight)),
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
      options: () => [["", "both"], "worse", "better"],
    });
    const words = searchField("q", "Words", "case, suite or commit");
    const lead = el("p", { class: "lead" });
    const out = el("div", {});
    const fields = el("div", { class: "fields" }, direction.node, words.node);
    app.replaceChildren(lead, el("div", { class: "head" }, fields, signsHelp()), out);
    return (state) => {
      direction.show(state);
      words.show(state);
      const asked = firstParam(state, "rev");
      const rev = asked ? getModel().findCommit(asked) : -1;
      if (asked && rev < 0) throw new Error(unknownCommit(asked));
      const changes = chosen(state, rev);
      const counts = changes.filter(({ kind }) => kind === "exact");
      const others = changes.filter(({ kind }) => kind !== "exact");
      const measured = others.filter((change) => change.state === "measured");
      const guesses = others.filter((change) => change.state === "suspected");
      const suspected = guesses.filter((change) => change.may_be_code).length;
      const open = suspected
        ? ` ${plural(guesses.length, "suspected change")}, ${suspected} still to be measured.`
        : "";
      lead.textContent = `${plural(measured.length, "measured change")}.${open}`;
      const ofCounts = changesTable("Changes of exact counts", commitColumns(counts), counts);
      fillAnew(
        out,
        commitBar(state, rev),
        others.length ? drawGroups(measured) : notice("No time or memory changed here."),
        part(
          "Suspected, not measured yet",
          changesTable("Suspected changes", commitColumns(guesses), guesses),
        ),
        fold(`${plural(counts.length, "change")} of exact counts`, ofCounts),
      );
      announce(lead.textContent);
      const sheet = () => sheetOf(commitColumns(changes), changes);
      return { name: "changes", title: "Changes", sheet };
    };
  },
};
