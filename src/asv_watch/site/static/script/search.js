// Search across all cases: the key / opens it, typing finds, Enter goes to the case's page.

import { currentState, visitAddress } from "./address.js";
import { getModel } from "./data/model.js";
import { announce, el } from "./page/elements.js";
import { matcher } from "./page/fields.js";
import { casePage, caseName } from "./page/signs.js";
import { plural } from "./text/format.js";

/** Matches that are listed. */
const SHOWN = 12;
const KINDS = ["time", "memory", "exact"];

/**
 * Orders matches: a whole word before a part of one, cases with a value before those without,
 * times before memory, cases of the first screen before others.
 * @param {string[]} words
 * @returns {(what: Case) => number[]}
 */
function rankBy(words) {
  const { mainGroups } = getModel();
  return ({ line, metric, measured, index }) => [
    Number(!words.some((word) => line.name.toLowerCase() === word)),
    Number(!measured),
    KINDS.indexOf(metric.kind),
    Number(!mainGroups.has(line.group)),
    index,
  ];
}

/**
 * The series that match all words, one of each case, of the setup that is shown now if it is there.
 * @param {string} text
 * @returns {Series[]}
 */
function matches(text) {
  const model = getModel();
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const setup = model.setup(currentState());
  const [rank, hasAll] = [rankBy(words), matcher(text)];
  const found = model.cases
    .filter(({ title, line, metric, key }) =>
      hasAll(`${title} ${line.group} ${metric.label} ${key}`),
    )
    .map((what) => ({ what, order: rank(what) }));
  found.sort((a, b) => {
    const differing = a.order.findIndex((value, i) => value !== b.order[i]);
    return differing < 0 ? 0 : (a.order[differing] ?? 0) - (b.order[differing] ?? 0);
  });
  return found.flatMap(({ what }) => {
    const here = model.find(what, setup);
    const elsewhere = here?.last
      ? here
      : model.series.find((one) => one.case === what && one.last);
    return elsewhere ?? here ?? [];
  });
}

/** @param {Series} series */
const drawMatch = (series) =>
  el(
    "li",
    {},
    el(
      "a",
      { href: casePage(series) },
      el("span", {}, caseName(series.case)),
      el("span", { class: "muted" }, `${series.metric.label} · ${series.case.line.group}`),
      el("span", { class: "value" }, series.last?.text ?? "–"),
    ),
  );

/** Makes the button that opens the search. */
export function searchButton() {
  const input = el("input", {
    type: "search",
    placeholder: "words of a case, such as a parameter or a suite",
    autocomplete: "off",
    spellcheck: "false",
    "aria-label": "Search all cases",
  });
  const list = el("ul", { class: "matches", "aria-label": "Cases found" });
  const count = el("p", { class: "note" }, "All words must match.");
  const dialog = el("dialog", { class: "search", "aria-label": "Search" }, input, count, list);
  document.body.append(dialog);

  const open = () => {
    if (dialog.open) return;
    dialog.showModal();
    input.select();
  };
  input.addEventListener("input", () => {
    const matching = matches(input.value);
    list.replaceChildren(...matching.slice(0, SHOWN).map(drawMatch));
    const more = matching.length > SHOWN ? `, the first ${SHOWN} are listed` : "";
    count.textContent = `${plural(matching.length, "case")}${more}.`;
    announce(count.textContent);
  });
  dialog.addEventListener("keydown", (event) => {
    const first = list.querySelector("a");
    if (event.key !== "Enter" || event.target !== input || !first) return;
    event.preventDefault();
    visitAddress(first.getAttribute("href") ?? "#/");
    dialog.close();
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
  return el(
    "button",
    { type: "button", class: "button", onclick: open, "aria-keyshortcuts": "/" },
    "Search",
  );
}
