// What was measured on each side of a comparison of machines, environments or values of a label.

import { getModel } from "../../data/model.js";

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
  const measured = model.series.filter(({ metric, last }) => metric === setup.metric && last);
  if (by.id === "environment") {
    const e = model.environmentAt(side);
    return measured.filter((one) => one.m === setup.m && one.e === e);
  }
  if (by.id === "machine") {
    const there = measured.filter(({ m }) => m === model.machineAt(side));
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
  const isLabel = !["machine", "environment"].includes(by.id);
  const differs = isLabel ? () => false : differingLabels(sides);
  /** @param {Series} series */
  function keyOf({ case: what }) {
    const { labels, benchmark, metric } = what;
    const rest = Object.entries(labels).filter(
      ([name]) => !(isLabel && name === by.id) && !differs(what, name),
    );
    // What is not a parameter is distinguished by the suite or the name of the function.
    const suite = isLabel && benchmark.parameters.includes(by.id) ? benchmark.name : "";
    return JSON.stringify([suite, metric.id, rest.sort()]);
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
