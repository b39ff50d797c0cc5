// The fields above a view. Each is bound to one parameter of the address: it shows what
// the address says and changes it when a person changes the field.

import { changeParams, currentState, firstParam } from "../address.js";
import { el, freshId } from "./elements.js";

/** @import { State } from "../address.js" */
/** @import { Child } from "./elements.js" */

/**
 * @typedef {{ value: string, label: string }} Choice
 * @typedef {{ node: HTMLElement, show: (state: State) => void }} Field
 */

/**
 * Choices from pairs of value and label.
 * @param {readonly (readonly [string, string])[]} pairs
 * @returns {Choice[]}
 */
export const choicesOf = (pairs) => pairs.map(([value, label]) => ({ value, label }));

/**
 * Choices whose values are their labels, after one that stands for all of them.
 * @param {string[]} values
 * @param {string} noun
 * @returns {Choice[]}
 */
export const allOr = (values, noun) => [
  { value: "", label: `all ${noun}` },
  ...values.map((value) => ({ value, label: value })),
];

/**
 * @param {string} label
 * @param {Child} control
 * @param {Child} [hint]
 */
export const labelled = (label, control, hint) =>
  el("label", { class: "field" }, el("span", { class: "field-name" }, label), control, hint);

/**
 * A list to choose from. The choice may depend on the data, so `options` is a function.
 * @param {string} key
 * @param {string} label
 * @param {object} how
 * @param {(state: State) => Choice[]} how.options
 * @param {(state: State) => string} [how.initial]
 * @param {(patch: Record<string, string | null>) => void} [how.change]
 * @returns {Field}
 */
export function selectField(key, label, { options, initial = () => "", change = changeParams }) {
  const select = el("select", { name: key });
  const node = labelled(label, select);
  select.addEventListener("change", () =>
    change({ [key]: select.value === initial(currentState()) ? null : select.value }),
  );
  return {
    node,
    show(state) {
      const choices = options(state);
      const same =
        select.options.length === choices.length &&
        choices.every(({ value, label: text }, i) => {
          const option = select.options[i];
          return option?.value === value && option.text === text;
        });
      if (!same)
        select.replaceChildren(
          ...choices.map((choice) => el("option", { value: choice.value }, choice.label)),
        );
      select.value = firstParam(state, key, initial(state));
      node.hidden = choices.length < 2;
    },
  };
}

/**
 * A box to tick.
 * @param {string} key
 * @param {string} label
 * @returns {Field}
 */
export function checkField(key, label, { initial = false } = {}) {
  const box = el("input", { type: "checkbox", name: key });
  const node = el("label", { class: "check" }, box, " ", label);
  box.addEventListener("change", () =>
    changeParams({ [key]: box.checked === initial ? null : box.checked ? "1" : "0" }),
  );
  return {
    node,
    show(state) {
      box.checked = firstParam(state, key, initial ? "1" : "0") === "1";
    },
  };
}

/**
 * A text to search for; typing does not fill the browser's history.
 * @param {string} key
 * @param {string} label
 * @returns {Field}
 */
export function searchField(key, label, placeholder = "") {
  const input = el("input", {
    type: "search",
    name: key,
    placeholder,
    autocomplete: "off",
    spellcheck: "false",
  });
  let timer = 0;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => changeParams({ [key]: input.value || null }, { replace: true }), 40);
  });
  return {
    node: labelled(label, input),
    show(state) {
      const value = firstParam(state, key);
      if (input.value !== value && document.activeElement !== input) input.value = value;
    },
  };
}

/**
 * Several of a few: boxes in a row under one name.
 * @param {string} key
 * @param {string} label
 * @param {object} how
 * @param {(state: State) => Choice[]} how.options
 * @param {(state: State) => string[]} how.initial
 * @returns {Field}
 */
export function choicesField(key, label, { options, initial }) {
  const row = el("span", { class: "choices" });
  const name = el("span", { class: "field-name", id: freshId("choices") }, label);
  const node = el("div", { class: "field", role: "group", "aria-labelledby": name.id }, name, row);
  const boxes = () => [...row.querySelectorAll("input")];
  /** @param {Choice} choice */
  const draw = (choice) => {
    const box = el("input", { type: "checkbox", name: key, value: choice.value });
    box.addEventListener("change", () => {
      const ticked = boxes().flatMap((other) => (other.checked ? [other.value] : []));
      if (ticked.length === 0)
        box.checked = true; // nothing chosen would show nothing
      else changeParams({ [key]: ticked });
    });
    return el("label", { class: "check" }, box, " ", choice.label);
  };
  return {
    node,
    show(state) {
      const choices = options(state);
      const chosen = state.params[key] ?? initial(state);
      const now = boxes().map((box) => box.value);
      if (now.join("\n") !== choices.map(({ value }) => value).join("\n"))
        row.replaceChildren(...choices.map(draw));
      for (const box of boxes()) box.checked = chosen.includes(box.value);
      node.hidden = choices.length < 2;
    },
  };
}

/**
 * The fields in a foldable box: open where there is room, one line where there is not.
 * @param {Field[]} fields
 * @returns {Field}
 */
export function controlBox(fields) {
  const roomy = matchMedia("(min-width: 44rem)");
  const box = el(
    "details",
    { class: "controls", "aria-label": "Choose what to see" },
    el("summary", {}, "Choose what to see"),
    el(
      "div",
      { class: "fields" },
      fields.map((field) => field.node),
    ),
  );
  const fit = () => (box.open = roomy.matches);
  fit();
  roomy.addEventListener("change", fit);
  return {
    node: box,
    show(state) {
      for (const field of fields) field.show(state);
    },
  };
}
