// The table of changes: a line for each, with its bar; and the commits that one may come from.

import { fix } from "../../charts/marks.js";
import { logScale } from "../../charts/scales.js";
import { getModel } from "../../data/model.js";
import { commandBlock } from "../../page/copying.js";
import { el, fold, svg } from "../../page/elements.js";
import { casePage, caseName, changeSign, commitLink, repositoryLink } from "../../page/signs.js";
import { formatDay, plural } from "../../text/format.js";
import { nameOf, seriesOf } from "../bar-rows.js";
import { columnOf } from "../../page/tables.js";

/** @import { Change, CommitRange } from "../../../types.js" */
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
  const clip = (value) => Math.max(1, Math.min(119, x(value)));
  const [zero, place] = [x(1), clip(ratio)];
  const [low, high] = interval ? interval.map(clip) : [];
  const whisker = low === undefined || high === undefined ? null : `M${fix(low)} 7H${fix(high)}`;
  return svg(
    "svg",
    {
      class: `bar-cell mark ${state === "measured" ? verdict : "same"}`,
      viewBox: "0 0 120 14",
      "aria-hidden": "true",
    },
    svg("line", { class: "one", x1: fix(zero), x2: fix(zero), y1: 0, y2: 14 }),
    svg("rect", {
      class: "bar",
      x: fix(Math.min(zero, place)),
      y: 3,
      width: fix(Math.max(1, Math.abs(place - zero))),
      height: 8,
    }),
    whisker ? svg("path", { class: "whisker", d: whisker }) : null,
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
  return [
    columnOf("Case", (change) => nameOf(seriesOf(change)), {
      draw: (change) => {
        const series = seriesOf(change);
        const name = el("a", { href: casePage(series) }, caseName(series.case));
        return machines > 1
          ? [name, el("span", { class: "muted" }, ` ${series.machine.name}`)]
          : name;
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
    columnOf("State", ({ state }) => state),
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
