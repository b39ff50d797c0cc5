// How a case changed from one torch release to the next, from interleaved comparisons.

import { el } from "../../page/elements.js";
import { changeSign } from "../../page/signs.js";
import { buildTable, scrollBox } from "../../page/tables.js";
import { formatChange, formatValue, shortHash } from "../../text/format.js";

/** @import { BenchmarkSource, ReleaseRatio } from "../../../types.js" */
/** @import { Heading } from "../../page/tables.js" */
/** @import { Series } from "../../data/model.js" */

const CAPTION = "Torch releases, compared interleaved";

/** @type {Heading[]} */
const HEADINGS = [
  "Release",
  { text: "Change", number: true },
  { text: "99 % interval", number: true },
  { text: "Before", number: true },
  { text: "After", number: true },
  "Machine",
  "Commit",
];

/** @param {ReleaseRatio} step */
function row(step) {
  const [low, high] = step.interval;
  return [
    `${step.after} against ${step.before}`,
    changeSign(step.ratio, step.verdict),
    `${formatChange(low)} to ${formatChange(high)}`,
    formatValue(step.before_s, "seconds"),
    formatValue(step.after_s, "seconds"),
    step.machine,
    el("code", {}, shortHash(step.commit)),
  ];
}

/**
 * A row for each pair of releases in which the case was compared; nothing without any.
 * @param {Series} series
 * @param {BenchmarkSource} source
 */
export function releasesTable(series, source) {
  const steps = source.releases[series.key];
  if (!steps) return null;
  return [
    scrollBox(CAPTION, buildTable(CAPTION, HEADINGS, steps.map(row))),
    el("p", { class: "note" }, el("a", { href: "#/releases" }, "All cases by torch release")),
  ];
}
