// Data files, and the runs of series that they hold. A file is a small script that calls
// asvWatch.register(name, data): browsers refuse `fetch` and modules on file://, and allow script
// elements.

import { getModel } from "./model.js";

/** By name, such as "s/<slug>". @type {Map<string, PromiseWithResolvers<any>>} */
const files = new Map([["index", Promise.withResolvers()]]);

/** Each data file calls this with its own name. @param {string} name @param {unknown} data */
const register = (name, data) => files.get(name)?.resolve(data);

/** @type {any} */ (window).asvWatch = { register };

/** Loads a data file at most once. @param {string} name */
function loadData(name) {
  const known = files.get(name);
  if (known) return known.promise;
  const file = Promise.withResolvers();
  files.set(name, file);
  const script = document.createElement("script");
  script.src = `data/${name.split("/").map(encodeURIComponent).join("/")}.js`;
  script.onload = () =>
    file.reject(new Error(`data/${name}.js holds no data; publish the site again`));
  script.onerror = () => {
    files.delete(name);
    script.remove();
    file.reject(new Error(`data/${name}.js could not be read; reload, or publish the site again`));
  };
  document.head.append(script);
  return file.promise;
}

/** The index, whose script stands in the page. @returns {Promise<Index>} */
export const loadIndex = () => loadData("index");

/** The description of a benchmark. @param {string} slug @returns {Promise<BenchmarkSource>} */
export const loadSource = (slug) => loadData(`c/${slug}`);

/** Loads what machines found about releases. @returns {Promise<ReleaseHistory[]>} */
export const loadReleases = () => loadData("releases");

/** Loads the ratios of any two releases. @returns {Promise<ReleasePairs[]>} */
export const loadReleasePairs = () => loadData("release-pairs");

/**
 * All runs of a series.
 * @typedef {object} Runs
 * @property {Map<CommitIndex, number>} values
 * @property {OtherRun[]} others
 * @property {PairRow[]} pairs
 * @property {Stretch[]} stretches
 */

/** @type {Verdict[]} */
const VERDICTS = ["better", "same", "worse"];

/**
 * The measured pair of two versions, whichever is the earlier.
 * @param {PairRow[]} rows
 * @param {number} from
 * @param {number} to
 * @returns {MeasuredPair | null}
 */
export function findPair(rows, from, to) {
  const row = rows.find(([p, c]) => (p === from && c === to) || (p === to && c === from));
  if (!row) return null;
  const [p, , ratio, low, high, sign, level, ofCpuTime, pale] = row;
  const isForward = p === from;
  return {
    ratio: isForward ? ratio : 1 / ratio,
    interval: isForward ? [low, high] : [1 / high, 1 / low],
    verdict: VERDICTS[(isForward ? sign : -sign) + 1] ?? "same",
    level,
    clock: ofCpuTime ? "process" : "",
    pale: pale > 0,
  };
}

/** The number of a benchmark's file that has a series. @param {Series} series */
function partOf({ benchmark, index }) {
  const model = getModel();
  // Series are sorted by benchmark, and `share` of a benchmark's series are in one file.
  const first = model.series.findIndex((other) => other.benchmark === benchmark);
  return Math.floor((index - first) / model.index.share);
}

/** @type {WeakMap<BenchmarkSeries, Runs>} */
const parsed = new WeakMap();

/** @param {BenchmarkSeries} entry @returns {Runs} */
function parse({ from, v, other = [], reasons = [], stretches = [], pairs = [] }) {
  /** @type {Map<CommitIndex, number>} */
  const values = new Map();
  v.forEach((value, i) => {
    if (value !== null) values.set(from + i, value);
  });
  return {
    values,
    others: other.map(([stop, outcome, reason]) => ({
      stop,
      outcome,
      reason: reasons[reason] ?? "",
    })),
    stretches,
    pairs,
  };
}

/**
 * Every run of one series, from the file of its benchmark.
 * @param {Series} series
 * @returns {Promise<Runs>}
 */
export async function runsOf(series) {
  const part = partOf(series);
  /** @type {BenchmarkFile} */
  const file = await loadData(`s/${series.benchmark.slug}${part ? `~${part}` : ""}`);
  const entry = file.series.find(({ s }) => s === series.index) ?? { s: 0, from: 0, v: [] };
  let runs = parsed.get(entry);
  if (!runs) parsed.set(entry, (runs = parse(entry)));
  return runs;
}
