// The index as things with names: commits, cases, series.

import { firstParam } from "../address.js";
import { formatDay, shortHash } from "../text/format.js";

/** @param {Index} index @returns {Case[]} */
function readCases(index) {
  return index.cases.map((entry, position) => {
    const benchmark = /** @type {Benchmark} */ (index.benchmarks[entry.b]);
    return {
      ...entry,
      index: position,
      benchmark,
      metric: /** @type {Metric} */ (index.metrics[benchmark.metric]),
      line: /** @type {CaseRow} */ (index.rows[entry.row]),
      field: /** @type {CaseColumn} */ (index.columns[entry.column]),
      measured: false,
    };
  });
}

/** @param {Index} index @param {Case[]} cases @returns {Series[]} */
function readSeries(index, cases) {
  return index.series.map((row, position) => {
    const what = /** @type {Case} */ (cases[row.c]);
    if (row.last) what.measured = true;
    return {
      ...row,
      index: position,
      case: what,
      machine: /** @type {Machine} */ (index.machines[row.m]),
      environment: /** @type {Environment} */ (index.environments[row.e]),
      benchmark: what.benchmark,
      metric: what.metric,
      change: row.change === null ? null : (index.changes[row.change] ?? null),
    };
  });
}

/** Number of segments that start after a commit. @param {Series} series @param {number} commit */
const laterSegments = ({ segments }, commit) => segments.filter((start) => start > commit).length;

/**
 * Whether two values of a series were measured under the same conditions, as far as is known.
 * @param {Series} series
 * @param {number} commit
 * @param {number} base
 */
export const isComparable = (series, commit, base) =>
  laterSegments(series, commit) === laterSegments(series, base);

/** @param {Index} index */
export function buildModel(index) {
  /** @type {Commit[]} */
  const commits = index.commits.map(([hash, date, subject, tags], position) => {
    return { hash, date, subject, tags, index: position };
  });
  const cases = readCases(index);
  const series = readSeries(index, cases);
  const bySetup = new Map(series.map((entry) => [`${entry.c} ${entry.m} ${entry.e}`, entry]));
  const ofCase = Map.groupBy(series, (entry) => entry.case);
  const byKey = new Map(cases.map((what) => [what.key, what]));
  const changes = [...index.changes, ...index.exact_changes];
  const changesOf = Map.groupBy(changes, ({ s }) => s);
  const hashes = commits.map((commit) => commit.hash.toLowerCase());
  const tagged = new Map(
    commits.flatMap((commit) => commit.tags.map((tag) => [tag, commit.index])),
  );
  /** The machine and environment that measured the most commits. */
  const longest = [...index.newest_runs].sort((a, b) => b.commits - a.commits)[0];
  const measuredMetrics = new Set(
    cases.filter((what) => what.measured).map((what) => what.metric),
  );

  return {
    index,
    commits,
    series,
    cases,
    /** Those of times and memory first. */
    changes,
    changesOf,
    metrics: index.metrics.filter((metric) => measuredMetrics.has(metric)),
    subject: index.subject,
    mainGroups: new Set(index.groups.flatMap(({ name, main }) => (main ? [name] : []))),

    /**
     * The machine, environment and metric that an address is about. An environment that the
     * machine never used gives way to the newest that it used. Who chose nothing starts where the
     * history is longest.
     * @param {State} state
     * @returns {Setup}
     */
    setup(state) {
      const [machine, environment] = [firstParam(state, "m"), firstParam(state, "e")];
      const m = machine
        ? index.machines.findIndex(({ name }) => name === machine)
        : (longest?.m ?? 0);
      if (m < 0) throw new Error(`No machine is called “${machine}”: choose one of the list.`);
      const used = index.newest_runs.filter((run) => run.m === m).map((run) => run.e);
      const asked = index.environments.findIndex(({ id }) => id === environment);
      if (environment && asked < 0)
        throw new Error(`No environment is called “${environment}”: choose one of the list.`);
      const start = longest?.m === m ? longest.e : used[0];
      const e = used.includes(asked) ? asked : (start ?? Math.max(asked, 0));
      const wanted = firstParam(state, "metric");
      const metric = this.metrics.find(({ id }) => id === wanted) ?? this.metrics[0];
      return { m, e, metric: /** @type {Metric} */ (metric ?? index.metrics[0]) };
    },

    /** @param {{ m: number, e: number }} setup */
    commitsAt: ({ m, e }) => index.newest_runs.find((run) => run.m === m && run.e === e),

    /** Of some series, those of the setup that has the most of them. @param {Series[]} some */
    fullest(some) {
      const setups = index.newest_runs.map(({ m, e }) =>
        some.filter((one) => one.m === m && one.e === e),
      );
      return setups.reduce((most, one) => (one.length > most.length ? one : most), []);
    },

    /** @param {string} key */
    caseOf: (key) => byKey.get(key),

    /**
     * The series of a case on one machine in one environment.
     * @param {Case} what
     * @param {{ m: number, e: number }} setup
     */
    find: (what, { m, e }) => bySetup.get(`${what.index} ${m} ${e}`),

    /**
     * The series of a case to look at first: of this setup if it has a value, else the newest that
     * has one, of this machine before others.
     * @param {Case} what
     * @param {{ m: number, e: number }} setup
     */
    measured(what, setup) {
      const here = this.find(what, setup);
      if (here?.last) return here;
      const all = ofCase.get(what) ?? [];
      const known = all.filter(({ last }) => last);
      return known.findLast(({ m }) => m === setup.m) ?? known.at(-1) ?? here ?? all[0];
    },

    /** All series of one machine, environment and metric, in order. @param {Setup} setup */
    seriesAt({ m, e, metric }) {
      return series
        .filter((one) => one.m === m && one.e === e && one.metric === metric)
        .sort((a, b) => a.c - b.c);
    },

    /** The index of a commit given by the beginning of its hash, or by a tag; -1 if none. @param {string} text */
    findCommit(text) {
      const wanted = text.trim();
      const tag = tagged.get(wanted);
      if (tag !== undefined) return tag;
      if (!/^[0-9a-f]{4,40}$/i.test(wanted)) return -1;
      return hashes.findIndex((hash) => hash.startsWith(wanted.toLowerCase()));
    },

    /** A commit in one line. @param {number} commitIndex */
    commitLine(commitIndex) {
      const commit = commits[commitIndex];
      if (!commit) return "";
      return `${shortHash(commit.hash)} · ${formatDay(commit.date)} · ${commit.subject}`;
    },

    /** The short hash of a commit. @param {number} commitIndex */
    shortOf: (commitIndex) => shortHash(commits[commitIndex]?.hash ?? ""),
  };
}

/** @typedef {ReturnType<typeof buildModel>} Model */

/** @type {Model | null} */
let current = null;

/** Makes this the model of the page. @param {Model} model */
export const setModel = (model) => (current = model);

/** The model of the page; views run only once there is one. @returns {Model} */
export function getModel() {
  if (!current) throw new Error("data/index.js has not been read");
  return current;
}
