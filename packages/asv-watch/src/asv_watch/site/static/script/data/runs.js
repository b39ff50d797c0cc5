// All runs of a series.

import { loadBenchmark } from "./registry.js";
import { getModel } from "./model.js";

/** @typedef {{ points: Point[], others: OtherRun[], pairs: MeasuredPair[], stretches: [CommitIndex, number, number][] }} Runs */

/** @type {Map<unknown, SeriesIndex> | null} */
let firstOfBenchmark = null;
/** @type {WeakMap<BenchmarkSeries, Runs>} */
const parsed = new WeakMap();

/** @type {Verdict[]} */
const VERDICTS = ["better", "same", "worse"];

/**
 * A pair of versions as data files hold it.
 * @param {PairRow} row
 * @returns {MeasuredPair}
 */
export function readPair([p, c, ratio, low, high, sign, level, ofCpuTime]) {
  return {
    p,
    c,
    ratio,
    interval: [low, high],
    verdict: VERDICTS[sign + 1] ?? "same",
    level,
    clock: ofCpuTime ? "process" : "",
  };
}

/**
 * The measured pair of two versions, whichever is the earlier.
 * @param {MeasuredPair[]} pairs
 * @param {number} from
 * @param {number} to
 * @returns {MeasuredPair | null}
 */
export function findPair(pairs, from, to) {
  const there = pairs.find(({ p, c }) => p === from && c === to);
  if (there) return there;
  const back = pairs.find(({ p, c }) => p === to && c === from);
  if (!back) return null;
  const [low, high] = back.interval;
  /** @type {Record<Verdict, Verdict>} */
  const opposite = { better: "worse", worse: "better", same: "same" };
  return {
    ...back,
    p: from,
    c: to,
    ratio: 1 / back.ratio,
    interval: [1 / high, 1 / low],
    verdict: opposite[back.verdict],
  };
}

/**
 * @param {BenchmarkSeries} entry
 * @returns {Runs}
 */
function parse(entry) {
  /** @type {Point[]} */
  const points = [];
  entry.v.forEach((value, i) => {
    if (value !== null) points.push({ stop: entry.from + i, value, interval: null });
  });
  return {
    points,
    others: (entry.other ?? []).map(([stop, outcome, reason]) => ({
      stop,
      outcome,
      reason: entry.reasons?.[reason] ?? "",
    })),
    stretches: entry.stretches ?? [],
    pairs: (entry.pairs ?? []).map(readPair),
  };
}

/** In which of its benchmark's files a series is. @param {Series} series */
function partOf(series) {
  const model = getModel();
  // Series are sorted by benchmark, and `share` of a benchmark's series are in one file.
  firstOfBenchmark ??= new Map(
    [...model.series].reverse().map((other) => [other.benchmark, other.index]),
  );
  const first = firstOfBenchmark.get(series.benchmark) ?? 0;
  return Math.floor((series.index - first) / model.index.share);
}

/**
 * Every run of one series, from the file of its benchmark.
 * @param {Series} series
 * @returns {Promise<Runs>}
 */
export async function runsOf(series) {
  const file = await loadBenchmark(series.benchmark.slug, partOf(series));
  const entry = file.series.find((other) => other.s === series.index);
  if (!entry) return { points: [], others: [], pairs: [], stretches: [] };
  let runs = parsed.get(entry);
  if (!runs) parsed.set(entry, (runs = parse(entry)));
  return runs;
}
