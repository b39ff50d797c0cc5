// A case: what a person calls one benchmark with one set of parameters.

/** @import { Benchmark, Layout, Metric } from "../../types.js" */

/**
 * @typedef {object} Case
 * @property {string} key name and parameters as asv writes them; stable, used in addresses
 * @property {number} order place in the suites' order
 * @property {Benchmark} benchmark
 * @property {Metric} metric
 * @property {number} metricAt place in the index's metrics
 * @property {Record<string, string>} labels
 * @property {string} model the model, or what the benchmark does
 * @property {string} owner what lists of many cases call it: the model, or the group
 * @property {string} details its other labels, as text
 * @property {string} row model and details
 * @property {string} rowId the same for all devices, passes and metrics of one model
 * @property {string} column device and pass, or values of the project's other columns
 * @property {string} group
 * @property {string} device value of the project's first column, as device
 * @property {string} pass value of its second
 * @property {string} mode
 * @property {string} title
 * @property {boolean} measured whether any machine has a value of it
 * @property {number} hue of its model, a place among eight
 */

/** What a benchmark's function does. @param {string} name */
const functionWords = (name) =>
  (name.split(".").pop() ?? "")
    .replace(/^(time|timeraw|peakmem|mem|track)_/, "")
    .split("_")
    .filter(Boolean);

/**
 * What a function of a suite measures, beyond its metric and its pass.
 * @param {Benchmark} benchmark
 * @param {Metric} metric
 * @param {string | undefined} pass
 */
function subjectOf(benchmark, metric, pass) {
  const rest = functionWords(benchmark.name)
    .filter((word) => word !== pass)
    .join(" ");
  const isMetric =
    rest === metric.label ||
    metric.label.startsWith(`${rest} `) ||
    rest.replaceAll(" ", "-") === metric.id;
  return isMetric ? "" : rest;
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
 * @param {Layout} layout
 * @returns {Case}
 */
export function buildCase(key, order, benchmark, metric, allLabels, layout) {
  const { metric: _, ...labels } = allLabels;
  const ofModels = layout.subject === "model";
  const subject = ofModels ? subjectOf(benchmark, metric, labels.pass) : "";
  const named = ofModels ? ["model", ...layout.columns] : layout.columns;
  const others = Object.entries(labels).filter(([name]) => !named.includes(name));
  const details = [
    ...(subject ? [subject] : []),
    ...others.map(([name, value]) => settingText(name, value)),
  ];
  const words = functionWords(benchmark.name).join(" ");
  const ofModel = labels.model ?? benchmark.name.split(".").at(-2) ?? benchmark.name;
  const model = ofModels ? ofModel : words;
  const [device = "", pass = ""] = layout.columns.map((name) => labels[name] ?? "");
  const column = [device, pass].filter(Boolean).join(" · ") || metric.label;
  const prefix = ofModels || !benchmark.group ? [] : [benchmark.group];
  return {
    key,
    order,
    benchmark,
    metric,
    metricAt: benchmark.metric,
    labels,
    model,
    details: details.join(", "),
    owner: ofModels ? model : benchmark.group,
    row: [model, ...details].join(", "),
    rowId: JSON.stringify([benchmark.group, model, ...details]),
    column,
    group: benchmark.group,
    device,
    pass,
    mode: labels.mode ?? "",
    title: [...prefix, model, ...details, column].join(" · "),
    measured: false,
    hue: 0,
  };
}
