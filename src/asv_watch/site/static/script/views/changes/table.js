// The table of changes: a line for each, with its bar; and the commits that one may come from.

import { barShapes } from "../../charts/bars.js";
import { fix } from "../../charts/marks.js";
import { logScale } from "../../charts/scales.js";
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

/**
 * A bar from 0 % to the change, with its interval, on a scale that all rows share.
 * @param {Change} change
 * @param {ReturnType<typeof logScale>} x
 */
function inlineBar({ ratio: measured, about, interval, verdict, state }, x) {
  const ratio = measured ?? about;
  if (ratio === null) return null;
  /** @param {number} value */
  const clipped = (value) => Math.max(1, Math.min(119, x(value)));
  const zero = fix(x(1));
  return svg(
    "svg",
    {
      class: `bar-cell mark ${state === "measured" ? verdict : "same"}`,
      viewBox: "0 0 120 14",
      "aria-hidden": "true",
    },
    svg("line", { class: "one", x1: zero, x2: zero, y1: 0, y2: 14 }),
    barShapes({ ratio, interval }, clipped, 7),
  );
}

/**
 * @param {Change[]} changes that share a scale
 * @returns {Column<Change>[]}
 */
export function changeColumns(changes) {
  const measured = changes.filter(({ state }) => state === "measured");
  const ends = (measured.length ? measured : changes).flatMap(
    ({ ratio, about }) => ratio ?? about ?? [],
  );
  const [low, high] = [Math.min(0.98, ...ends), Math.max(1.02, ...ends)];
  const x = logScale(Math.max(low, 1 / 8), Math.min(high, 8), 6, 114);
  const { commits } = getModel();
  const machines = new Set(changes.map((change) => seriesOf(change).m)).size;
  const environments = new Set(changes.map((change) => seriesOf(change).e)).size;
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
          inlineBar(change, x),
          changeSign(change),
          change.interval_text ? el("span", { class: "muted" }, change.interval_text) : null,
        ),
    }),
    columnOf("99 % interval", ({ interval_text: text }) => text, { hidden: true }),
    columnOf(
      "State",
      ({ state, through }) => (through ? `${state} through the ${through}` : state),
      {
        wrap: true,
      },
    ),
    columnOf("Since", ({ c }) => commits[c]?.hash, {
      draw: ({ c }) => [commitLink(c), ` ${formatDay(commits[c]?.date ?? 0)}`],
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
