// The columns of each table of changes: a bar with its size and interval, the days that show it, and why.

import { barAxis, drawBar, sharedScale } from "../charts/bars.js";
import { el, muted } from "./elements.js";
import { changeSign } from "./signs.js";
import { columnOf } from "./tables.js";

/** A suspected change, and two values that were not compared, have a hollow bar. @param {Shown} row @returns {Bar[]} */
function barOf({ ratio, about = null, interval, verdict, pale }) {
  const size = ratio ?? about;
  return size === null ? [] : [{ ratio: size, interval, verdict, pale }];
}

/**
 * The columns for some rows, whose bars share a scale; days and causes only where any row has them.
 * @template {Shown} T
 * @param {T[]} rows
 * @param {boolean} [isBroad] broad bars under an axis
 * @returns {Column<T>[]}
 */
export function changeColumns(rows, isBroad = false) {
  const scale = sharedScale(rows.flatMap(barOf), isBroad);
  /** @type {Column<T>[]} */
  const columns = [
    columnOf("Change", ({ ratio, about, text }) => ratio ?? about ?? text, {
      axis: isBroad ? barAxis(scale) : null,
      draw: (row) => {
        const bars = barOf(row).map((bar) => drawBar(bar, scale));
        const ends = row.interval_text ? muted(row.interval_text) : null;
        return el("div", { class: "bar-line" }, bars, changeSign(row), ends);
      },
    }),
    columnOf("99 % interval", (row) => row.interval_text, { hidden: true }),
    columnOf(
      "Shown on",
      ({ days }) => (days && !days.startsWith("no") ? `shown on ${days}` : days),
      {
        wrap: true,
      },
    ),
    columnOf("Cause", ({ cause }) => cause, { wrap: true }),
  ];
  return columns.filter(({ value }, i) => i < 2 || rows.some((row) => value(row)));
}
