// What lines and signs mean: the legend of a chart or a table.

import { lineSwatch, lookOf } from "../charts/marks.js";
import { el } from "./elements.js";

/** @import { Case } from "../data/model.js" */
/** @import { Child } from "./elements.js" */

/** @type {Record<"change" | "chart" | "cell", [string, string][]>} */
const MEANINGS = {
  change: [
    ["✓ blue", "Better, by an interleaved comparison of both versions."],
    ["✗ orange", "Worse, by an interleaved comparison of both versions."],
    ["grey", "No claim: no interleaved comparison, or no difference in it."],
    ["|—|", "The interval: the true change lies in it with 99 % confidence."],
    ["about", "Suspected: separate runs differ. The size is a guess."],
  ],
  chart: [
    ["vertical bar", "The interval of a value; in a chart of changes, that of an interleaved comparison."],
    ["◆ and dashes", "The recipe, the machine or its settings changed there."],
    ["gap", "The values on both sides were measured in different conditions."],
    ["× at the axis", "The run failed."],
  ],
  cell: [
    ["small line", "The newest values, oldest first. A gap: other conditions."],
    ["◷ behind", "Not measured at the newest commit."],
    ["– skipped", "Deliberately not run."],
  ],
};

/**
 * Says on request what signs mean.
 * @param {(keyof typeof MEANINGS)[]} kinds
 */
export const signsHelp = (...kinds) =>
  el(
    "details",
    { class: "help" },
    el("summary", {}, "What do these signs mean?"),
    el(
      "dl",
      { class: "glossary" },
      kinds
        .flatMap((kind) => MEANINGS[kind])
        .map(([sign, meaning]) => [el("dt", {}, sign), el("dd", {}, meaning)]),
    ),
  );

/**
 * The lines of a chart with their names, and what other signs mean.
 * @param {{ look: string, shape?: number, name: Child }[]} lines
 */
export const legend = (lines) =>
  el(
    "div",
    { class: "legend" },
    el(
      "ul",
      { "aria-label": "Lines" },
      lines.map(({ look, shape, name }) => el("li", {}, lineSwatch(look, shape), name)),
    ),
    signsHelp("change", "chart"),
  );

/** The legend of charts that have a line for each column of the cases. @param {Case[]} cases */
export function columnLegend(cases) {
  const columns = new Map(cases.map((what) => [what.column, what]));
  return legend(
    [...columns.values()]
      .sort((a, b) => a.column - b.column)
      .map((what) => ({
        look: lookOf({ ...what, line: { ...what.line, hue: 7 } }),
        name: what.field.name,
      })),
  );
}
