// The values of both sides of a comparison, case by case.

import { getModel, isComparable } from "../../data/model.js";
import { measuredNear, valuesAt } from "../../data/runs.js";
import { unknownCommit } from "../../page/fields.js";

/** @import { Change, CommitIndex } from "../../../types.js" */
/** @import { Case, Place, Series } from "../../data/model.js" */
/** @import { Measured } from "../../data/runs.js" */
/** @import { Dimension } from "./dimensions.js" */

/**
 * @typedef {object} Pair
 * @property {Series} series of the second side, or of the first where the second is not measured
 * @property {string} label
 * @property {Measured} a
 * @property {Measured} b
 * @property {number} ratio b / a
 * @property {Change | null} change what was measured of these very commits, in turn
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
  const without = labels[dimension];
  const parts = [line.name, ...line.details.split(", "), ...field.values];
  return parts
    .filter((part) => part && part !== without && part !== `${dimension} ${without}`)
    .join(" · ");
}

/** What is the same on both sides. @param {Case} what @param {string} dimension */
function keyOf({ labels, benchmark, metric }, dimension) {
  const rest = Object.entries(labels).filter(([name]) => name !== dimension);
  const suite = dimension === "suite" || dimension === "pass" ? "" : benchmark.name;
  return JSON.stringify([suite, metric.id, rest.sort()]);
}

/** @param {Series} series @param {string} label @param {Measured | null} a @param {Measured | null} b */
const pairOf = (series, label, a, b) =>
  a && b && a.value && b.value
    ? [
        {
          series,
          label,
          a,
          b,
          ratio: b.value / a.value,
          change: /** @type {Change | null} */ (null),
          note: "",
        },
      ]
    : [];

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
  const indices = all.map(({ at }) => at);
  /** @type {string[]} */
  const notes = [];
  /** @param {string} text @returns {Promise<CommitIndex>} */
  const find = async (text) => {
    const asked = model.findCommit(text);
    if (asked < 0) throw new Error(unknownCommit(text));
    const near = await measuredNear(asked, indices);
    if (near !== asked && near >= 0)
      notes.push(
        `${model.shortOf(asked)} was not measured here: ${model.shortOf(near)} is shown.`,
      );
    return near;
  };
  const [from, to] = [await find(a), await find(b)];
  const read = await valuesAt([from, to]);
  const comparable = all.filter((series) => isComparable(series, to, from));
  const pairs = comparable.flatMap((series) =>
    pairOf(series, labelOf(series.case, ""), read(series.at, from), read(series.at, to)).map(
      (pair) => ({
        ...pair,
        change:
          (model.changesOf.get(series.at) ?? []).find(
            ({ p, c, state }) => p === from && c === to && state === "measured",
          ) ?? null,
      }),
    ),
  );
  const others = all.filter(
    (series) => !comparable.includes(series) && read(series.at, from) && read(series.at, to),
  );
  if (others.length)
    notes.push(
      `${others.length} cases had another recipe or other conditions and are not compared.`,
    );
  return { pairs, notes };
}

/** @param {Place} place @returns {Pairs} */
function publishedPairs(place) {
  const model = getModel();
  const pairs = model.index.published.flatMap((theirs) => {
    const what = model.caseOf(theirs.case);
    const series = what ? model.find(what, place) : null;
    if (!series) return [];
    const a = { value: theirs.value, interval: null };
    return pairOf(series, labelOf(series.case, ""), a, newestOf(series)).map((pair) => ({
      ...pair,
      note: [theirs.source, theirs.note].filter(Boolean).join(". "),
    }));
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
  const model = getModel();
  if (by.id === "commit") return commitPairs(place, a, b);
  if (by.id === "published") return publishedPairs(place);
  const { m, e, metric } = place;
  const [machineA, machineB] = [a, b].map(model.machineAt);
  const [environmentA, environmentB] = [a, b].map(model.environmentAt);
  const measured = model.series.filter((series) => series.metric === metric && series.last);
  /** The side of a series: 0, 1, or neither. @param {Series} series */
  const sideOf = (series) => {
    if (by.id === "machine")
      return series.environment.short === model.index.environments[e]?.short
        ? [machineA, machineB].indexOf(series.m)
        : -1;
    if (series.m !== m) return -1;
    if (by.id === "environment") return [environmentA, environmentB].indexOf(series.e);
    if (series.e !== e) return -1;
    const value = by.id === "suite" ? series.case.line.group : series.case.labels[by.id];
    return value === undefined ? -1 : [a, b].indexOf(value);
  };
  const dimension = ["machine", "environment"].includes(by.id) ? "" : by.id;
  /** @type {Map<string, Series[]>} */
  const sides = new Map();
  for (const series of measured) {
    const side = sideOf(series);
    if (side < 0) continue;
    const key = keyOf(series.case, dimension);
    const both = sides.get(key) ?? [];
    both[side] = series;
    sides.set(key, both);
  }
  const pairs = [...sides.values()].flatMap(([first, second]) =>
    first && second
      ? pairOf(second, labelOf(second.case, dimension), newestOf(first), newestOf(second))
      : [],
  );
  pairs.sort((x, y) => x.series.c - y.series.c);
  return { pairs, notes: ["The newest value of each side."] };
}
