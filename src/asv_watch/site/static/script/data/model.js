// The index as things with names: commits, cases, series, releases.

import { capital, formatDay, shortHash } from "../text/format.js";
import { buildCase } from "./cases.js";

/** @import { Benchmark, Change, Environment, Index, Machine, Metric } from "../../types.js" */
/** @import { SeriesRow } from "../../types.js" */
/** @import { Case } from "./cases.js" */

/**
 * @typedef {object} Commit
 * @property {string} hash
 * @property {number} date seconds since 1970
 * @property {string} subject
 * @property {string[]} tags
 * @property {number} position number of commits before it
 * @property {number} at its commit index
 *
 * @typedef {Environment & { at: number }} Release an environment and its place in the index
 *
 * @typedef {object} SeriesNames
 * @property {Change | null} change
 * @property {number} at its series index
 * @property {number | null} newestRun commit index of the newest run
 * @property {string} key
 * @property {Case} case
 * @property {Machine} machine
 * @property {Environment} environment
 * @property {Benchmark} benchmark
 * @property {Metric} metric
 *
 * @typedef {Omit<SeriesRow, "at" | "change"> & SeriesNames} Series
 *
 * @typedef {ReturnType<typeof buildModel>} Model
 */

/**
 * @param {string} a
 * @param {string} b
 */
const compareVersions = (a, b) => a.localeCompare(b, "en", { numeric: true });

/** @param {string[]} values */
const distinct = (values) => [...new Set(values)].filter((value) => value !== "");

/**
 * Every series with its names, and every case in the order of the series.
 * @param {Index} index
 */
function readSeries(index) {
  /** @type {Map<string, Case>} */
  const cases = new Map();
  const series = index.series.map((row, at) => {
    const machine = /** @type {Machine} */ (index.machines[row.m]);
    const environment = /** @type {Environment} */ (index.environments[row.e]);
    const benchmark = /** @type {Benchmark} */ (index.benchmarks[row.b]);
    const metric = /** @type {Metric} */ (index.metrics[benchmark.metric]);
    const key = row.id.slice(machine.name.length + environment.id.length + 2);
    const made =
      cases.get(key) ?? buildCase(key, cases.size, benchmark, metric, row.labels, index.layout);
    cases.set(key, made);
    if (row.last) made.measured = true;
    /** @type {Series} */
    const named = {
      ...row,
      change: row.change === null ? null : (index.changes[row.change] ?? null),
      at,
      newestRun: row.at,
      key,
      case: made,
      machine,
      environment,
      benchmark,
      metric,
    };
    return named;
  });
  return { cases, series };
}

/**
 * Where a reader starts: the machine with the newest values, its environment with the newest.
 * @param {Index} index
 */
function startingPlace({ machines, environments, newest_runs: [first] }) {
  return {
    machine: machines[first?.m ?? 0]?.name ?? "",
    environment: environments[first?.e ?? 0]?.id ?? "",
  };
}

/**
 * Whether two values were measured under the same conditions, as far as is known: nothing is
 * compared across segments. The segments of two series are counted from the newest.
 * @param {Series} now
 * @param {number} at commit index of the value of `now`
 * @param {Series} then
 * @param {number} base commit index of the value of `then`
 */
export const isComparable = (now, at, then, base) =>
  laterSegments(now, at) === laterSegments(then, base);

/** Number of segments that start after a commit. @param {Series} series @param {number} at */
const laterSegments = ({ segments }, at) => segments.filter((start) => start > at).length;

/** Hues of models; where there are more models than hues, they share hues and differ in shape. */
export const MODEL_HUES = 8;

