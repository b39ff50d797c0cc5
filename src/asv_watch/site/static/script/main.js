// Starts the page: waits for the index, then shows the view that the address names.

import { currentState, parseAddress } from "./address.js";
import { buildModel, getModel, hasModel, setModel } from "./data/model.js";
import { arrivedIndex, loadBlock } from "./data/registry.js";
import { el } from "./page/elements.js";
import { startSearch } from "./search.js";
import { startThemeButton } from "./theme.js";
import { aboutView } from "./views/about.js";
import { allChangesView } from "./views/all-changes.js";
import { caseView } from "./views/case/view.js";
import { changesView } from "./views/changes/view.js";
import { compareView } from "./views/comparison/view.js";
import { overviewView } from "./views/overview.js";
import { releasesView } from "./views/releases.js";
import { statusView } from "./views/status.js";
import { timelineView } from "./views/timeline/view.js";
import { appOf, notice } from "./views/view.js";

/** @import { Update, View } from "./views/view.js" */

/** By the name that stands in the address. @type {Map<string, View>} */
const VIEWS = new Map([
  ["overview", overviewView],
  ["changes", changesView],
  ["all-changes", allChangesView],
  ["case", caseView],
  ["timeline", timelineView],
  ["compare", compareView],
  ["releases", releasesView],
  ["status", statusView],
  ["about", aboutView],
]);

const sections = () =>
  /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("main > section[data-view]"));

/** Shows a message at the top of the page. @param {unknown} error */
function complain(error) {
  const existing = document.getElementById("trouble");
  const box = existing ?? el("p", { id: "trouble", class: "notice trouble", role: "alert" });
  if (!existing) document.querySelector("main")?.prepend(box);
  box.textContent = error instanceof Error ? error.message : String(error);
  box.hidden = false;
}

/** Marks the view's link in the header, and scrolls to it on small screens. @param {string} name */
function markNavigation(name) {
  const links = /** @type {NodeListOf<HTMLElement>} */ (
    document.querySelectorAll("header nav a[href^='#/']")
  );
  for (const link of links) {
    if (parseAddress(link.getAttribute("href") ?? "").view !== name) {
      link.removeAttribute("aria-current");
      continue;
    }
    link.setAttribute("aria-current", "page");
    const strip = link.parentElement;
    if (!strip) continue;
    const left = link.offsetLeft - strip.offsetLeft;
    strip.scrollLeft = Math.min(strip.scrollLeft, left);
    strip.scrollLeft = Math.max(strip.scrollLeft, left + link.offsetWidth - strip.clientWidth);
  }
}

/** Moves to the head of a view, as a new page would. @param {HTMLElement} section */
function enter(section) {
  scrollTo(0, 0);
  const heading = section.querySelector("h1");
  if (!heading) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

/** @type {Map<string, Update>} */
const mounted = new Map();
/** @type {string | null} */
let shown = null;

/**
 * Shows one view's section and hides the others.
 * @param {string} name
 * @param {View} view
 */
function open(name, view) {
  const empty = getModel().series.length === 0;
  for (const section of sections()) {
    section.hidden = section.dataset.view !== name;
    if (section.hidden) continue;
    if (!empty && !mounted.has(name)) mounted.set(name, view.mount(section));
    if (empty && name !== "overview" && name !== "about")
      appOf(section).replaceChildren(
        notice("Nothing has been measured yet: `asv-watch bench` measures HEAD and publishes."),
      );
    if (shown !== null && shown !== name) enter(section);
  }
  shown = name;
  document.title = `${view.title} – ${getModel().index.project.name}`;
  markNavigation(name);
}

/** Shows what the address says. */
async function show() {
  if (!hasModel()) return;
  const state = currentState();
  const name = VIEWS.has(state.view) ? state.view : "overview";
  const trouble = document.getElementById("trouble");
  if (trouble) trouble.hidden = true;
  const main = document.querySelector("main");
  main?.setAttribute("aria-busy", "true");
  try {
    open(name, VIEWS.get(name) ?? overviewView);
    await mounted.get(name)?.(state);
  } catch (error) {
    complain(error);
  }
  main?.setAttribute("aria-busy", "false");
  if (main) main.dataset.shown = location.hash || "#/";
}

/** Starts once the index is here, whichever script comes first. */
function start() {
  const index = arrivedIndex();
  if (hasModel() || !index) return;
  const model = setModel(buildModel(index));
  // Without scripts an address leads to its section as an anchor; now it means a view,
  // and the browser must not scroll to it or move the focus there.
  for (const section of sections()) section.removeAttribute("id");
  startThemeButton();
  startSearch();
  const skip = document.getElementById("skip-to-result");
  skip?.addEventListener("click", skipToResult);
  skip?.removeAttribute("hidden");
  void show();
  // Changes and comparisons mostly start from the newest block: have it at hand.
  if (model.commits.length)
    requestIdleCallback(() => {
      loadBlock(Math.floor(model.newest / index.block)).catch(() => {});
    });
}

/** Moves the focus to the first chart or table of the view, past its fields and lists. */
function skipToResult() {
  const marks = "svg.chart:not(.swatch), .multiples, table";
  const results = document.querySelectorAll(`main > section:not([hidden]) :is(${marks})`);
  const first = [...results].find((result) => result.checkVisibility());
  if (!(first instanceof HTMLElement || first instanceof SVGElement)) return;
  if (first.tabIndex < 0) first.tabIndex = -1;
  first.focus();
  first.scrollIntoView({ block: "nearest" });
}

/** A link to an anchor of the page itself, such as the skip link, is no address of a view. @param {MouseEvent} event */
function followAnchor(event) {
  const link = event.target instanceof Element ? event.target.closest("a[href^='#']") : null;
  const href = link?.getAttribute("href") ?? "#/";
  const target = href.startsWith("#/") ? null : document.getElementById(href.slice(1));
  if (!target) return;
  event.preventDefault();
  target.closest("details")?.setAttribute("open", "");
  if (target.tabIndex < 0) target.tabIndex = -1;
  target.focus();
  target.scrollIntoView();
}

for (const event of ["hashchange", "popstate", "torchspeed:address"])
  addEventListener(event, () => void show());
document.addEventListener("click", followAnchor);
document.addEventListener("torchspeed:data", start);
addEventListener("load", () => {
  if (hasModel()) return;
  complain(
    "data/index.js could not be read: the page shows the values of when it was published. Reload, or " +
      "publish the site again.",
  );
});
start();
