// What one address asks of the timeline, with its defaults filled in.

import { allParams, firstParam } from "../../address.js";
import { getModel } from "../../data/model.js";

/** @import { State } from "../../address.js" */
/** @import { Metric } from "../../../types.js" */
/** @import { YAxis } from "../../charts/line-axes.js" */

/**
 * @typedef {"commit" | "date" | "torch"} XAxis
 *
 * @typedef {object} Asked
 * @property {boolean} grid a small chart of every model, as no series was chosen
 * @property {string[]} keys the cases chosen
 * @property {string[]} unknown keys that no case has
 * @property {number} m
 * @property {string} machine
 * @property {number[]} environments
 * @property {XAxis} x
 * @property {YAxis} y
 * @property {string} last how many commits are shown, or "all"
 * @property {string} relative what relative values refer to
 * @property {string} from
 * @property {string} to
 * @property {boolean} interval
 * @property {boolean} quartiles
 * @property {boolean} levels
 * @property {Metric} metric
 */

export const LAST_CHOICES = ["10", "50", "200", "1000", "all"];
/** @type {XAxis[]} */
const X_AXES = ["commit", "date", "torch"];
/** @type {YAxis[]} */
const Y_AXES = ["linear", "log", "relative"];

/**
 * The metric in view: the one asked for, else that of the first series chosen.
 * @param {State} state
 */
export function shownMetric(state) {
  const model = getModel();
  const { metrics } = model.index;
  const asked = metrics.find((metric) => metric.id === firstParam(state, "metric"));
  const chosen = model.cases.get(allParams(state, "s")[0] ?? "");
  return /** @type {Metric} */ (asked ?? chosen?.metric ?? metrics[0]);
}

/**
 * @param {State} state
 * @returns {Asked}
 */
export function readTimeline(state) {
  const model = getModel();
  const wanted = allParams(state, "s");
  const grid = wanted.length === 0;
  const machine = firstParam(state, "m", model.defaultMachine);
  return {
    grid,
    keys: wanted.filter((key) => model.cases.has(key)),
    unknown: wanted.filter((key) => !model.cases.has(key)),
    m: model.machineAt(machine),
    machine,
    environments: (state.params.e ?? [model.defaultEnvironment])
      .map(model.environmentAt)
      .filter((e) => e >= 0),
    x: X_AXES.find((name) => name === firstParam(state, "x")) ?? "commit",
    y: Y_AXES.find((name) => name === firstParam(state, "y")) ?? (grid ? "relative" : "log"),
    last: LAST_CHOICES.find((name) => name === firstParam(state, "n")) ?? "200",
    relative: firstParam(state, "rel"),
    from: firstParam(state, "from"),
    to: firstParam(state, "to"),
    interval: firstParam(state, "ci", "1") === "1",
    quartiles: firstParam(state, "quartiles", "0") === "1",
    levels: firstParam(state, "steps", "1") === "1",
    metric: shownMetric(state),
  };
}

/**
 * What changed around the code of the series in view: recipe, machine, environment.
 * @param {Asked} asked
 */
export const eventsOf = ({ m, environments }) =>
  getModel()
    .index.events.filter(
      (event) => event.m === m && (event.e === null || environments.includes(event.e)),
    )
    .map((event) => ({ at: event.c, text: event.text }));
