// Fields of a view, and of the machine, environment and metric that the whole page is about. Each is
// bound to one parameter of the address: it shows what the address says, and changes it when a person
// changes the field.

import { changeParams, currentState, firstParam } from "../address.js";
import { getModel } from "../data/model.js";
import { formatDay, shortHash } from "../text/format.js";
import { el } from "./elements.js";

/**
 * @param {string} label
 * @param {Child} control
 * @param {Child} [hint]
 */
const labelled = (label, control, hint) =>
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
  let drawn = "";
  return {
    node,
    show(state) {
      const choices = options(state);
      const now = JSON.stringify(choices);
      if (now !== drawn)
        select.replaceChildren(
          ...choices.map((choice) => {
            const [value, text] = typeof choice === "string" ? [choice, choice] : choice;
            return el("option", { value }, text);
          }),
        );
      drawn = now;
      select.value = firstParam(state, key, initial(state));
      node.hidden = choices.length < 2;
    },
  };
}

/** Where a text is typed, without help of the browser. @param {Attributes} attributes */
export const textInput = (attributes) =>
  el("input", { autocomplete: "off", spellcheck: "false", ...attributes });

/**
 * A text to search for; typing does not fill the browser's history.
 * @param {string} key
 * @param {string} label
 * @returns {Field}
 */
export function searchField(key, label, placeholder = "") {
  const input = textInput({ type: "search", name: key, placeholder });
  let timer = 0;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => changeParams({ [key]: input.value || null }, { replace: true }), 40);
  });
  return {
    node: labelled(label, input),
    show(state) {
      input.value = firstParam(state, key);
    },
  };
}

/** Whether a text has all words of another. @param {string} wanted @returns {(text: string) => boolean} */
export function matcher(wanted) {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  return (text) => words.every((word) => text.toLowerCase().includes(word));
}

/** The message for a commit that does not exist. @param {string} text */
export const unknownCommit = (text) =>
  `No measured commit begins with “${text}”: choose one of the list.`;

let suggestingFields = 0;

/**
 * A text with suggestions from a datalist, because a list box of 1,000 entries takes a browser
 * seconds to open.
 * @param {string} label
 * @param {Attributes} attributes
 * @param {() => Iterable<HTMLOptionElement>} suggestions
 * @param {(text: string) => void} change
 */
export function suggestingField(label, attributes, suggestions, change) {
  const list = el("datalist", { id: `suggestions-${++suggestingFields}` });
  const input = textInput({ list: list.id, ...attributes });
  input.addEventListener("focus", () => {
    if (!list.firstChild) list.append(...suggestions());
    input.select();
  });
  input.addEventListener("change", () => change(input.value.trim()));
  return { input, node: labelled(label, input, list) };
}

/**
 * A commit: a hash or its beginning, or a tag.
 * @param {string} key
 * @param {string} label
 * @param {(state: State) => string} initial
 * @returns {Field}
 */
export function commitField(key, label, initial) {
  const { input, node } = suggestingField(label, { name: key }, suggestedCommits, (text) => {
    const known = text === "" || getModel().findCommit(text) >= 0;
    input.setCustomValidity(known ? "" : unknownCommit(text));
    if (input.reportValidity()) changeParams({ [key]: text || null });
  });
  return {
    node,
    show(state) {
      input.value = firstParam(state, key, initial(state));
      input.setCustomValidity("");
    },
  };
}

function suggestedCommits() {
  return [...getModel().commits].reverse().map((commit) => {
    const tags = commit.tags.length ? ` [${commit.tags.join(", ")}]` : "";
    const label = `${formatDay(commit.date)}${tags} ${commit.subject}`;
    return el("option", { value: shortHash(commit.hash), label });
  });
}

/**
 * What is of a suite, or everything for *; without a choice what is of the main suites, or
 * everything where these have nothing.
 * @template T
 * @param {T[]} items
 * @param {string} group
 * @param {(item: T) => Case} caseOf
 */
export function ofGroup(items, group, caseOf) {
  const { mainGroups } = getModel();
  const chosen = items.filter((item) => {
    const own = caseOf(item).line.group;
    return group === "*" || (group ? own === group : mainGroups.has(own));
  });
  return group || chosen.length ? chosen : items;
}

/** The suites that are shown: the main ones, one, or all. */
export const groupField = () =>
  selectField("group", "Suite", {
    options: () => {
      const { subject, index } = getModel();
      const groups = index.groups.map(({ name }) => name);
      return [["", `${subject}s`], ...groups, ["*", "everything"]];
    },
  });

/** Whether a series is of the machine and environment that an address names. @param {Series} series @param {State} state */
export function isOfSetup({ machine, environment }, state) {
  const [name, id] = [firstParam(state, "m"), firstParam(state, "e")];
  return !name || (machine.name === name && (!id || environment.id === id));
}

/** @type {Choice} */
const ALL_MACHINES = ["", "all machines"];

/** @returns {{ node: HTMLElement, show: (state: State, view: View) => void }} */
export function setupBar() {
  const { index } = getModel();
  /** @type {View | null} */
  let view = null;
  /** @param {State} state */
  const setup = (state) => getModel().setup(state);
  /** @type {Record<SetupKey, Field>} */
  const fields = {
    m: selectField("m", "Machine", {
      options: () => [
        ...(view?.allMachines && index.machines.length > 1 ? [ALL_MACHINES] : []),
        ...index.machines.map(({ name }) => name),
      ],
      initial: (state) => (view?.allMachines ? "" : (index.machines[setup(state).m]?.name ?? "")),
      // Another machine may never have used this environment.
      change: (patch) => changeParams({ ...patch, e: null }),
    }),
    e: selectField("e", "Environment", {
      options: (state) =>
        index.newest_runs
          .filter(({ m }) => m === setup(state).m)
          .flatMap(({ e }) => index.environments[e] ?? [])
          .map(({ id, label }) => [id, label]),
      initial: (state) => index.environments[setup(state).e]?.id ?? "",
    }),
    metric: selectField("metric", "Measured", {
      options: () => getModel().metrics.map(({ id, label }) => [id, label]),
      initial: () => getModel().metrics[0]?.id ?? "",
    }),
  };
  const summary = el("summary", {});
  const nodes = Object.values(fields).map((field) => field.node);
  const node = el("details", { class: "setup" }, summary, el("div", { class: "fields" }, nodes));
  const roomy = matchMedia("(min-width: 44rem)");
  const fit = () => (node.open = roomy.matches);
  fit();
  roomy.addEventListener("change", fit);
  return {
    node,
    show(state, shown) {
      view = shown;
      for (const key of /** @type {SetupKey[]} */ (Object.keys(fields))) {
        fields[key].show(state);
        if (!shown.setup.includes(key)) fields[key].node.hidden = true;
        // An environment of all machines is no filter.
        if (key === "e" && shown.allMachines && !state.params.m) fields.e.node.hidden = true;
      }
      node.hidden = Object.values(fields).every((field) => field.node.hidden);
      const short = index.environments[setup(state).e]?.short;
      const used = shown.setup.filter((key) => !fields[key].node.hidden);
      const texts = used.map((key) =>
        key === "e" ? short : fields[key].node.querySelector("select")?.selectedOptions[0]?.text,
      );
      summary.textContent = texts.filter(Boolean).join(" · ");
    },
  };
}
