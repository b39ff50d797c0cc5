// What one address asks of the comparison, with its defaults filled in.

import { filterWords, firstParam } from "../../address.js";
import { getModel } from "../../data/model.js";
import { unknownRevision } from "../../page/place-fields.js";

/** @import { State } from "../../address.js" */
/** @import { CommitIndex, Metric } from "../../../types.js" */

/**
 * @typedef {"values" | "devices" | "passes" | "modes" | "memory" | "published"} Show
 * @typedef {"device" | "pass" | "mode" | "torch" | "machine" | "revision"} Dimension
 *
 * @typedef {object} Asked
 * @property {Show} show
 * @property {Dimension[]} by what the columns differ in
 * @property {number} m
 * @property {number} e
 * @property {CommitIndex} rev -1 for the newest value of each series
 * @property {CommitIndex} other the second revision, if `by` names revisions; else -1
 * @property {Metric} metric
 * @property {string} device
 * @property {string} pass
 * @property {string[]} words
 * @property {string} norm name of the column that the others are divided by
 * @property {"log" | "linear"} scale
 * @property {"value" | "suite"} order
 */

/** @type {[Show, string][]} */
const SHOWS = [
  ["values", "values"],
  ["devices", "speed-up of other devices over CPU"],
  ["passes", "backward over forward"],
  ["modes", "speed-up over eager"],
  ["memory", "time against memory"],
  ["published", "published values beside ours"],
];

/** What there is data for. */
export function availableShows() {
  const { devices, passes, modes, index, subject } = getModel();
  const ofModels = subject === "model";
  /** @type {Record<Show, boolean>} */
  const has = {
    values: true,
    devices: ofModels && devices.length > 1,
    passes: ofModels && passes.length > 1,
    modes: modes.includes("eager"),
    memory: index.metrics.some((metric) => metric.unit === "bytes"),
    published: index.published.length > 0,
  };
  return SHOWS.filter(([name]) => has[name]);
}

/** @type {[Dimension, string][]} */
const DIMENSIONS = [
  ["device", "device"],
  ["pass", "pass"],
  ["mode", "mode"],
  ["torch", "torch release"],
  ["machine", "machine"],
  ["revision", "revision"],
];

/** Dimensions in which there is more than one value. */
export function availableDimensions() {
  const { devices, passes, modes, releases, index, commits, columnNames, releasesName } =
    getModel();
  const [first = "", second = ""] = columnNames.map((name) => name.toLowerCase());
  /** @type {Record<Dimension, number>} */
  const count = {
    device: devices.length,
    pass: passes.length,
    mode: modes.length,
    torch: releases.length,
    machine: index.machines.length,
    revision: commits.length,
  };
  /** @type {Partial<Record<Dimension, string>>} */
  const own = { device: first, pass: second };
  own.torch = releasesName.replace(/s$/, "");
  return DIMENSIONS.filter(([name]) => count[name] > 1).map(
    ([name, text]) => /** @type {[Dimension, string]} */ ([name, own[name] ?? text]),
  );
}

/**
 * @param {State} state
 * @returns {Asked}
 * @throws {Error} if the address names something that is not there
 */
export function readComparison(state) {
  const model = getModel();
  const machine = firstParam(state, "m", model.defaultMachine);
  const environment = firstParam(state, "e", model.defaultEnvironment);
  const m = model.machineAt(machine);
  const e = model.environmentAt(environment);
  if (m < 0) throw new Error(`No machine is called “${machine}”: choose one of the list.`);
  if (e < 0) throw new Error(`No environment is called “${environment}”: choose one of the list.`);
  /** @param {string} key */
  const revision = (key) => {
    const text = firstParam(state, key);
    if (!text) return -1;
    const at = text === "baseline" ? model.baseline : model.findCommit(text);
    if (at < 0) throw new Error(unknownRevision(text));
    return at;
  };
  const { metrics } = model.index;
  const show = SHOWS.find(([name]) => name === firstParam(state, "show"))?.[0] ?? "values";
  const wanted = state.params.by ?? ["device", "pass"];
  const by = availableDimensions()
    .map(([name]) => name)
    .filter((name) => show === "values" && wanted.includes(name));
  const other = firstParam(state, "other") ? revision("other") : model.baseline;
  const metric = metrics.find(({ id }) => id === firstParam(state, "metric")) ?? metrics[0];
  return {
    show,
    by,
    m,
    e,
    rev: revision("rev"),
    other: by.includes("revision") ? other : -1,
    metric: /** @type {Metric} */ (metric),
    device: firstParam(state, "device"),
    pass: firstParam(state, "pass"),
    words: filterWords(state),
    norm: firstParam(state, "norm"),
    scale: firstParam(state, "scale") === "linear" ? "linear" : "log",
    order: firstParam(state, "order") === "suite" ? "suite" : "value",
  };
}
