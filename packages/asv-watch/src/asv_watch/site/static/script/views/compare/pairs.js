// The values of both sides of a comparison, case by case.

import { getModel, isComparable } from "../../data/model.js";
import { loadReleasePairs, loadReleases } from "../../data/registry.js";
import { findPair, readPair, runsOf } from "../../data/runs.js";
import { unknownCommit } from "../../page/fields.js";
import { plural } from "../../text/format.js";
import { sidesOf } from "./sides.js";

/**
 * @typedef {object} Pairs
 * @property {Pair[]} pairs
 * @property {string[]} notes
 * @property {string[]} [order] of all that a side can be, oldest first; by default, the choices
 * @property {[string, string]} [sides] those shown, where they are not those asked for
 */

/**
 * The values of both sides of a pair, in its own rounds.
 * @param {MeasuredPair} pair
 * @returns {[Measured, Measured]}
 */
const valuesOf = ({ ratio, level }) => [
  { value: level / Math.sqrt(ratio), interval: null },
  { value: level * Math.sqrt(ratio), interval: null },
];

/** @param {Series} series @returns {Measured | null} */
const newestOf = ({ last }) =>
  last && {
    value: last.v,
    interval: last.lo === null || last.hi === null ? null : [last.lo, last.hi],
  };

/** The name of a case without what its two sides differ in. @param {Case} what @param {string} dimension */
function labelOf({ line, field, labels }, dimension) {
  const without = labels[dimension]?.split(" ").concat(labels[dimension] ?? "") ?? [];
  const parts = [line.name, ...line.details.split(", "), ...field.values];
  return parts
    .filter((part) => part && !without.includes(part.replace(`${dimension} `, "")))
    .join(" · ");
}

/**
 * @param {Series} series
 * @param {Measured | null | undefined} a
 * @param {Measured | null | undefined} b
 * @param {{ compared?: MeasuredPair | null, dimension?: string, where?: string }} [how] and the
 *   machine that measured it
 * @returns {Pair[]}
 */
function pairOf(series, a, b, { compared = null, dimension = "", where } = {}) {
  if (!a?.value || !b?.value) return [];
  const ratio = compared?.ratio ?? b.value / a.value;
  const label = labelOf(series.case, dimension);
  return [{ series, label, a, b, ratio, compared, where: where ?? series.machine.name }];
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
  const all = model.seriesAt(setup).filter(({ last }) => last);
  const runs = await Promise.all(all.map(runsOf));
  const stops = runs.flatMap(({ points, pairs }) => [
    ...points.map(({ stop }) => stop),
    ...pairs.flatMap(({ p, c }) => [p, c]),
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
  const pairs = all.flatMap((series, i) => {
    const pair = findPair(runs[i]?.pairs ?? [], from, to);
    if (pair) return pairOf(series, ...valuesOf(pair), { compared: pair });
    const [first, second] = [from, to].map((commit) =>
      runs[i]?.points.find(({ stop }) => stop === commit),
    );
    if (isComparable(series, to, from)) return pairOf(series, first, second);
    if (first && second) others += 1;
    return [];
  });
  if (others)
    notes.push(
      `${plural(others, "case")} left out: measured with another recipe or in other conditions.`,
    );
  const sides = /** @type {[string, string]} */ ([from, to].map(model.shortOf));
  return { pairs: from === to ? [] : pairs, notes, order: measured.map(model.shortOf), sides };
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
    if (what?.metric !== setup.metric) return [];
    const series = model.measured(what, setup);
    const pair = findPair(all.map(readPair), from, to);
    if (!series || !pair) return [];
    return pairOf(series, ...valuesOf(pair), { compared: pair, where: history.machine });
  });
  return { pairs, notes: [], order: history.versions };
}

/**
 * The interleaved comparison of two cases, of this machine if it has one.
 * @param {{ other: Series, series: Series }} sides
 */
function casePair({ other, series }) {
  const { index } = getModel();
  const found = index.case_pairs.flatMap(({ pairs, ...from }) => {
    const pair = findPair(pairs.map(readPair), other.c, series.c);
    return pair ? [{ ...from, pair }] : [];
  });
  return found.find(({ machine }) => machine === series.machine.name) ?? found[0];
}

/**
 * @param {Sides} asked
 * @returns {Promise<Pairs>}
 */
export async function collectPairs({ setup, by, a, b }) {
  if (by.id === "commit") return commitPairs(setup, a, b);
  if (by.id === "release") return releasePairs(setup, a, b);
  const dimension = ["machine", "environment"].includes(by.id) ? "" : by.id;
  const { sides, notes } = sidesOf({ setup, by, a, b });
  const [first, second] = sides.map((side) => new Map(side));
  const both = [...(second ?? [])].flatMap(([key, series]) => {
    const other = first?.get(key);
    return other ? [{ other, series }] : [];
  });
  const pairs = both
    .flatMap(({ other, series }) => {
      const compared = casePair({ other, series });
      if (compared) {
        const { pair, machine, conditions } = compared;
        const where = `${machine}, ${conditions}`;
        return pairOf(series, ...valuesOf(pair), { compared: pair, dimension, where });
      }
      const machines = [...new Set([other.machine.name, series.machine.name])];
      const how = { dimension, where: machines.join(" and ") };
      return pairOf(series, newestOf(other), newestOf(series), how);
    })
    .sort((x, y) => x.series.c - y.series.c);
  const apart = pairs.filter(({ compared }) => !compared).length;
  if (apart) notes.push(`Hollow: newest values of separate runs, ${plural(apart, "case")}.`);
  return { pairs, notes };
}
