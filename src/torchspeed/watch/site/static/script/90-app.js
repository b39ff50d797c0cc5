// Starts the page: the theme button, the router, and a plain word when something is missing.
(function (ts) {
  "use strict";
  const { el } = ts;

  function themeButton() {
    const button = document.getElementById("theme");
    if (!button) return;
    button.hidden = false;
    button.classList.add("button", "theme");
    const names = ["auto", "light", "dark"];
    const show = () => {
      const name = document.documentElement.dataset.theme ?? "auto";
      button.replaceChildren(el("span", { class: "theme-word" }, "Theme: "), name);
      return name;
    };
    button.addEventListener("click", () => {
      const next = names[(names.indexOf(show()) + 1) % names.length];
      if (next === "auto") delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = next;
      try {
        if (next === "auto") localStorage.removeItem("torchspeed-theme");
        else localStorage.setItem("torchspeed-theme", next);
      } catch {
        // Storage is forbidden: the choice lasts as long as the page.
      }
      show();
      ts.say(`Theme: ${next}`);
    });
    show();
  }

  function complain(error) {
    const main = document.querySelector("main");
    let box = document.getElementById("trouble");
    if (!box) {
      box = el("p", { id: "trouble", class: "notice trouble", role: "alert" });
      main.prepend(box);
    }
    box.textContent = error.message;
    box.hidden = false;
  }

  const mounted = new Set();
  let seen = null;

  /** Shows what the address says. */
  ts.show = function () {
    if (!ts.model) return;
    const state = ts.here();
    const name = Object.hasOwn(ts.views, state.view) ? state.view : "overview";
    const view = ts.views[name];
    const empty = ts.model.series.length === 0;
    const moved = seen !== null && seen !== name;
    for (const section of document.querySelectorAll("main > section[data-view]")) {
      const current = section.dataset.view === name;
      section.hidden = !current;
      if (!current) continue;
      if (!empty && !mounted.has(name)) {
        mounted.add(name);
        view.mount(section);
      }
      if (empty && !["overview", "about"].includes(name))
        ts.appOf(section).replaceChildren(el("p", { class: "notice" }, "Nothing has been measured yet: run `make bench`, then publish again."));
      if (moved) {
        scrollTo(0, 0);
        const heading = section.querySelector("h1");
        if (heading) {
          heading.tabIndex = -1;
          heading.focus({ preventScroll: true });
        }
      }
    }
    seen = name;
    document.title = `${view.title} – ${ts.model.index.project.name}`;
    for (const link of document.querySelectorAll("header nav a[href^='#/']")) {
      if (ts.parseAddress(link.getAttribute("href")).view === name) {
        link.setAttribute("aria-current", "page");
        const strip = link.parentElement; // on small screens it scrolls
        strip.scrollLeft = Math.min(strip.scrollLeft, link.offsetLeft - strip.offsetLeft);
        strip.scrollLeft = Math.max(strip.scrollLeft, link.offsetLeft - strip.offsetLeft + link.offsetWidth - strip.clientWidth);
      } else link.removeAttribute("aria-current");
    }
    const trouble = document.getElementById("trouble");
    if (trouble) trouble.hidden = true;
    const main = document.querySelector("main");
    main.setAttribute("aria-busy", "true");
    new Promise((done) => done(empty ? null : view.update(state)))
      .catch(complain)
      .finally(() => {
        main.setAttribute("aria-busy", "false");
        main.dataset.shown = location.hash || "#/";
      });
  };

  function start() {
    if (ts.model) return;
    const index = ts.peek("index");
    if (!index) return;
    ts.model = ts.buildModel(index);
    // Without scripts an address leads to its section as an anchor; now it means a view,
    // and the browser must not scroll to it or move the focus there.
    for (const section of document.querySelectorAll("main > section[data-view]")) section.removeAttribute("id");
    themeButton();
    ts.show();
    // Changes and comparisons mostly start from the newest block: have it at hand.
    const idle = globalThis.requestIdleCallback ?? ((work) => setTimeout(work, 300));
    if (index.commits.length) idle(() => ts.load(`r/${Math.floor(ts.model.newest / index.block)}`).catch(() => {}));
  }

  addEventListener("hashchange", ts.show);
  addEventListener("popstate", ts.show);
  // A link to an anchor of the page itself, such as the skip link, is no address of a view.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='#']");
    if (!link || link.getAttribute("href").startsWith("#/")) return;
    const target = document.getElementById(link.getAttribute("href").slice(1));
    if (!target) return;
    event.preventDefault();
    target.closest("details")?.setAttribute("open", "");
    if (target.tabIndex < 0) target.tabIndex = -1;
    target.focus();
    target.scrollIntoView();
  });
  document.addEventListener("torchspeed:data", (event) => event.detail === "index" && start());
  addEventListener("load", () => {
    if (!ts.model) complain(new Error("data/index.js could not be read: the figures below are those of the publish. Reload, or publish the site again."));
  });
  start();
})(window.torchspeed);
