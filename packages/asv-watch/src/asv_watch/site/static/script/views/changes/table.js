// The table of changes: a line for each, with its bar; and the commits that one may come from.

import { drawBar, sharedScale } from "../../charts/bars.js";
import { getModel } from "../../data/model.js";
import { commandBlock } from "../../page/save.js";
import { el, fold, muted } from "../../page/elements.js";
import {
  caseName,
  casePage,
  changeLine,
  commitLink,
  daysText,
  nameOf,
  repositoryLink,
  seriesOf,
} from "../../page/signs.js";
import { formatDay, plural } from "../../text/format.js";
import { columnOf } from "../../page/tables.js";

/** A suspected change has a hollow bar. @param {Change} change @returns {Bar[]} */
function barOf({ ratio, about, interval, verdict, pale }) {
  const size = ratio ?? about;
  return size === null ? [] : [{ ratio: size, interval, verdict, pale }];
}

/** How a change was found. @param {Change} change */
const howOf = ({ state, through }) => (through ? `${state} through ${through}` : state);

/**
 * @param {Change[]} changes
 * @returns {Column<Change>[]}
 */
export function changeColumns(changes) {
  const { commits } = getModel();
  const machines = new Set(changes.map((change) => seriesOf(change).m)).size;
  const environments = new Set(changes.map((change) => seriesOf(change).e)).size;
  const states = new Set(changes.map(howOf)).size;
  const scale = sharedScale(changes.flatMap(barOf));
  return [
    columnOf("Case", (change) => nameOf(seriesOf(change)), {
      draw: (change) => {
        const series = seriesOf(change);
        const where = [
          machines > 1 ? series.machine.name : "",
          environments > 1 ? series.environment.short : "",
        ].filter(Boolean);
        return [
          el("a", { href: casePage(series) }, caseName(series.case)),
          muted(` ${where.join(" · ")}`),
        ];
      },
    }),
    columnOf("Change", (change) => change.ratio ?? change.about ?? change.text, {
      draw: (change) =>
        changeLine(
          barOf(change).map((bar) => drawBar(bar, scale)),
          change,
          change.interval_text,
        ),
    }),
    columnOf("99 % interval", ({ interval_text: text }) => text, { hidden: true }),
    columnOf("State", howOf, { wrap: true, hidden: states < 2 }),
    columnOf("Shown on", ({ days }) => daysText(days), { wrap: true }),
    columnOf("Since", ({ c }) => commits[c]?.hash, {
      wrap: true,
      draw: ({ c }) => [commitLink(c), ` ${commits[c]?.subject}`],
    }),
    columnOf("Cause", ({ cause }) => cause, { wrap: true }),
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
