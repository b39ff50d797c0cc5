// A case: what a person calls one benchmark with one set of parameters.

/** @import { Benchmark, Metric } from "../../types.js" */

/**
 * @typedef {object} Case
 * @property {string} key name and parameters as asv writes them; stable, used in addresses
 * @property {number} order place in the suites' order
 * @property {Benchmark} benchmark
 * @property {Metric} metric
 * @property {number} metricAt place in the index's metrics
 * @property {Record<string, string>} labels
 * @property {string} model
 * @property {string} details what else tells it apart, as text
 * @property {string} row model and details
 * @property {string} rowId the same for all devices, passes and metrics of one model
 * @property {string} column device and pass
 * @property {string} group
 * @property {string} device
 * @property {string} pass
 * @property {string} mode
 * @property {string} title
 * @property {boolean} measured whether any machine has a value of it
 */

/** Labels with a place of their own in tables. */
const NAMED = ["model", "device", "pass"];

/**
 * What a function of a suite measures, beyond its metric and its pass.
 * @param {Benchmark} benchmark
 * @param {Metric} metric
 * @param {string | undefined} pass
 */
function subjectOf(benchmark, metric, pass) {
  const name = benchmark.name.split(".").pop() ?? "";
  const rest = name
    .replace(/^(time|timeraw|peakmem|mem|track)_/, "")
    .split("_")
    .filter((word) => word && word !== pass)
    .join(" ");
  const said =
    rest === metric.label ||
    metric.label.startsWith(`${rest} `) ||
    rest.replaceAll(" ", "-") === metric.id;
  return said ? "" : rest;
}

/**
 * A parameter as a person says it: "batch 5", but "compiled" and not "mode compiled".
 * @param {string} name
 * @param {string} value
 */
export const settingText = (name, value) =>
  /^\p{L}/u.test(value) && !["True", "False", "None"].includes(value) ? value : `${name} ${value}`;

/**
 * @param {string} key
 * @param {number} order
 * @param {Benchmark} benchmark
 * @param {Metric} metric
 * @param {Record<string, string>} allLabels
 * @returns {Case}
 */
export function buildCase(key, order, benchmark, metric, allLabels) {
  const { metric: _, ...labels } = allLabels;
  const subject = subjectOf(benchmark, metric, labels.pass);
  const others = Object.entries(labels).filter(([name]) => !NAMED.includes(name));
  const details = [
    ...(subject ? [subject] : []),
    ...others.map(([name, value]) => settingText(name, value)),
  ];
  const model = labels.model ?? benchmark.name.split(".").at(-2) ?? benchmark.name;
  const column = [labels.device, labels.pass].filter(Boolean).join(" · ") || metric.label;
  return {
    key,
    order,
    benchmark,
    metric,
    metricAt: benchmark.metric,
    labels,
    model,
    details: details.join(", "),
    row: [model, ...details].join(", "),
    rowId: JSON.stringify([benchmark.group, model, ...details]),
    column,
    group: benchmark.group,
    device: labels.device ?? "",
    pass: labels.pass ?? "",
    mode: labels.mode ?? "",
    title: [model, ...details, column].join(" · "),
    measured: false,
  };
}
