// Which machine, environment and metric the whole page is about: one bar for all views.

import { changeParams, firstParam } from "../address.js";
import { getModel } from "../data/model.js";
import { el } from "./elements.js";
import { selectField } from "./fields.js";

/** Whether a series is of the machine and environment that an address names. @param {Series} series @param {State} state */
export function isOfSetup({ machine, environment }, state) {
  const [name, id] = [firstParam(state, "m"), firstParam(state, "e")];
  return !name || (machine.name === name && (!id || environment.id === id));
}

/** @returns {{ node: HTMLElement, show: (state: State, view: View) => void }} */
export function setupBar() {
  const { index } = getModel();
  /** @type {View | null} */
  let view = null;
  /** @param {State} state */
  const setup = (state) => getModel().setup(state);
  /** @returns {Choice[]} */
  const all = () => (view?.allMachines && index.machines.length > 1 ? [["", "all machines"]] : []);
  /** @type {Record<SetupKey, Field>} */
  const fields = {
    m: selectField("m", "Machine", {
      options: () => [
        ...all(),
        ...index.machines.map(({ name }) => /** @type {Choice} */ ([name, name])),
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
      node.hidden = !shown.setup.length;
      if (node.hidden) return;
      for (const key of /** @type {SetupKey[]} */ (Object.keys(fields))) {
        fields[key].show(state);
        if (!shown.setup.includes(key)) fields[key].node.hidden = true;
        // An environment of all machines is no filter.
        if (key === "e" && shown.allMachines && !state.params.m) fields.e.node.hidden = true;
      }
      node.hidden = Object.values(fields).every((field) => field.node.hidden);
      const short = index.environments[setup(state).e]?.short;
      const texts = shown.setup.map((key) =>
        key === "e" ? short : fields[key].node.querySelector("select")?.selectedOptions[0]?.text,
      );
      summary.textContent = texts.filter(Boolean).join(" · ");
    },
  };
}