/** @param {Index} index */
export function buildModel(index) {
  /** @type {Commit[]} */
  const commits = index.commits.map(([hash, date, subject, tags, position], at) => ({
    hash,
    date,
    subject,
    tags,
    position,
    at,
  }));
  const { cases, series } = readSeries(index);
  const byPlace = new Map(series.map((entry) => [`${entry.key}\n${entry.m}\n${entry.e}`, entry]));

  /** @type {Map<number, Change[]>} */
  const changesOf = new Map();
  for (const change of index.changes) {
    const changes = changesOf.get(change.s) ?? [];
    changes.push(change);
    changesOf.set(change.s, changes);
  }

  const rank = new Map(index.groups.map((group, at) => [group, at]));
  const allCases = [...cases.values()].sort(
    (a, b) => (rank.get(a.group) ?? 0) - (rank.get(b.group) ?? 0) || a.order - b.order,
  );
  const measured = allCases.filter((what) => what.measured);
  allCases.forEach((what, at) => {
    what.order = at;
    what.hue = Math.max(0, index.models.indexOf(what.model)) % MODEL_HUES;
  });
  /** @type {Release[]} */
  const releases = index.environments
    .map((environment, at) => ({ ...environment, at }))
    .sort((a, b) => compareVersions(a.torch, b.torch) || a.at - b.at);
  const start = startingPlace(index);

  const hashes = commits.map((commit) => commit.hash.toLowerCase());
  const tagged = new Map(commits.flatMap((commit) => commit.tags.map((tag) => [tag, commit.at])));
  // Two environments may pin the same torch: only then is more than the release said.
  const pinned = releases.map((release) => release.torch);
  const twice = new Set(pinned.filter((torch, i) => pinned.indexOf(torch) !== i));

  return {
    index,
    commits,
    newest: commits.length - 1,
    series,
    cases,
    allCases,
    releases,
    changesOf,
    /** A change is news for so many commits; older changes are shown without colour. */
    news: index.rules.news,
    rules: index.rules,
    devices: distinct(allCases.map((what) => what.device)).sort(
      (a, b) => Number(b === "cpu") - Number(a === "cpu"),
    ),
    /** Whether all was measured on one device, so that its hue would say nothing. */
    oneDevice: distinct(measured.map((what) => what.device)).length < 2,
    passes: distinct(allCases.map((what) => what.pass)),
    subject: index.layout.subject,
    /** Headings of the first and the second column of cases. */
    columnNames: index.layout.columns.map(capital),
    /** What values of the two are called together. */
    columnNouns: index.layout.subject === "model" ? ["devices", "passes"] : ["values", "values"],
    /** What series of one case on one machine differ in. */
    releasesName: releases.some((release) => release.torch) ? "torch releases" : "environments",
    modes: distinct(allCases.map((what) => what.mode)),
    /** Metrics that some machine has a value of. */
    measuredMetrics: new Set(
      series.filter(({ last }) => last).map((entry) => entry.case.metricAt),
    ),
    defaultMachine: start.machine,
    defaultEnvironment: start.environment,
    baseline: index.baseline ?? 0,

    /** @param {string} name */
    machineAt: (name) => index.machines.findIndex((machine) => machine.name === name),
    /** @param {string} id */
    environmentAt: (id) => index.environments.findIndex((environment) => environment.id === id),

    /**
     * The series of a case on one machine in one environment.
     * @param {string} key
     * @param {number} m
     * @param {number} e
     */
    find: (key, m, e) => byPlace.get(`${key}\n${m}\n${e}`),

    /** The index of a commit given by the beginning of its hash, or by a tag; -1 if none. @param {string} text */
    findCommit(text) {
      const wanted = text.trim();
      const tag = tagged.get(wanted);
      if (tag !== undefined) return tag;
      if (!/^[0-9a-f]{4,40}$/i.test(wanted)) return -1;
      return hashes.findIndex((hash) => hash.startsWith(wanted.toLowerCase()));
    },

    /** A commit in one line. @param {number} at */
    commitLine(at) {
      const commit = commits[at];
      if (!commit) return "";
      return `${shortHash(commit.hash)} · ${formatDay(commit.date)} · ${commit.subject}`;
    },

    /** The short hash of a commit. @param {number} at */
    shortOf: (at) => shortHash(commits[at]?.hash ?? ""),

    /** An environment in a word or two. @param {Environment} environment */
    environmentLabel: (environment) =>
      environment.torch && !twice.has(environment.torch)
        ? `torch ${environment.torch}`
        : environment.label,
  };
}

/** @type {Model | null} */
let current = null;

/** Makes this the model of the page. @param {Model} model */
export const setModel = (model) => (current = model);

export const hasModel = () => current !== null;

/** The model of the page; views run only once there is one. @returns {Model} */
export function getModel() {
  if (!current) throw new Error("data/index.js has not been read");
  return current;
}
