// What releases changed in a case: one row a pair of neighbouring releases and machine.

import { drawBar, sharedScale } from "../../charts/bars.js";
import { muted } from "../../page/elements.js";
import { changeLine, daysText } from "../../page/signs.js";
import { columnOf, drawTable } from "../../page/tables.js";

/** @typedef {StepRatio & { name: string, before: string, machine: string }} ReleaseChange */

/** What releases changed in a case, on each machine the newest first. @param {ReleaseHistory[]} histories @param {string} key @returns {ReleaseChange[]} */
export const releaseChanges = (histories, key) =>
  histories.flatMap(({ cases, steps, machine, package: requirement }) => {
    const position = cases.findIndex((what) => what.key === key);
    return steps.flatMap(({ before, after, ratios }) =>
      ratios
        .filter((ratio) => ratio.case === position && ratio.verdict !== "same")
        .map((ratio) => ({ ...ratio, name: `${requirement} ${after}`.trim(), before, machine })),
    );
  });

/** @param {ReleaseChange[]} rows */
export function releaseTable(rows) {
  const scale = sharedScale(rows);
  return drawTable(
    "Changes by releases",
    [
      columnOf("Release", ({ name }) => name, {
        draw: ({ name, before }) => [name, muted(` against ${before}`)],
      }),
      columnOf("Change", (/** @type {ReleaseChange} */ row) => row.ratio, {
        draw: (row) => changeLine(drawBar(row, scale), row, row.interval_text),
      }),
      columnOf("Shown on", ({ days }) => daysText(days), { wrap: true }),
      columnOf("Cause", ({ operator }) => operator, { wrap: true }),
      columnOf("Machine", ({ machine }) => machine),
    ],
    rows,
    { className: "list cards", first: 12 },
  );
}
