// Starts the page: waits for the index, then shows the view that the address names.

import { currentState, linkTo } from "./address.js";
import { buildModel, getModel, setModel } from "./data/model.js";
import { loadIndex } from "./data/files.js";
import { notice } from "./page/elements.js";
import { setupBar } from "./page/setup.js";
import { saveMenu } from "./page/save.js";
import { startTips } from "./page/tip.js";
import { searchBox } from "./search.js";
import { aboutView } from "./views/about.js";
import { caseView } from "./views/case.js";
import { changesView } from "./views/changes.js";
import { compareView } from "./views/compare/view.js";
import { overviewView } from "./views/overview.js";
import { releasesView } from "./views/releases/view.js";
import { timelineView } from "./views/timeline/view.js";

/** By the name that stands in the address. @type {Map<string, View>} */
const VIEWS = new Map([
  ["overview", overviewView],
  ["changes", changesView],
  ["timeline", timelineView],
  ["compare", compareView],
  ["releases", releasesView],
  ["about", aboutView],
  ["case", caseView],
]);

const NOTHING_MEASURED = "Nothing is measured yet: `asv-watch bench` measures HEAD and publishes.";

/** Shows a message at the top of the page. @param {unknown} error */
function complain(error) {
  const box = document.getElementById("trouble");
  if (!box) return;
  box.textContent = error instanceof Error ? error.message : String(error);
  box.hidden = false;
}

/** Marks the view's link in the header; all links keep the machine and the metric. @param {string} name */
function markNavigation(name) {
  const links = /** @type {NodeListOf<HTMLAnchorElement>} */ (
    document.querySelectorAll("header nav a")
  );
  for (const link of links) {
    const view = link.dataset.view ?? "";
    link.href = linkTo(view);
    if (view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
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
/** @type {ReturnType<typeof setupBar> | null} */
let setup = null;
/** @type {ReturnType<typeof saveMenu> | null} */
let menu = null;

/**
 * Shows one view's section and hides the others.
 * @param {string} name
 * @param {View} view
 */
function open(name, view) {
  const sections = /** @type {NodeListOf<HTMLElement>} */ (
    document.querySelectorAll("main > section[data-view]")
  );
  for (const section of sections) {
    section.hidden = section.dataset.view !== name;
    if (section.hidden) continue;
    const [app, heading] = [
      /** @type {HTMLElement | null} */ (section.querySelector("div[id$='-app']")),
      section.querySelector("h1"),
    ];
    if (app && heading && !getModel().newestRuns && name !== "about")
      app.replaceChildren(notice(NOTHING_MEASURED));
    else if (app && heading && !mounted.has(name)) mounted.set(name, view.mount(app, heading));
    if (shown !== null && shown !== name) enter(section);
  }
  shown = name;
  document.title = `${view.title} – ${getModel().index.project.name}`;
  markNavigation(name);
}

/** Puts the machine, environment and metric where the view has them. @param {State} state @param {View} view */
function showSetup(state, view) {
  if (!setup) return;
  const slot = document.querySelector("section:not([hidden]) .setup-here");
  (slot ?? document.getElementById("setup"))?.append(setup.node);
  setup.show(state, view);
}

/** Shows what the address says. */
async function show() {
  const state = currentState();
  const { hash } = location;
  const isAsked = () => location.hash === hash;
  const name = VIEWS.has(state.view) ? state.view : "overview";
  const view = VIEWS.get(name) ?? overviewView;
  const trouble = document.getElementById("trouble");
  if (trouble) trouble.hidden = true;
  const main = document.querySelector("main");
  main?.setAttribute("aria-busy", "true");
  try {
    open(name, view);
    if (getModel().newestRuns) showSetup(state, view);
    const saved = (await mounted.get(name)?.(state, isAsked)) ?? null;
    if (isAsked()) menu?.offer(saved);
  } catch (error) {
    complain(error);
  }
  if (!isAsked()) return; // the next address says when it is shown
  main?.setAttribute("aria-busy", "false");
  if (main) main.dataset.shown = location.hash || "#/";
}

/** @param {Index} index */
function start(index) {
  setModel(buildModel(index));
  setup = setupBar();
  menu = saveMenu();
  document.getElementById("setup")?.replaceChildren(setup.node);
  document.querySelector("header .tools")?.replaceChildren(searchBox(), menu.node);
  startTips();
  for (const event of ["hashchange", "popstate", "site:address"])
    addEventListener(event, () => void show());
  void show();
}

/** A link to a part of the page is no address of a view. @param {MouseEvent} event */
function followAnchor(event) {
  const link = event.target instanceof Element ? event.target.closest("a[href^='#']") : null;
  const href = link?.getAttribute("href") ?? "#/";
  const target = href.startsWith("#/") ? null : document.getElementById(href.slice(1));
  if (!target) return;
  event.preventDefault();
  (target.closest("details") ?? target.querySelector("details"))?.setAttribute("open", "");
  if (target.tabIndex < 0) target.tabIndex = -1;
  target.focus();
  target.scrollIntoView();
}

document.addEventListener("click", followAnchor);
loadIndex().then(start);
addEventListener("load", () => {
  if (!setup) complain("data/index.js could not be read: reload, or publish the site again.");
});
