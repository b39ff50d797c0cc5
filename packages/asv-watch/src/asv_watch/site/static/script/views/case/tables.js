// The tables of a case: what releases changed, comparisons, operators, other measurements of it.

import { getModel } from "../../data/model.js";
import { changeColumns } from "../../page/changes.js";
import { el, muted, svg } from "../../page/elements.js";
import { casePage } from "../../page/signs.js";
import { columnOf, drawTable, factsTable } from "../../page/tables.js";

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
export const releaseTable = (rows) =>
  drawTable(
    "Changes by releases",
    [
      columnOf("Release", ({ name }) => name, {
        draw: ({ name, before }) => [name, muted(` against ${before}`)],
      }),
      ...changeColumns(rows),
      columnOf("Machine", ({ machine }) => machine),
    ],
    rows,
    { className: "list cards", first: 12 },
  );

/** @param {CaseComparison[]} comparisons */
export const comparisonTable = (comparisons) =>
  drawTable(
    "Comparisons of this case",
    [
      columnOf("Versions", ({ before, after }) => `${before} → ${after}`, {
        draw: ({ before, after }) => {
          const commit = getModel().commits[getModel().findCommit(after)];
          return commit
            ? [el("code", {}, after), ` ${commit.subject}`, muted(` since ${before}`)]
            : `${before} → ${after}`;
        },
      }),
      ...changeColumns(comparisons),
      columnOf("Before → after", (row) => `${row.before_text} → ${row.after_text}`),
      columnOf("Why", ({ purpose }) => purpose),
      columnOf("Day", ({ day }) => day),
      columnOf("Machine", ({ machine }) => machine),
    ],
    comparisons,
    { className: "list cards", first: 10 },
  );

/** Times of operators before and after, as bars. @param {Explained} explained */
export const operatorBars = ({ before, after, machine, day, text, operators }) => [
  el("p", {}, `${before} → ${after} on ${machine}, ${day}: ${text}.`),
  drawTable(
    `Operators, ${before} and ${after}`,
    [
      columnOf("Operator", ({ name }) => name),
      columnOf("Before → after", (row) => row.text, { number: true }),
      columnOf("Time in one call", () => null, {
        draw: (/** @type {Explained["operators"][number]} */ { widths }) =>
          svg(
            "svg",
            { class: "levels", width: "100%", height: 22, "aria-hidden": "true" },
            widths.map((width, side) =>
              svg("rect", {
                class: side ? "after" : "before",
                width: `${width}%`,
                height: 9,
                y: side * 11 + 1,
              }),
            ),
          ),
      }),
    ],
    operators,
    { className: "list operators" },
  ),
];

/** @param {Series[]} others of other metrics */
export function relatedTable(others) {
  /** @type {[string, Child][]} */
  const rows = others.map((other) => [
    [other.metric.label, other.case.line.details].filter(Boolean).join(" · "),
    el("a", { href: casePage(other) }, other.last?.text ?? "–"),
  ]);
  return factsTable("Other measurements", rows);
}
