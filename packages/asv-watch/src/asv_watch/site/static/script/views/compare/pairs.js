// The values of both sides of a comparison, case by case.

import { getModel, isComparable } from "../../data/model.js";
import { findPair, loadReleasePairs, loadReleases, runsOf } from "../../data/files.js";
import { unknownCommit } from "../../page/fields.js";
import { formatChange, formatInterval, plural } from "../../text/format.js";
import { seriesPairs } from "./sides.js";

/**
 * @typedef {object} Pairs
 * @property {Pair[]} pairs
 * @property {string[]} notes
 * @property {[string, string]} [sides] those shown, where they are not those asked for
 */

/** The name of a case without what its two sides differ in. @param {Case} what @param {string} dimension */
function labelOf({ line, field, labels }, dimension) {
  const without = labels[dimension]?.split(" ").concat(labels[dimension] ?? "") ?? [];
  const parts = [line.name, ...line.details.split(", "), ...field.values];
  return parts
    .filter((part) => part && !without.includes(part.replace(`${dimension} `, "")))
    .join(" · ");
}

/**
 * A case on both sides: the values of its interleaved comparison, else those given; nothing if one is
 * missing.
 * @param {Series} series
 * @param {number | undefined} a
 * @param {number | undefined} b
 * @param {MeasuredPair | null | undefined} pair
 * @param {{ dimension?: string, where?: string }} [how] and where they were measured
 * @returns {Pair[]}
 */
function pairOf(series, a, b, pair, { dimension = "", where = series.machine.name } = {}) {
  if (pair) [a, b] = [pair.level / Math.sqrt(pair.ratio), pair.level * Math.sqrt(pair.ratio)];
  if (!a || !b) return [];
  const ratio = pair?.ratio ?? b / a;
  const shown = {
    series,
    label: labelOf(series.case, dimension),
    a,
    b,
    ratio,
    text: formatChange(ratio, series.metric.kind),
    interval: pair?.interval ?? null,
    pale: pair?.pale ?? false,
    interval_text: pair ? formatInterval(pair.interval, pair.clock) : "",
    verdict: pair?.verdict ?? /** @type {const} */ ("same"),
    where,
  };
  return [shown];
}

/**
 * Values at two commits of one machine and environment.
 * @param {Setup} setup
 * @param {string} a
 * @param {string} b
 * @returns {Promise<Pairs>}
 */
async function commitPairs(setup, a, b) {
  const model = getModel();
  const measuredSeries = model.seriesAt(setup).filter(({ last }) => last);
  const all = await Promise.all(
    measuredSeries.map(async (series) => ({ series, ...(await runsOf(series)) })),
  );
  const stops = all.flatMap(({ values, pairs }) => [
    ...values.keys(),
    ...pairs.flatMap(([p, c]) => [p, c]),
  ]);
  const measured = [...new Set(stops)].sort((x, y) => x - y);
  /** @type {string[]} */
  const notes = [];
  /** The commit itself, else the measured one before it, else the first. @param {string} text */
  const find = (text) => {
    const asked = model.findCommit(text);
    if (asked < 0) throw new Error(unknownCommit(text));
    const near = measured.findLast((commit) => commit <= asked) ?? measured[0] ?? asked;
    if (near !== asked)
      notes.push(
        `${model.shortOf(asked)} was not measured here, so ${model.shortOf(near)} is shown.`,
      );
    return near;
  };
  const [from, to] = [find(a), find(b)];
  let others = 0;
  const pairs = all.flatMap(({ series, values, pairs: compared }) => {
    const pair = findPair(compared, from, to);
    const [first, second] = [values.get(from), values.get(to)];
    if (pair || isComparable(series, to, from)) return pairOf(series, first, second, pair);
    if (first && second) others += 1;
    return [];
  });
  if (others)
    notes.push(
      `${plural(others, "case")} left out: measured with another recipe or in other conditions.`,
    );
  const sides = /** @type {[string, string]} */ ([from, to].map(model.shortOf));
  return { pairs: from === to ? [] : pairs, notes, sides };
}

/**
 * Two releases, by all comparisons that lead from one to the other.
 * @param {Setup} setup
 * @param {string} a
 * @param {string} b
 * @returns {Promise<Pairs>}
 */
async function releasePairs(setup, a, b) {
  const model = getModel();
  const [histories, pairsOf] = await Promise.all([loadReleases(), loadReleasePairs()]);
  const here = model.index.machines[setup.m]?.name;
  const history = histories.find(
    ({ machine, versions }) => machine === here && [a, b].every((name) => versions.includes(name)),
  );
  if (!history) return { pairs: [], notes: [] };
  const [from, to] = [history.versions.indexOf(a), history.versions.indexOf(b)];
  const rows = Object.entries(pairsOf[histories.indexOf(history)] ?? {});
  const pairs = rows.flatMap(([key, all]) => {
    const what = model.caseOf(key);
    const series = what?.metric === setup.metric ? model.measured(what, setup) : null;
    const pair = findPair(all, from, to);
    return series ? pairOf(series, undefined, undefined, pair, { where: history.machine }) : [];
  });
  return { pairs, notes: [] };
}

/**
 * The interleaved comparison of two cases, of this machine if it has one.
 * @param {Series} other
 * @param {Series} series
 */
function casePair(other, series) {
  const found = getModel().index.case_pairs.flatMap(({ pairs, ...from }) => {
    const pair = findPair(pairs, other.c, series.c);
    return pair ? [{ ...from, pair }] : [];
  });
  return found.find(({ machine }) => machine === series.machine.name) ?? found[0];
}

/** Where and when a newest value was measured. @param {Series} series */
const placeOf = ({ machine, environment, last }) =>
  `${machine.name}, ${environment.short.split(" · ")[0]} at ${getModel().shortOf(last?.c ?? -1)}`;

/**
 * @param {Sides} asked
 * @returns {Promise<Pairs>}
 */
export async function collectPairs(asked) {
  const { setup, by, a, b } = asked;
  if (by.id === "commit") return commitPairs(setup, a, b);
  if (by.id === "release") return releasePairs(setup, a, b);
  const dimension = by.id === "machine" ? "" : by.id;
  const pairs = seriesPairs(asked).flatMap(({ other, series }) => {
    const compared = casePair(other, series);
    const where = compared
      ? `${compared.machine}, ${compared.conditions}`
      : [...new Set([other, series].map(placeOf))].join(" and ");
    return pairOf(series, other.last?.v, series.last?.v, compared?.pair, { dimension, where });
  });
  return { pairs, notes: [] };
}
