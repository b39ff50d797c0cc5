// Which rows of a comparison are shown, in which order, and what they come to together.

import { filterWords, firstParam } from "../../address.js";
import { sortedBy } from "../../page/tables.js";
import { formatChange, geometricMean } from "../../text/format.js";

/** @import { State } from "../../address.js" */
/** @import { Verdict } from "../../../types.js" */
/** @import { Row } from "./comparing.js" */

/** Significant ones first, then by size. @type {(ratio: number, verdict: Verdict) => number} */
const weight = (ratio, verdict) => (verdict === "same" ? 0 : 1e3) + Math.abs(Math.log(ratio));

/** @type {Record<string, (row: Row) => number | string>} */
const SORTERS = {
  name: (row) => row.case.row + row.metric.label,
  device: (row) => row.case.device,
  pass: (row) => row.case.pass,
  base: (row) => row.then?.value ?? NaN,
  now: (row) => row.now?.value ?? NaN,
  change: (row) => weight(row.cost, row.verdict),
  noise: (row) => row.inNoise,
  trend: (row) => weight(row.trend, row.trendVerdict),
};

/**
 * @param {Row[]} rows
 * @param {string} order
 */
export function sortRows(rows, order) {
  const value = SORTERS[order.replace(/^-/, "")] ?? weightOfChange;
  return sortedBy(rows, value, order.startsWith("-"), (row) => row.case.order);
}
/** @param {Row} row */
const weightOfChange = (row) => weight(row.cost, row.verdict);

/**
 * The rows that pass the filters of the address.
 * @param {Row[]} rows
 * @param {State} state
 */
export function filterRows(rows, state) {
  const words = filterWords(state);
  const device = firstParam(state, "device");
  const pass = firstParam(state, "pass");
  const metric = firstParam(state, "metric");
  return rows.filter((row) => {
    if (!row.now && !row.then) return false;
    if (device && row.case.device !== device) return false;
    if (pass && row.case.pass !== pass) return false;
    if (metric && row.metric.id !== metric) return false;
    const { title, group } = row.case;
    const text = `${row.key} ${title} ${row.metric.label} ${group}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/**
 * @typedef {object} SummaryLine
 * @property {string} name
 * @property {Verdict | null} verdict
 * @property {number} count
 * @property {string} range of the costs, as text
 * @property {number} mean geometric mean of the costs
 *
 * @typedef {{ lines: [SummaryLine, SummaryLine, SummaryLine, SummaryLine], missing: number }} Summary
 */

/**
 * Count, range and geometric mean of the costs; below 1 is better whatever the metric.
 * @param {Row[]} rows
 * @returns {Summary}
 */
export function summarise(rows) {
  const compared = rows.filter((row) => Number.isFinite(row.cost));
  /**
   * @param {string} name
   * @param {Verdict | null} verdict
   */
  const line = (name, verdict) => {
    const costs = compared
      .filter((row) => verdict === null || row.verdict === verdict)
      .map((row) => row.cost);
    const [low, high] = [Math.min(...costs), Math.max(...costs)];
    const both = `${formatChange(low)} … ${formatChange(high)}`;
    const range = costs.length > 1 ? both : costs.length ? formatChange(low) : "–";
    return { name, verdict, count: costs.length, range, mean: geometricMean(costs) };
  };
  return {
    lines: [
      line("regressed", "worse"),
      line("improved", "better"),
      line("not significant", "same"),
      line("all compared", null),
    ],
    missing: rows.length - compared.length,
  };
}
