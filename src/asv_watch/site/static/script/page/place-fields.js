// Fields that name something of the index: machines, environments, metrics, revisions.

import { changeParams, firstParam } from "../address.js";
import { getModel } from "../data/model.js";
import { formatDay, shortHash } from "../text/format.js";
import { el, freshId } from "./elements.js";
import { labelled, selectField } from "./fields.js";

/** @import { State } from "../address.js" */
/** @import { Choice, Field } from "./fields.js" */

/** @returns {Choice[]} */
const machines = () => getModel().index.machines.map(({ name }) => ({ value: name, label: name }));
/** @returns {Choice[]} */
const environments = () => getModel().releases.map(({ id, label }) => ({ value: id, label }));

export const machineField = () =>
  selectField("m", "Machine", {
    options: machines,
    initial: () => getModel().defaultMachine,
  });

/** @param {(state: State) => string} [initial] */
export const environmentField = (
  key = "e",
  label = "Environment",
  initial = () => getModel().defaultEnvironment,
) => selectField(key, label, { options: environments, initial });

/** Machines, or all of them. */
export const anyMachineField = () =>
  selectField("m", "Machine", {
    options: () => [{ value: "", label: "all machines" }, ...machines()],
  });

/** Environments, or all of them. */
export const anyEnvironmentField = () =>
  selectField("e", "Environment", {
    options: () => [{ value: "", label: "all environments" }, ...environments()],
  });

/** @returns {Choice[]} */
export const metricChoices = () =>
  getModel().index.metrics.map(({ id, label }) => ({ value: id, label }));

/** The message for a revision that does not exist. @param {string} text */
export const unknownRevision = (text) =>
  `No measured commit begins with “${text}”: choose one of the list.`;

/**
 * A revision: a hash or its beginning, a tag, or a word such as "previous". Suggestions come
 * from a datalist, because a list box of 1,000 entries takes a browser seconds to open.
 * @param {string} key
 * @param {string} label
 * @param {object} [how]
 * @param {readonly (readonly [string, string])[]} [how.words] words that are allowed, with labels
 * @param {() => string} [how.initial]
 * @param {string} [how.placeholder]
 * @returns {Field}
 */
export function revisionField(
  key,
  label,
  { words = [], initial = () => "", placeholder = "" } = {},
) {
  const list = el("datalist", { id: freshId("revisions") });
  const complaint = el("span", { class: "complaint", role: "alert", id: freshId("complaint") });
  const input = el("input", {
    name: key,
    list: list.id,
    placeholder,
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": complaint.id,
  });
  const node = labelled(label, input, [list, complaint]);
  node.classList.add("revision");
  input.addEventListener("focus", () => {
    if (!list.firstChild) list.append(...suggestions(words));
    input.select();
  });
  input.addEventListener("change", () => {
    const text = input.value.trim();
    const known =
      text === "" || words.some(([word]) => word === text) || getModel().findCommit(text) >= 0;
    complaint.textContent = known ? "" : unknownRevision(text);
    input.setAttribute("aria-invalid", String(!known));
    if (known) changeParams({ [key]: text === initial() ? null : text });
  });
  return {
    node,
    show(state) {
      const typing = document.activeElement === input;
      if (typing && input.getAttribute("aria-invalid") === "true") return;
      input.value = firstParam(state, key, initial());
      input.setAttribute("aria-invalid", "false");
      complaint.textContent = "";
    },
  };
}

/** @param {readonly (readonly [string, string])[]} words */
function suggestions(words) {
  const options = words.map(([value, text]) => el("option", { value, label: text }));
  for (const commit of [...getModel().commits].reverse()) {
    const tags = commit.tags.length ? ` [${commit.tags.join(", ")}]` : "";
    const text = `${formatDay(commit.date)}${tags} ${commit.subject}`;
    options.push(el("option", { value: shortHash(commit.hash), label: text }));
  }
  return options;
}
