// Every series at one revision against another, or in one environment against another.

import { firstParam } from "../../address.js";
import { judgeRatio } from "../../data/judge.js";
import { getModel, isComparable } from "../../data/model.js";
import { measuredNear, nearestMeasured, valuesAt } from "../../data/runs.js";
import { unknownRevision } from "../../page/place-fields.js";

/** @import { State } from "../../address.js" */
/** @import { CommitIndex, Metric, Verdict } from "../../../types.js" */
/** @import { Case } from "../../data/cases.js" */
/** @import { Measured } from "../../data/judge.js" */
/** @import { Series } from "../../data/model.js" */
/** @import { ValueReader } from "../../data/runs.js" */

/**
 * @typedef {object} Row one series, or the two of one case in two environments
 * @property {string} key
 * @property {Series} series
 * @property {Case} case
 * @property {Metric} metric
 * @property {Measured | null} now
 * @property {Measured | null} then
 * @property {boolean} comparable whether both were measured under the same conditions
 * @property {number} ratio now / then; NaN if one is missing or they are not comparable
 * @property {number} cost the ratio, or its inverse where more is better: above 1 is worse
 * @property {number} visible
 * @property {number} inNoise
 * @property {Verdict} verdict
 * @property {number} trend now / the median of the window before it
 * @property {Verdict} trendVerdict
 * @property {(number | null)[]} history values of the window under the conditions of the newest
 *
 * @typedef {object} Comparison the answer to one address
 * @property {number} m
 * @property {number} e
 * @property {number} be environment of the base
 * @property {CommitIndex} rev
 * @property {CommitIndex} base -1 if nothing was measured before
 * @property {boolean} across whether two environments are compared
 * @property {number} window
 * @property {Row[]} rows
 * @property {number[]} places series that are compared
 * @property {string} against the base as the address names it
 * @property {[CommitIndex, CommitIndex][]} moved commits that were not measured, with the nearest
 * @property {CommitIndex} asked what the address asks for: later than `rev` where it names no
 *   revision and most values of the newest cannot be compared with those before it
 */

/** @param {State} state */
function readPlaces(state) {
  const model = getModel();
  const machine = firstParam(state, "m", model.defaultMachine);
  const environment = firstParam(state, "e", model.defaultEnvironment);
  const baseEnvironment = firstParam(state, "be", environment);
  const m = model.machineAt(machine);
  const e = model.environmentAt(environment);
  const be = model.environmentAt(baseEnvironment);
  if (m < 0) throw new Error(`No machine is called “${machine}”: choose one of the list.`);
  if (e < 0 || be < 0) {
    const unknown = e < 0 ? environment : baseEnvironment;
    throw new Error(`No environment is called “${unknown}”: choose one of the list.`);
  }
  return { m, e, be };
}

/**
 * The median of the known values but the last, if there are enough of them.
 * @param {(number | null)[]} history
 * @param {number} least
 */
function levelBefore(history, least) {
  const before = history
    .slice(0, -1)
    .filter((value) => value !== null)
    .sort((a, b) => a - b);
  if (before.length < least) return null;
  const middle = before.length >> 1;
  const upper = before[middle] ?? NaN;
  return before.length % 2 ? upper : ((before[middle - 1] ?? NaN) + upper) / 2;
}

/**
 * @param {string} key
 * @param {{ now?: Series, base?: Series }} pair
 * @param {{ rev: CommitIndex, base: CommitIndex, history: CommitIndex[], window: number }} range
 * @param {ValueReader} read
 * @returns {Row}
 */
function compareSeries(key, pair, { rev, base, history, window }, read) {
  const { rules } = getModel();
  const series = /** @type {Series} */ (pair.now ?? pair.base);
  const higherIsBetter = series.metric.higher_is_better;
  const now = pair.now ? read(pair.now.at, rev) : null;
  const then = pair.base && base >= 0 ? read(pair.base.at, base) : null;
  const noises = [pair.base?.noise, pair.now?.noise];
  const own = pair.now;
  const comparable = !own || !pair.base || isComparable(own, rev, pair.base, base);
  const judged =
    now && then && comparable ? judgeRatio(rules, then, now, noises, higherIsBetter) : null;
  const values = own ? history.map((at) => read(own.at, at)?.value ?? null) : [];
  const alike = values.filter((_, i) => own && isComparable(own, rev, own, history[i] ?? rev));
  const level = levelBefore(alike, Math.min(3, window));
  const trend =
    own && now && level !== null
      ? judgeRatio(rules, { value: level, interval: null }, now, [own.noise, 0], higherIsBetter)
      : null;
  const ratio = judged?.ratio ?? NaN;
  return {
    key,
    series,
    case: series.case,
    metric: series.metric,
    now,
    then,
    comparable,
    ratio,
    cost: higherIsBetter ? 1 / ratio : ratio,
    visible: judged?.visible ?? NaN,
    inNoise: judged?.inNoise ?? NaN,
    verdict: judged?.verdict ?? "same",
    trend: trend?.ratio ?? NaN,
    trendVerdict: trend?.verdict ?? "same",
    history: alike,
  };
}

