// The fields of the comparison, and which of them make sense for what is shown.

import { getModel } from "../../data/model.js";
import {
  allOr,
  choicesField,
  choicesOf,
  controlBox,
  searchField,
  selectField,
} from "../../page/fields.js";
import {
  environmentField,
  machineField,
  metricChoices,
  revisionField,
} from "../../page/place-fields.js";
import { availableDimensions, availableShows } from "./asking.js";

/** @import { Asked } from "./asking.js" */

/** @type {readonly (readonly [string, string])[]} */
const BASELINE = [["baseline", "the fixed baseline"]];

/** @param {() => string[]} names columns that the others can be divided by */
export function buildFields(names) {
  const model = getModel();
  const fields = {
    show: selectField("show", "Show", {
      options: () => choicesOf(availableShows()),
      initial: () => "values",
    }),
    metric: selectField("metric", "Metric", {
      options: metricChoices,
      initial: () => model.index.metrics[0]?.id ?? "",
    }),
    by: choicesField("by", "Compare", {
      options: () => choicesOf(availableDimensions()),
      initial: () => ["device", "pass"],
    }),
    m: machineField(),
    e: environmentField(),
    rev: revisionField("rev", "At revision", { words: BASELINE, placeholder: "newest values" }),
    other: revisionField("other", "Other revision", {
      words: BASELINE,
      initial: () => "baseline",
    }),
    device: selectField("device", model.columnNames[0] ?? "", {
      options: () => allOr(model.devices, model.columnNouns[0] ?? ""),
    }),
    pass: selectField("pass", model.columnNames[1] ?? "", {
      options: () => allOr(model.passes, model.columnNouns[1] ?? ""),
    }),
    norm: selectField("norm", "Relative to", {
      options: () => [
        { value: "", label: "nothing (absolute)" },
        ...names().map((name) => ({ value: name, label: name })),
      ],
    }),
    scale: selectField("scale", "Scale", {
      options: () =>
        choicesOf([
          ["log", "logarithmic"],
          ["linear", "linear, bars from zero"],
        ]),
      initial: () => "log",
    }),
    order: selectField("order", "Order", {
      options: () =>
        choicesOf([
          ["value", "largest first"],
          ["suite", "as in the suites"],
        ]),
      initial: () => "value",
    }),
    q: searchField("q", "Filter", `${model.subject}, suite, …`),
  };
  /** @param {Asked} asked */
  const fit = (asked) => {
    const absolute = asked.show !== "memory" && asked.show !== "published";
    const values = asked.show === "values";
    const { by, norm, metric, scale, order, other, e, m } = fields;
    if (!values) by.node.hidden = norm.node.hidden = true;
    if (!absolute) metric.node.hidden = scale.node.hidden = true;
    order.node.hidden = asked.show === "memory";
    other.node.hidden = !asked.by.includes("revision");
    if (asked.by.includes("torch")) e.node.hidden = true;
    if (asked.by.includes("machine")) m.node.hidden = true;
  };
  return { ...controlBox(Object.values(fields)), fit };
}
