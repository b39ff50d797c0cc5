// The table of changes by commits, and the commits that a change may come from.

import { getModel } from "../../data/model.js";
import { commandBlock } from "../../page/save.js";
import { changeColumns } from "../../page/changes.js";
import { el, fold, muted } from "../../page/elements.js";
import {
  caseName,
  casePage,
  commitLink,
  nameOf,
  repositoryLink,
  seriesOf,
} from "../../page/signs.js";
import { formatDay, plural } from "../../text/format.js";
import { columnOf } from "../../page/tables.js";

/** How a change was found. @param {Change} change */
const howOf = ({ state, through }) => (through ? `${state} through ${through}` : state);

/**
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
    columnOf("State", howOf, { wrap: true, hidden: !differs(howOf) }),
    columnOf("Since", ({ c }) => commits[c]?.hash, {
      wrap: true,
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
