// Search across all cases: the key / opens it, typing finds, Enter goes to the case's page.

import { addressOf, currentState, visitAddress } from "./address.js";
import { getModel } from "./data/model.js";
import { announce, button, el, muted } from "./page/elements.js";
import { matcher, textInput } from "./page/fields.js";
import { casePage, caseName } from "./page/signs.js";
import { plural, shortHash } from "./text/format.js";

/** Matches that are listed. */
const SHOWN = 12;

/**
 * Cases with a value and times come before others; else the order is that of the site.
 * @param {Case} what
 */
const rankOf = ({ measured, metric }) => (measured ? 0 : 2) + (metric.kind === "time" ? 0 : 1);

/**
 * The series that match all words, one of each case, of the setup that is shown now if it is there.
 * @param {string} text
 * @returns {Series[]}
 */
function matches(text) {
  const model = getModel();
  if (!text.trim()) return [];
  const setup = model.setup(currentState());
  const hasAll = matcher(text);
  const found = model.cases.filter(({ title, line, metric, key }) =>
    hasAll(`${title} ${line.group} ${metric.label} ${key}`),
  );
  found.sort((a, b) => rankOf(a) - rankOf(b));
  return found.flatMap((what) => model.measured(what, setup) ?? []);
}

/** @param {Series} series */
function drawMatch(series) {
  const name = el("span", {}, caseName(series.case));
  const where = muted(`${series.metric.label} · ${series.case.line.group}`);
  const value = el("span", { class: "value" }, series.last?.text ?? "–");
  value.append(muted(` ${series.machine.name}`));
  return el("li", {}, el("a", { href: casePage(series) }, name, where, value));
}

/** Commits and releases that match, as links. @param {string} text */
function otherMatches(text) {
  const { commits, index } = getModel();
  const hasAll = matcher(text);
  if (!text.trim()) return [];
  const found = commits.filter(({ hash, subject, tags }) =>
    hasAll(`${hash} ${subject} ${tags.join(" ")}`),
  );
  const releases = [...new Set(index.releases.flatMap(({ versions }) => versions))].filter(hasAll);
  return [
    ...releases.map((version) => ({
      href: addressOf("compare", { by: "release", b: version }),
      name: `release ${version}`,
    })),
    ...found.reverse().map(({ hash, subject }) => ({
      href: addressOf("changes", { rev: shortHash(hash) }),
      name: `${shortHash(hash)} ${subject}`,
    })),
  ].map(({ href, name }) => el("li", {}, el("a", { href }, name)));
}

/** Makes the button that opens the search. */
export function searchButton() {
  const input = textInput({
    type: "search",
    placeholder: "words of a case, a commit or a release",
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
    const others = otherMatches(input.value);
    list.replaceChildren(...matching.slice(0, SHOWN).map(drawMatch), ...others.slice(0, SHOWN));
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
  return button("Search", { onclick: open, "aria-keyshortcuts": "/" });
}
