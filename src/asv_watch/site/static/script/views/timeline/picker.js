// The list from which series of the timeline are picked: models, each with its devices and
// passes.

import { addressOf, allParams, changeParams, currentState, filterWords } from "../../address.js";
import { modelHue } from "../../charts/marks.js";
import { getModel } from "../../data/model.js";
import { el } from "../../page/elements.js";
import { searchField, selectField } from "../../page/fields.js";
import { metricChoices } from "../../page/place-fields.js";
import { byColumn, keySquare } from "../../page/signs.js";
import { shownMetric } from "./asking.js";

/** @import { State } from "../../address.js" */
/** @import { Case } from "../../data/cases.js" */
/** @import { Field } from "../../page/fields.js" */

/** @param {string[]} keys */
const pick = (keys) => changeParams({ s: keys, from: null, to: null });

/** The cases that the list offers. @param {State} state */
function offered(state) {
  const model = getModel();
  const metricAt = model.index.metrics.indexOf(shownMetric(state));
  const words = filterWords(state);
  const chosen = new Set(allParams(state, "s"));
  return model.allCases.filter((what) => {
    if (what.metricAt !== metricAt || !(what.measured || chosen.has(what.key))) return false;
    const text = `${what.title} ${what.group}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** A row with its group, where benchmarks of several groups may do the same. @param {Case} what */
const heading = ({ owner, model }) => (owner && owner !== model ? `${owner} · ${model}` : model);

/** One model: a box for each device and pass. @param {Case[]} members */
function modelBoxes(members) {
  const [first] = members;
  const details = first?.details ? el("span", { class: "muted" }, " " + first.details) : null;
  return el(
    "fieldset",
    { class: "pick" },
    el("legend", {}, first && heading(first), details),
    members.sort(byColumn).map((what) => {
      const box = el("input", { type: "checkbox", value: what.key });
      box.addEventListener("change", () => {
        const others = allParams(currentState(), "s").filter((key) => key !== what.key);
        pick(box.checked ? [...others, what.key] : others);
      });
      const square = keySquare(what.device, what.pass, modelHue(what));
      return el("label", { class: "check" }, box, square, what.column);
    }),
  );
}

/** @param {Case[]} cases */
function drawList(cases) {
  if (!cases.length) return [el("p", { class: "note" }, "No series has this name.")];
  /** @type {Map<string, Case[]>} */
  const rows = new Map();
  for (const what of cases) rows.set(what.rowId, [...(rows.get(what.rowId) ?? []), what]);
  return [...rows.values()].map(modelBoxes);
}

/** @returns {Field} */
export function buildPicker() {
  const list = el("div", { class: "picker-list" });
  const filter = searchField("q", `Find a ${getModel().subject}`, "words of its name …");
  const metric = selectField("metric", "Metric", {
    options: metricChoices,
    initial: (state) => shownMetric(state).id,
    change: ({ metric: id }) => changeParams({ metric: id ?? getModel().index.metrics[0]?.id }),
  });
  const all = el(
    "button",
    {
      type: "button",
      class: "button",
      onclick: () => pick(offered(currentState()).map((what) => what.key)),
    },
    "All listed",
  );
  const none = el("a", { class: "button", href: "#/timeline" }, `Every ${getModel().subject}`);
  const node = el(
    "details",
    { class: "picker", "aria-label": "Choose series" },
    el("summary", {}, "Choose series"),
    el("div", { class: "fields" }, metric.node, filter.node),
    el("div", { class: "actions" }, all, none),
    list,
  );
  const roomy = matchMedia("(min-width: 56rem)");
  const fit = () => (node.open = roomy.matches);
  fit();
  roomy.addEventListener("change", fit);

  let drawn = "";
  return {
    node,
    show(state) {
      metric.show(state);
      filter.show(state);
      const chosen = new Set(allParams(state, "s"));
      none.hidden = chosen.size === 0;
      none.href = addressOf("timeline", { ...state.params, s: null, from: null, to: null });
      const cases = offered(state);
      const key = cases.map((what) => what.key).join("\n") || "none";
      if (key !== drawn) list.replaceChildren(...drawList(cases));
      drawn = key;
      for (const box of list.querySelectorAll("input")) box.checked = chosen.has(box.value);
    },
  };
}