/**
 * The newest commit of which most values can be compared with those of the measured commit before
 * it; the newest at all if there is none.
 * @param {CommitIndex} newest
 * @param {Series[]} series
 */
async function newestComparable(newest, series) {
  const places = series.map(({ at }) => at);
  let rev = newest;
  let base = await nearestMeasured(rev - 1, -1, places);
  while (base >= 0) {
    const read = await valuesAt([rev, base]);
    const both = series.filter(({ at }) => read(at, rev) && read(at, base));
    const alike = both.filter((row) => isComparable(row, rev, row, base));
    if (both.length && 2 * alike.length >= both.length) return rev;
    rev = base;
    base = await nearestMeasured(rev - 1, -1, places);
  }
  return newest;
}

/**
 * Compares what the address asks for.
 * @param {State} state
 * @returns {Promise<Comparison>}
 * @throws {Error} if the address names something that is not there
 */
export async function compareRevisions(state) {
  const model = getModel();
  const { m, e, be } = readPlaces(state);
  const mine = model.series.filter((series) => series.m === m && series.e === e);
  const theirs = model.series.filter((series) => series.m === m && series.e === be);
  const places = mine.map((series) => series.at);
  const basePlaces = theirs.map((series) => series.at);
  const across = be !== e;

  /** @type {[CommitIndex, CommitIndex][]} */
  const moved = [];
  /**
   * @param {CommitIndex} at
   * @param {number[]} of
   */
  const measured = async (at, of) => {
    const near = await measuredNear(at, of);
    if (near >= 0 && near !== at) moved.push([at, near]);
    return near >= 0 ? near : at;
  };
  /** @param {string} text */
  const find = (text) => {
    const at = model.findCommit(text);
    if (at < 0) throw new Error(unknownRevision(text));
    return at;
  };

  const wanted = firstParam(state, "rev");
  const newest = Math.max(-1, ...mine.map((series) => series.last?.c ?? -1));
  if (!wanted && newest < 0)
    throw new Error(
      "Nothing has been measured with this machine and environment yet: choose another.",
    );
  const against = firstParam(state, "base", across ? "same" : "previous");
  const asked = await measured(wanted ? find(wanted) : newest, places);
  const rev = wanted || against !== "previous" ? asked : await newestComparable(asked, mine);
  let base = rev;
  if (against === "previous") base = await nearestMeasured(rev - 1, -1, basePlaces);
  else if (against === "baseline") base = await measured(model.baseline, basePlaces);
  else if (against !== "same") base = await measured(find(against), basePlaces);

  const window = Number(firstParam(state, "n", "10"));
  const first = Math.max(0, rev - window);
  const history = Array.from({ length: rev - first + 1 }, (_, i) => first + i);
  const read = await valuesAt([rev, base, ...history]);
  /** @type {Map<string, { now?: Series, base?: Series }>} */
  const pairs = new Map(mine.map((series) => [series.key, { now: series }]));
  for (const series of theirs) pairs.set(series.key, { ...pairs.get(series.key), base: series });
  const range = { rev, base, history, window };
  const rows = [...pairs].map(([key, pair]) => compareSeries(key, pair, range, read));
  return { m, e, be, rev, base, across, window, rows, places, against, moved, asked };
}

/**
 * How the two revisions are called in headings.
 * @param {Comparison} result
 */
export function namesOf(result) {
  const model = getModel();
  /**
   * @param {CommitIndex} at
   * @param {number} e
   */
  const name = (at, e) => {
    const environment = model.index.environments[e];
    const label = result.across && environment ? model.environmentLabel(environment) : "";
    return `${model.shortOf(at)} ${label}`.trim();
  };
  return {
    now: name(result.rev, result.e),
    base: result.base < 0 ? "nothing before" : name(result.base, result.be),
  };
}
