// What two sides of a comparison can differ in (commits, releases, machines, values of a label), and
// what was measured on each of them.

import { firstParam } from "../../address.js";
import { getModel } from "../../data/model.js";

/** @param {string[]} values @returns {[string, string]} */
const firstTwo = ([a = "", b = ""]) => [a, b];

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
  const { p, c } = compared ?? { p: Math.max(0, newest - 1), c: newest };
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
  return [...counts].map(([id, of]) => {
    const order = getModel().index.parameters[id] ?? [];
    const choices = [...of.keys()].sort((a, b) => order.indexOf(a) - order.indexOf(b));
    const most = [...choices].sort((a, b) => (of.get(b) ?? 0) - (of.get(a) ?? 0)).slice(0, 2);
    return { id, choices, initial: firstTwo(choices.filter((value) => most.includes(value))) };
  });
}

/** All that can be compared here. @param {Setup} setup @returns {[Dimension, ...Dimension[]]} */
export function dimensions(setup) {
  const { index } = getModel();
  const releases = index.releases.find(({ m }) => m === setup.m)?.versions ?? [];
  const withRuns = new Set(index.newest_runs.map(({ m }) => m));
  const machines = index.machines.map(({ name }) => name).filter((_, m) => withRuns.has(m));
  const here = index.machines[setup.m]?.name ?? "";
  /** @type {Dimension[]} */
  const others = [
    { id: "release", choices: releases, initial: firstTwo(releases.slice(-2)) },
    {
      id: "machine",
      choices: machines,
      initial: [machines.find((name) => name !== here) ?? here, here],
    },
    ...labelDimensions(setup.metric),
  ];
  return [
    { id: "commit", choices: [], initial: initialCommits(setup) },
    ...others.filter(({ choices }) => choices.length > 1),
  ];
}

/** What an address compares: by default the newest two releases, else commits. @param {State} state @returns {Sides} */
export function readSides(state) {
  const setup = getModel().setup(state);
  const all = dimensions(setup);
  const wanted = firstParam(state, "by", "release");
  const by = all.find(({ id }) => id === wanted) ?? all[0];
  const [a, b] = by.initial;
  return { setup, by, a: firstParam(state, "a", a), b: firstParam(state, "b", b) };
}

/**
 * Tells which labels of a benchmark have no value in common on both sides: one machine measured
 * a CPU and the other one a GPU.
 * @param {Series[][]} sides
 * @returns {(what: Case, label: string) => boolean}
 */
function differingLabels(sides) {
  /** @param {Case} what @param {string} label */
  const keyOf = ({ benchmark }, label) => `${benchmark.name} ${label}`;
  const values = sides.map((series) => {
    const pairs = series.flatMap(({ case: what }) =>
      Object.entries(what.labels).map(([label, value]) => ({ key: keyOf(what, label), value })),
    );
    return Map.groupBy(pairs, ({ key }) => key);
  });
  return (what, label) => {
    const [first, second] = values.map((of) => of.get(keyOf(what, label)));
    const known = new Set(second?.map(({ value }) => value));
    return Boolean(first && second && !first.some(({ value }) => known.has(value)));
  };
}

/**
 * The series of one side: of the reader's setup where it has a value.
 * @param {Sides} asked
 * @param {string} side
 * @returns {Series[]}
 */
function seriesOf({ setup, by }, side) {
  const model = getModel();
  if (by.id === "machine") {
    const there = model.series.filter(
      ({ machine, metric, last }) => machine.name === side && metric === setup.metric && last,
    );
    const { short } = model.index.environments[setup.e] ?? {};
    const alike = there.filter(({ environment }) => environment.short === short);
    return alike.length ? alike : model.fullest(there);
  }
  const of = model.cases.filter(
    ({ metric, labels }) => metric === setup.metric && labels[by.id] === side,
  );
  return of.flatMap((what) => model.measured(what, setup) ?? []).filter(({ last }) => last);
}

/**
 * The series of both sides that have everything in common but what is compared.
 * @param {Sides} asked
 * @returns {{ other: Series, series: Series }[]}
 */
export function seriesPairs(asked) {
  const { by, a, b } = asked;
  const sides = [a, b].map((side) => seriesOf(asked, side));
  const differs = by.id === "machine" ? differingLabels(sides) : () => false;
  /** @param {Series} series */
  function keyOf({ case: what }) {
    const { labels, benchmark } = what;
    const rest = Object.entries(labels).filter(([name]) => name !== by.id && !differs(what, name));
    // What is not a parameter is distinguished by the suite or the name of the function.
    const suite = benchmark.parameters.includes(by.id) ? benchmark.name : "";
    return JSON.stringify([suite, rest.sort()]);
  }
  // Of two series with the same key the first one counts.
  const [first, second] = sides.map(
    (side) => new Map(side.map((one) => /** @type {const} */ ([keyOf(one), one])).reverse()),
  );
  return [...(second ?? [])].flatMap(([key, series]) => {
    const other = first?.get(key);
    return other ? [{ other, series }] : [];
  });
}
