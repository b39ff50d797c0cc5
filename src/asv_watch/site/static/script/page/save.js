// The menu that saves what a view shows: a picture, CSV or Markdown.

import { csvText, markdownText } from "../text/export.js";
import { announce } from "./announce.js";
import { copyText, offerFile } from "./copying.js";
import { el } from "./elements.js";
import { drawPicture, paintPicture, visibleCharts } from "./pictures.js";

/** @import { Sheet } from "../text/export.js" */

/**
 * What a view offers to save.
 * @typedef {{ name: string, title: string, sheet: () => Sheet }} Saved
 */

/** Makes the menu. @returns {{ node: HTMLElement, offer: (saved: Saved | null) => void }} */
export function saveMenu() {
  /** @type {Saved | null} */
  let saved = null;
  /** @param {string} type */
  const blob = (type, text = "") => new Blob([text], { type: `${type};charset=utf-8` });
  const menu = el("details", { class: "menu" });
  /**
   * @param {string} label
   * @param {(what: Saved) => unknown} work
   */
  const item = (label, work) =>
    el(
      "button",
      {
        type: "button",
        onclick: async () => {
          menu.open = false;
          if (saved) await work(saved);
        },
      },
      label,
    );
  const pictures = [
    item("Picture (PNG)", async ({ name }) => {
      const pixels = await paintPicture();
      if (pixels instanceof Blob) offerFile(`${name}.png`, pixels);
      else announce("The picture is too large for this browser: save it as SVG.");
    }),
    item("Picture (SVG)", ({ name }) =>
      offerFile(`${name}.svg`, blob("image/svg+xml", drawPicture().text)),
    ),
  ];
  menu.append(
    el("summary", { class: "button" }, "Save"),
    el(
      "div",
      { class: "menu-items" },
      pictures,
      item("Table (CSV)", ({ name, sheet }) =>
        offerFile(`${name}.csv`, blob("text/csv", csvText(sheet()))),
      ),
      item("Copy as Markdown", ({ title, sheet }) =>
        copyText(markdownText(title, sheet()), "Markdown"),
      ),
    ),
  );
  menu.addEventListener("toggle", () => {
    const without = !visibleCharts().length;
    for (const picture of pictures) picture.hidden = without;
  });
  document.addEventListener("click", (event) => {
    if (event.target instanceof Node && !menu.contains(event.target)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary")?.focus();
  });
  return {
    node: menu,
    offer(what) {
      saved = what;
      menu.hidden = what === null;
    },
  };
}
