// The values of both sides of a comparison, case by case.

import { getModel, isComparable } from "../../data/model.js";
import { loadReleases } from "../../data/registry.js";
import { runsOf } from "../../data/runs.js";
import { unknownCommit } from "../../page/fields.js";
import { sidesOf } from "./sides.js";

/** @import { Dimension } from "./dimensions.js" */

/**
 * @typedef {{
 *   ratio: number | null, interval: [number, number] | null, verdict: Verdict, text: string
 * }} InTurn
 *
 * @typedef {object} Pair
 * @property {Series} series of the second side, or of the first where the second is not measured
 * @property {string} label
 * @property {Measured} a
 * @property {Measured} b
 * @property {number} ratio b / a
 * @property {InTurn | null} change the interleaved comparison of these two versions
 * @property {string} note where a published value comes from
 *
 * @typedef {{ pairs: Pair[], notes: string[] }} Pairs
 */

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
 * @param {{ change?: InTurn | null, note?: string, dimension?: string }} [how]
 * @returns {Pair[]}
 */
function pairOf(series, a, b, { change = null, note = "", dimension = "" } = {}) {
  if (!a?.value || !b?.value) return [];
  const ratio = change?.ratio ?? b.value / a.value;
  return [{ series, label: labelOf(series.case, dimension), a, b, ratio, change, note }];
}

/**
 * Values at two commits of one machine and environment.
 * @param {Place} place
 * @param {string} a
 * @param {string} b
 * @returns {Promise<Pairs>}
 */
async function commitPairs(place, a, b) {
  const model = getModel();
  const all = model.seriesAt(place).filter(({ last }) => last);
  const runs = await Promise.all(all.map(runsOf));
  const values = new Map(
    all.map((series, i) => [series, new Map(runs[i]?.points.map((point) => [point.at, point]))]),
  );
  const measured = [...new Set([...values.values()].flatMap((of) => [...of.keys()]))].sort(
    (x, y) => x - y,
  );
  /** @type {string[]} */
  const notes = [];
  /** The commit itself, else the measured one before it, else the first. @param {string} text */
  const find = (text) => {
    const asked = model.findCommit(text);
    if (asked < 0) throw new Error(unknownCommit(text));
    const near = measured.findLast((at) => at <= asked) ?? measured[0] ?? asked;
    if (near !== asked)
      notes.push(
        `${model.shortOf(asked)} was not measured here: ${model.shortOf(near)} is shown.`,
      );
    return near;
  };
  const [from, to] = [find(a), find(b)];
  /** @param {Series} series @param {CommitIndex} at */
  const read = (series, at) => values.get(series)?.get(at) ?? null;
  const comparable = all.filter((series) => isComparable(series, to, from));
  const pairs = comparable.flatMap((series) => {
    const change = model.changesOf
      .get(series.at)
      ?.find(({ p, c, state }) => p === from && c === to && state === "measured");
    return pairOf(series, read(series, from), read(series, to), { change });
  });
  const others = all.filter(
    (series) => !comparable.includes(series) && read(series, from) && read(series, to),
  );
  if (others.length)
    notes.push(
      `${others.length} cases had another recipe or other conditions and are not compared.`,
    );
  return { pairs, notes };
}

/**
 * The series of a case to link to: of this place if it was measured there, else the newest that was.
 * @param {Case} what
 * @param {Place} place
 */
function measuredSeries(what, place) {
  const model = getModel();
  const here = model.find(what, place);
  if (here?.last) return here;
  const measured = model.series.filter((one) => one.case === what && one.last);
  return (
    measured.findLast(({ m }) => m === place.m) ??
    measured.at(-1) ??
    model.series.find((one) => one.case === what)
  );
}

/**
 * Two releases, each relative to the newest: neighbours were compared interleaved, and the ratios of
 * others are products.
 * @param {Place} place
 * @param {string} a
 * @param {string} b
 * @returns {Promise<Pairs>}
 */
async function releasePairs(place, a, b) {
  const model = getModel();
  const histories = await loadReleases();
  const here = model.index.machines[place.m]?.name;
  const known = histories.filter(({ versions }) =>
    [a, b].every((name) => versions.includes(name)),
  );
  const history = known.find(({ machine }) => machine === here) ?? known[0];
  if (!history) return { pairs: [], notes: [] };
  const { machine, versions, cases, steps } = history;
  const step = steps.find(({ before, after }) => before === a && after === b);
  const pairs = cases.flatMap(({ key, times }, at) => {
    const what = model.caseOf(key);
    if (what?.metric !== place.metric) return [];
    const series = measuredSeries(what, place);
    /** @param {string} version @returns {Measured | null} */
    const timeOf = (version) => {
      const [, value, low, high] =
        times.find(([release]) => release === versions.indexOf(version)) ?? [];
      return value && low && high ? { value, interval: [low, high] } : null;
    };
    const change = step?.ratios.find((ratio) => ratio.case === at);
    return series ? pairOf(series, timeOf(a), timeOf(b), { change }) : [];
  });
  return { pairs, notes: [`Relative to ${versions.at(-1)}, measured on ${machine}.`] };
}

/** @param {Place} place @returns {Pairs} */
function publishedPairs(place) {
  const model = getModel();
  const pairs = model.index.published.flatMap((theirs) => {
    const what = model.caseOf(theirs.case);
    const series = what ? model.find(what, place) : null;
    if (!series) return [];
    const note = [theirs.source, theirs.note].filter(Boolean).join(". ");
    return pairOf(series, { value: theirs.value, interval: null }, newestOf(series), { note });
  });
  return {
    pairs,
    notes: ["Others measured on other machines, and mostly with other work behind the same name."],
  };
}

/**
 * @param {{ place: Place, by: Dimension, a: string, b: string }} asked
 * @returns {Promise<Pairs>}
 */
export async function collectPairs({ place, by, a, b }) {
  if (by.id === "commit") return commitPairs(place, a, b);
  if (by.id === "release") return releasePairs(place, a, b);
  if (by.id === "published") return publishedPairs(place);
  const dimension = ["machine", "environment"].includes(by.id) ? "" : by.id;
  const { sides, notes } = sidesOf({ place, by, a, b });
  const [first, second] = sides.map((side) => new Map(side));
  const pairs = [...(second ?? [])].flatMap(([key, series]) => {
    const other = first?.get(key);
    return other ? pairOf(series, newestOf(other), newestOf(series), { dimension }) : [];
  });
  pairs.sort((x, y) => x.series.c - y.series.c);
  return { pairs, notes: ["The newest value of each side.", ...notes] };
}
