// Search across all cases: the key / opens it, typing finds, Enter goes to the case's page.

import { addressOf, visitAddress } from "./address.js";
import { getModel } from "./data/model.js";
import { announce } from "./page/announce.js";
import { el } from "./page/elements.js";
import { formatValue, plural } from "./text/format.js";

/** @import { Series } from "./data/model.js" */

/** Matches that are listed. */
const SHOWN = 12;

/**
 * The series that match all words, one of each case: where most is measured first.
 * @param {string} text
 * @returns {Series[]}
 */
function matches(text) {
  const model = getModel();
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  /** @type {Map<string, Series>} */
  const byKey = new Map();
  const machine = model.defaultMachine;
  const environment = model.defaultEnvironment;
  for (const series of model.series) {
    const { title, group } = series.case;
    const name = `${title} ${group} ${series.metric.label} ${series.key}`.toLowerCase();
    if (!words.every((word) => name.includes(word))) continue;
    const usual = series.machine.name === machine && series.environment.id === environment;
    if (usual || !byKey.has(series.key)) byKey.set(series.key, series);
  }
  return [...byKey.values()].sort((a, b) => a.case.order - b.case.order);
}

/** @param {Series} series */
function drawMatch({ key, case: what, machine, environment, metric, last }) {
  return el(
    "li",
    {},
    el(
      "a",
      { href: addressOf("case", { s: key, m: machine.name, e: environment.id }) },
      what.title,
      el("span", { class: "muted" }, ` · ${metric.label}`),
      el("span", { class: "value" }, formatValue(last?.v, metric.unit)),
    ),
  );
}

/** Adds the search to the page. */
export function startSearch() {
  const tools = document.querySelector("header .tools");
  if (!tools) return;
  const input = el("input", {
    type: "search",
    placeholder: "model, suite, metric, device …",
    autocomplete: "off",
    spellcheck: "false",
    "aria-label": "Search all cases",
  });
  const list = el("ul", { class: "matches", "aria-label": "Cases found" });
  const count = el("p", { class: "note" }, "Type part of a name; all words must match.");
  const dialog = el("dialog", { class: "search", "aria-label": "Search" }, input, count, list);
  const links = () => [...list.querySelectorAll("a")];

  const open = () => {
    if (dialog.open) return;
    dialog.showModal();
    input.select();
  };
  const button = el(
    "button",
    { type: "button", class: "button", onclick: open, "aria-keyshortcuts": "/" },
    "Search ",
    el("kbd", { "aria-hidden": "true" }, "/"),
  );
  tools.prepend(button);
  document.body.append(dialog);

  input.addEventListener("input", () => {
    const matching = matches(input.value);
    list.replaceChildren(...matching.slice(0, SHOWN).map(drawMatch));
    const more = matching.length > SHOWN ? `, the first ${SHOWN} are listed` : "";
    count.textContent = `${plural(matching.length, "case")}${more}.`;
    announce(count.textContent);
  });
  dialog.addEventListener("keydown", (event) => {
    const all = links();
    const here = all.findIndex((link) => link === document.activeElement);
    const first = all[0];
    if (event.key === "Enter" && event.target === input && first) {
      visitAddress(first.getAttribute("href") ?? "#/");
      dialog.close();
    } else if (event.key === "ArrowDown") all[here + 1]?.focus();
    else if (event.key === "ArrowUp") (all[here - 1] ?? input).focus();
    else return;
    event.preventDefault();
  });
  list.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // the backdrop
  });
  document.addEventListener("keydown", (event) => {
    const typing =
      event.target instanceof HTMLElement &&
      event.target.matches("input, select, textarea, [contenteditable]");
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    open();
  });
}
