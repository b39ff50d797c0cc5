// Changes as every view shows them: a bar with its size and interval, the days that show it, and why;
// and what several of them say together.

import { barScale, drawBar } from "../charts/marks.js";
import { formatChange, formatInterval } from "../text/format.js";
import { el, muted } from "./elements.js";
import { changeSign } from "./signs.js";
import { columnOf, drawTable } from "./tables.js";

/** How large a change is in either direction; from or to zero, the largest. @param {Pick<Shown, "ratio" | "about">} change */
export const sizeOf = ({ ratio, about }) => Math.abs(Math.log(ratio ?? about ?? 0));

/** A suspected change, and two values that were not compared, have a hollow bar. @param {Shown} row @returns {Bar[]} */
function barOf({ ratio, about = null, interval, verdict, pale }) {
  const size = ratio ?? about;
  return size === null ? [] : [{ ratio: size, interval, verdict, pale }];
}

/**
 * The columns for some rows, whose bars share a scale; days and causes only where any row has them.
 * @template {Shown} T
 * @param {T[]} rows
 * @returns {Column<T>[]}
 */
export function changeColumns(rows) {
  const scale = barScale(rows.flatMap(barOf));
  /** @type {Column<T>[]} */
  const columns = [
    columnOf("Change", ({ ratio, about, text }) => ratio ?? about ?? text, {
      draw: (row) => {
        const bars = barOf(row).map((bar) => drawBar(bar, scale));
        const ends = row.interval_text ? muted(row.interval_text) : null;
        return el("div", { class: "bar-line" }, bars, changeSign(row), ends);
      },
    }),
    columnOf("99 % interval", (row) => row.interval_text, { hidden: true }),
    columnOf("Shown on", ({ days }) => days, {
      look: "text",
      draw: ({ days }) => (days && !days.startsWith("no") ? `shown on ${days}` : days),
    }),
    columnOf("Cause", ({ cause }) => cause, { look: "text" }),
  ];
  return columns.filter(({ value }, i) => i < 2 || rows.some((row) => value(row)));
}

/**
 * A table of changes, of which the first are shown.
 * @template {Shown} T
 * @param {string} caption
 * @param {Column<T>[]} columns
 * @param {T[]} rows
 * @param {(row: T) => string} [groupOf] rows of one group stand below its name
 */
export const changesTable = (caption, columns, rows, groupOf) =>
  drawTable(caption, columns, rows, { className: "list cards changes", first: 8, groupOf });

/** @param {number[]} ratios @param {string} kind */
function meanText(ratios, kind) {
  const sum = ratios.reduce((total, ratio) => total + Math.log(ratio), 0);
  return `mean ${formatChange(Math.exp(sum / ratios.length), kind)}`;
}

/** @param {number[]} ratios @param {string} kind */
function medianText(ratios, kind) {
  const sorted = [...ratios].sort((a, b) => a - b);
  const [low = NaN, high = low] = sorted.slice((sorted.length - 1) >> 1, (sorted.length >> 1) + 1);
  return `median ${formatChange(Math.sqrt(low * high), kind)}`;
}

/** @param {number[]} ratios @param {string} kind */
const sizeText = (ratios, kind) =>
  ratios.length > 1
    ? `${formatInterval([Math.min(...ratios), Math.max(...ratios)])}, ${meanText(ratios, kind)}`
    : formatChange(ratios[0] ?? 1, kind);

/**
 * What some changes of one kind say together: how many are worse and how many better, and the mean
 * and median of some of them; nothing if they say nothing.
 * @param {{ ratio: number | null, verdict: Verdict }[]} all
 * @param {string} kind of what is measured
 * @param {{ ratio: number | null }[]} [meant] those that the mean is of; without it there is none
 */
export function tally(all, kind, meant = []) {
  const directions = /** @type {Verdict[]} */ (["worse", "better"]).flatMap((verdict) => {
    const ratios = all.flatMap((one) => (one.verdict === verdict && one.ratio) || []);
    if (!ratios.length) return [];
    const text = `${ratios.length} ${verdict}: ${sizeText(ratios, kind)}`;
    return [changeSign({ verdict, text }), " "];
  });
  const ratios = meant.flatMap(({ ratio }) => ratio ?? []);
  const whose =
    all.length > meant.length ? `${ratios.length} of main suites` : `all ${ratios.length}`;
  const both = `${meanText(ratios, kind)}, ${medianText(ratios, kind)}`;
  const mean = ratios.length ? muted(`${whose}: ${both}`) : null;
  const parts = [...directions, mean].filter(Boolean);
  return parts.length
    ? el("p", { class: "note" }, kind === "memory" ? "memory: " : null, parts)
    : null;
}
