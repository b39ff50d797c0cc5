// The table of changes: a line for each, with its bar; and the commits that one may come from.

import { barShapes } from "../../charts/bars.js";
import { getModel } from "../../data/model.js";
import { commandBlock } from "../../page/save.js";
import { el, fold, svg } from "../../page/elements.js";
import {
  caseName,
  casePage,
  changeSign,
  commitLink,
  nameOf,
  repositoryLink,
  seriesOf,
} from "../../page/signs.js";
import { formatDay, plural } from "../../text/format.js";
import { columnOf } from "../../page/tables.js";

/** @import { Column } from "../../page/tables.js" */

/** Changes by this factor and more fill half of a bar's width. */
const LARGEST = 4;
const [WIDTH, MARGIN] = [120, 3];

/**
 * The place of a ratio along a bar. It grows with the root of the logarithm, so that 2 % can be
 * seen beside 60 %.
 * @param {number} ratio
 */
function rootScale(ratio) {
  const size = Math.min(1, Math.sqrt(Math.abs(Math.log(ratio)) / Math.log(LARGEST)));
  return WIDTH / 2 + Math.sign(ratio - 1) * size * (WIDTH / 2 - MARGIN);
}

/**
 * A bar from 0 % to the change, with its interval.
 * @param {{ ratio: number | null, interval: [number, number] | null, verdict: Verdict }} change
 */
export function inlineBar({ ratio, interval, verdict }) {
  if (ratio === null) return null;
  const zero = WIDTH / 2;
  return svg(
    "svg",
    {
      class: `bar-cell mark ${verdict}`,
      viewBox: `0 0 ${WIDTH} 14`,
      "aria-hidden": "true",
    },
    svg("line", { class: "one", x1: zero, x2: zero, y1: 0, y2: 14 }),
    barShapes({ ratio, interval }, rootScale, 7),
  );
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
          el("span", { class: "muted" }, ` ${where.join(" · ")}`),
        ];
      },
    }),
    columnOf("Change", (change) => change.ratio ?? change.about ?? change.text, {
      draw: (change) =>
        el(
          "div",
          { class: "bar-line" },
          change.state === "measured"
            ? inlineBar(change)
            : inlineBar({ ratio: change.about, interval: null, verdict: "same" }),
          changeSign(change),
          change.interval_text ? el("span", { class: "muted" }, change.interval_text) : null,
        ),
    }),
    columnOf("99 % interval", ({ interval_text: text }) => text, { hidden: true }),
    columnOf("State", howOf, { wrap: true, hidden: states < 2 }),
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
  );
}
