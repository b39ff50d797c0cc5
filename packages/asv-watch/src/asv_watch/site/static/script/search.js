// Search across all cases, commits and releases: the field in the head of the page; the key / goes to it.

import { addressOf, currentState, visitAddress } from "./address.js";
import { getModel } from "./data/model.js";
import { announce, el, muted } from "./page/elements.js";
import { matcher, textInput } from "./page/fields.js";
import { casePage, caseName, wordsOf } from "./page/signs.js";
import { plural, shortHash } from "./text/format.js";

/** Matches of each kind that are listed. */
const SHOWN = 12;

/**
 * The series that match all words, one of each case, of the setup that is shown now if it is there:
 * those with a value or a comparison and times before others, names before synonyms, else in the
 * order of the site.
 * @param {(text: string) => boolean} hasAll
 * @returns {Series[]}
 */
function matchingCases(hasAll) {
  const model = getModel();
  const setup = model.setup(currentState());
  /** @param {Case} what */
  const rankOf = ({ measured, compared, metric, key }) =>
    (measured || compared ? 0 : 4) + (metric.kind === "time" ? 0 : 2) + (hasAll(key) ? 0 : 1);
  const found = model.cases.filter((what) => hasAll(wordsOf(what)));
  found.sort((a, b) => rankOf(a) - rankOf(b));
  return found.flatMap((what) => model.measured(what, setup) ?? []);
}

/** @param {Series} series */
function drawMatch(series) {
  const name = el("span", {}, caseName(series.case));
  const where = muted(`${series.metric.label} · ${series.case.line.group}`);
  const { last, machine } = series;
  const value = el(
    "span",
    { class: "value" },
    last ? [last.text, muted(` ${machine.name}`)] : "–",
  );
  return el("li", {}, el("a", { href: casePage(series) }, name, where, value));
}

/** Releases and commits that match, as links. @param {(text: string) => boolean} hasAll */
function otherMatches(hasAll) {
  const { commits, index } = getModel();
  const names = index.releases.flatMap((of) =>
    of.versions.map((version) => `release ${of.package} ${version}`),
  );
  const releases = [...new Set(names)].map((name) => ({
    name,
    address: addressOf("compare", { by: "release", b: name.split(" ").at(-1) }),
  }));
  const named = commits.map(({ hash, subject, tags }) => ({
    name: [shortHash(hash), subject, ...tags].join(" "),
    address: addressOf("changes", { rev: shortHash(hash) }),
  }));
  return [...releases, ...named.reverse()]
    .filter(({ name }) => hasAll(name))
    .slice(0, SHOWN)
    .map(({ name, address }) => el("li", {}, el("a", { href: address }, name)));
}

/** Makes the field; what it finds is listed below it while it has the focus. */
export function searchBox() {
  const input = textInput({
    type: "search",
    placeholder: "Search",
    "aria-label": "Search cases, commits and releases",
    "aria-keyshortcuts": "/",
  });
  const list = el("ul", { class: "matches", "aria-label": "Found" });
  const count = el("p", { class: "note" });
  const found = el("div", { class: "found", hidden: true }, count, list);
  function search() {
    found.hidden = !input.value.trim();
    if (found.hidden) return;
    const hasAll = matcher(input.value);
    const cases = matchingCases(hasAll);
    list.replaceChildren(...cases.slice(0, SHOWN).map(drawMatch), ...otherMatches(hasAll));
    const more = cases.length > SHOWN ? `, the first ${SHOWN} are listed` : "";
    count.textContent = `${plural(cases.length, "case")}${more}.`;
    announce(count.textContent);
  }
  input.addEventListener("input", search);
  input.addEventListener("focus", search);
  list.addEventListener("click", () => (found.hidden = true));
  input.addEventListener("keydown", ({ key }) => {
    const address = list.querySelector("a")?.getAttribute("href");
    if (key === "Escape") input.blur();
    if (key !== "Enter" || !address) return;
    visitAddress(address);
    input.blur();
  });
  document.addEventListener("keydown", (event) => {
    const { target, key } = event;
    const typing = target instanceof HTMLElement && target.matches("input, select, textarea");
    if (key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.select();
    input.focus();
  });
  return el("div", { class: "search", role: "search" }, input, found);
}
