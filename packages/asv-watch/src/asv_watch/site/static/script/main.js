// Starts the page: waits for the index, then shows the view that the address names.

import { currentState, linkTo } from "./address.js";
import { loadIndex } from "./data/files.js";
import { buildModel, getModel, setModel } from "./data/model.js";
import { notice } from "./page/elements.js";
import { setupBar } from "./page/fields.js";
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

/** An element of the page itself. @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @param {string} selector */
const all = (selector) =>
  /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(selector));

/** Shows a message at the top of the page. @param {unknown} error */
function complain(error) {
  byId("trouble").textContent = error instanceof Error ? error.message : String(error);
  byId("trouble").hidden = false;
}

/** Marks the view's link in the header; all links keep the machine and the metric. @param {string} name */
function markNavigation(name) {
  const model = getModel();
  const hasRuns = model.commitsAt(model.setup(currentState()));
  for (const link of all("header nav a")) {
    const view = link.dataset.view ?? "";
    // Of a machine that only compared, other views would show nothing.
    const kept = hasRuns || ["compare", "releases"].includes(view) ? {} : { m: null };
    link.setAttribute("href", linkTo(view, kept));
    if (view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

/** By the names of views. @type {Map<string, Update>} */
const mounted = new Map();
/** The name of the view that is shown; empty as long as there is no index. */
let shown = "";

/**
 * Shows one view's section and hides the others.
 * @param {string} name
 * @param {View} view
 */
function open(name, view) {
  const before = shown;
  shown = name;
  for (const section of all("main > section")) section.hidden = section.dataset.view !== name;
  const [app, heading] = [byId(`${name}-app`), byId(`${name}-title`)];
  if (!getModel().index.newest_runs.length && name !== "about")
    app.replaceChildren(notice(NOTHING_MEASURED));
  else if (!mounted.has(name)) mounted.set(name, view.mount(app, heading));
  if (before && before !== name) {
    scrollTo(0, 0); // as on a new page
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }
  document.title = `${view.title} – ${getModel().index.project.name}`;
  markNavigation(name);
}

/** @param {Index} index */
function start(index) {
  setModel(buildModel(index));
  const [setup, menu] = [setupBar(), saveMenu()];
  byId("setup").replaceChildren(setup.node);
  document.querySelector("header .tools")?.replaceChildren(searchBox(), menu.node);
  startTips();

  /** Shows what the address says. */
  async function show() {
    const state = currentState();
    const { hash } = location;
    const isAsked = () => location.hash === hash;
    const name = VIEWS.has(state.view) ? state.view : "overview";
    const view = VIEWS.get(name) ?? overviewView;
    byId("trouble").hidden = true;
    byId("main").setAttribute("aria-busy", "true");
    try {
      open(name, view);
      if (getModel().index.newest_runs.length) {
        (document.querySelector("section:not([hidden]) .setup-here") ?? byId("setup")).append(
          setup.node,
        );
        setup.show(state, view);
      }
      const saved = (await mounted.get(name)?.(state, isAsked)) ?? null;
      if (isAsked()) menu.offer(saved);
    } catch (error) {
      complain(error);
    }
    if (!isAsked()) return; // the next address says when it is shown
    byId("main").setAttribute("aria-busy", "false");
    byId("main").dataset.shown = hash || "#/";
  }

  // A link also fires `popstate`, which would build its view twice.
  for (const event of ["hashchange", "site:address"]) addEventListener(event, () => void show());
  void show();
}

/** A link to a part of the page is no address of a view. @param {MouseEvent} event */
function followAnchor(event) {
  const link = event.target instanceof Element ? event.target.closest("a[href^='#']") : null;
  const href = link?.getAttribute("href") ?? "#/";
  const target = href.startsWith("#/") ? null : document.getElementById(href.slice(1));
  if (!target) return;
  event.preventDefault();
  target.querySelector("details")?.setAttribute("open", "");
  if (target.tabIndex < 0) target.tabIndex = -1;
  target.focus();
  target.scrollIntoView();
}

document.addEventListener("click", followAnchor);
loadIndex().then(start);
addEventListener("load", () => {
  if (!shown) complain("data/index.js could not be read: reload, or publish the site again.");
});
