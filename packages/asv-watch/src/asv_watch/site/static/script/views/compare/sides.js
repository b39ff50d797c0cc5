// What was measured on each side of a comparison of machines, environments or values of a label.

import { getModel } from "../../data/model.js";

/**
 * What is the same on both sides.
 * @param {Case} what
 * @param {string} dimension
 * @param {(what: Case, label: string) => boolean} differs whether the sides have no value of a label in common
 */
function keyOf(what, dimension, differs) {
  const { labels, benchmark, metric } = what;
  const rest = Object.entries(labels).filter(
    ([name]) => name !== dimension && !differs(what, name),
  );
  // What is not a parameter is distinguished by the suite or the name of the function.
  const suite = benchmark.parameters.includes(dimension) ? benchmark.name : "";
  return JSON.stringify([suite, metric.id, rest.sort()]);
}

/**
 * Tells which labels of a benchmark have no value in common on both sides: one machine measured
 * a CPU and the other one a GPU.
 * @param {Series[][]} sides
 * @returns {(what: Case, label: string) => boolean}
 */
function differingLabels(sides) {
  const values = sides.map((series) => {
    /** @type {Map<string, Set<string>>} */
    const of = new Map();
    for (const { case: what } of series)
      for (const [label, value] of Object.entries(what.labels)) {
        const key = `${what.benchmark.name} ${label}`;
        of.set(key, (of.get(key) ?? new Set()).add(value));
      }
    return of;
  });
  return ({ benchmark }, label) => {
    const [first, second] = values.map((of) => of.get(`${benchmark.name} ${label}`));
    return first && second ? ![...first].some((value) => second.has(value)) : false;
  };
}

/**
 * Where a side of a comparison was measured: in the reader's setup if it was, else in the longest
 * history, else where most of it was.
 * @param {Series[]} series of the side, everywhere
 * @param {Setup} setup
 * @returns {Series[]}
 */
function inOneSetup(series, setup) {
  /** @param {{ m: number, e: number }} where */
  const seriesIn = ({ m, e }) => series.filter((one) => one.m === m && one.e === e);
  const { longest, fullest } = getModel();
  const known = [setup, ...(longest ? [longest] : [])].map(seriesIn).find((one) => one.length);
  return known ?? fullest(series);
}

/**
 * The series of one side.
 * @param {{ setup: Setup, by: Dimension, measured: Series[] }} asked
 * @param {string} side
 * @returns {Series[]}
 */
function seriesOf({ setup, by, measured }, side) {
  const model = getModel();
  if (by.id === "environment") {
    const e = model.environmentAt(side);
    return measured.filter((series) => series.m === setup.m && series.e === e);
  }
  if (by.id !== "machine") {
    const of = measured.filter((series) => series.case.labels[by.id] === side);
    return inOneSetup(of, setup);
  }
  const m = model.machineAt(side);
  const there = measured.filter((series) => series.m === m);
  const { short } = model.index.environments[setup.e] ?? {};
  const alike = there.find((series) => series.environment.short === short);
  return inOneSetup(there, { ...setup, m, e: alike?.e ?? -1 });
}

/**
 * The series of both sides with what a pair has in common, and where they were measured.
 * @param {Sides} asked
 * @returns {{ sides: [string, Series][][], notes: string[] }}
 */
export function sidesOf({ setup, by, a, b }) {
  const measured = getModel().series.filter(
    (series) => series.metric === setup.metric && series.last,
  );
  const found = [a, b].map((side) => seriesOf({ setup, by, measured }, side));
  const ofLabel = !["machine", "environment"].includes(by.id);
  const differs = ofLabel ? () => false : differingLabels(found);
  /** @param {Series} series @returns {[string, Series]} */
  const keyed = (series) => [keyOf(series.case, ofLabel ? by.id : "", differs), series];
  // Of two series with the same key the first one counts.
  const sides = found.map((side) => side.map(keyed).reverse());
  const [from, to] = found.map(([series]) => series);
  const notes = [];
  if (from && to && ofLabel && from.m !== to.m)
    notes.push(`${a} was measured on ${from.machine.name}, ${b} on ${to.machine.name}.`);
  if (from && to && by.id !== "environment" && from.environment.short !== to.environment.short)
    notes.push(`With ${from.environment.short} and with ${to.environment.short}.`);
  return { sides, notes };
}
