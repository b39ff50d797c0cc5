// The button that switches between the system's theme, light and dark.

import { announce } from "./page/announce.js";
import { el } from "./page/elements.js";

const NAMES = ["auto", "light", "dark"];
const KEY = "asv-watch-theme";

/** Makes the button. */
export function themeButton() {
  const button = el("button", { type: "button", class: "button theme" });
  const { dataset } = document.documentElement;
  const show = () =>
    button.replaceChildren(
      el("span", { class: "theme-word" }, "Theme: "),
      dataset.theme ?? "auto",
    );
  button.addEventListener("click", () => {
    const now = NAMES.indexOf(dataset.theme ?? "auto");
    const next = NAMES[(now + 1) % NAMES.length] ?? "auto";
    if (next === "auto") delete dataset.theme;
    else dataset.theme = next;
    try {
      if (next === "auto") localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, next);
    } catch {
      // Storage is forbidden: the choice lasts as long as the page.
    }
    show();
    announce(`Theme: ${next}`);
  });
  show();
  return button;
}
