// What two sides of a comparison can differ in: commits, environments, machines, parameters.

import { firstParam } from "../../address.js";
import { getModel } from "../../data/model.js";

/** @param {string[]} values @returns {Choice[]} */
const plain = (values) => values.map((value) => [value, value]);

/** @param {Choice[]} choices @returns {[string, string]} */
const firstTwo = ([a, b]) => [a?.[0] ?? "", b?.[0] ?? ""];

/**
 * The newest commits that a comparison found to differ here; without any the newest commit and
 * the one before it.
 * @param {Setup} setup
 * @returns {[string, string]}
 */
function initialCommits(setup) {
  const { shortOf, commitsAt, index, series } = getModel();
  const compared = index.changes.find(({ s, state }) => {
    const { m, e } = series[s] ?? {};
    return state === "measured" && m === setup.m && e === setup.e;
  });
  const newest = commitsAt(setup)?.c ?? 0;
  const { p, c } = compared ?? { p: newest - 1, c: newest };
  return [shortOf(p), shortOf(c)];
}

/**
 * Parameters and other labels that have several values in the cases of a metric, in the order in
 * which suites list them. The first choice are the two values with the most cases.
 * @param {Metric} metric
 * @returns {Dimension[]}
 */
function labelDimensions(metric) {
  /** @type {Map<string, Map<string, number>>} */
  const counts = new Map();
  for (const { labels, measured, metric: own } of getModel().cases)
    for (const [name, value] of measured && own === metric ? Object.entries(labels) : []) {
      const of = counts.get(name) ?? new Map();
      counts.set(name, of.set(value, (of.get(value) ?? 0) + 1));
    }
  counts.delete(getModel().subject);
  return [...counts].flatMap(([name, of]) => {
    if (of.size < 2) return [];
    const order = getModel().index.parameters[name] ?? [];
    const values = [...of.keys()].sort((a, b) => order.indexOf(a) - order.indexOf(b));
    const most = [...values].sort((a, b) => (of.get(b) ?? 0) - (of.get(a) ?? 0)).slice(0, 2);
    const first = plain(values.filter((value) => most.includes(value)));
    return { id: name, name, choices: plain(values), initial: () => firstTwo(first) };
  });
}

/** All that can be compared here. @param {Setup} setup @returns {Dimension[]} */
export function dimensions({ m, metric }) {
  const { index } = getModel();
  const used = new Set(index.newest_runs.flatMap((run) => (run.m === m ? [run.e] : [])));
  /** @type {Choice[]} */
  const environments = index.environments
    .filter((_, position) => used.has(position))
    .map(({ id, short }) => [id, short]);
  const withRuns = new Set(index.newest_runs.map((run) => run.m));
  const machines = plain(
    index.machines.flatMap(({ name }, position) => (withRuns.has(position) ? [name] : [])),
  );
  const releases = index.releases.find((of) => of.m === m)?.versions ?? [];
  /** @type {Dimension[]} */
  const all = [
    { id: "commit", name: "commit", choices: [], initial: initialCommits },
    {
      id: "release",
      name: "release",
      choices: plain(releases),
      initial: () => firstTwo(plain(releases.slice(-2))),
    },
    {
      id: "environment",
      name: "environment",
      choices: environments,
      initial: () => firstTwo(environments.slice(-2)),
    },
    {
      id: "machine",
      name: "machine",
      choices: machines,
      initial: () => {
        const here = index.machines[m]?.name ?? "";
        const longestFirst = [...index.newest_runs].sort((a, b) => b.commits - a.commits);
        const other = longestFirst.find((run) => run.m !== m);
        return [index.machines[other?.m ?? m]?.name ?? "", here];
      },
    },
    ...labelDimensions(metric),
  ];
  return all.filter(({ id, choices }) =>
    id === "commit" ? index.commits.length > 1 : choices.length > 1,
  );
}

/** What an address compares: by default the newest two releases, else commits. @param {State} state */
export function readSides(state) {
  const setup = getModel().setup(state);
  const all = dimensions(setup);
  const initial = all.some(({ id }) => id === "release") ? "release" : "commit";
  const wanted = firstParam(state, "by", initial);
  const by = all.find(({ id }) => id === wanted) ?? all[0];
  const [a, b] = by?.initial(setup) ?? ["", ""];
  return { setup, by, a: firstParam(state, "a", a), b: firstParam(state, "b", b) };
}

/** What a side is called. @param {Dimension} by @param {string} side */
export const sideName = ({ choices }, side) =>
  choices.find(([value]) => value === side)?.[1] ?? side;
