// One box at the cursor says what a mark of any chart stands for.

import { el } from "./elements.js";

const box = el("div", { class: "tip", role: "tooltip", hidden: true });

/**
 * Shows lines of text beside a point of the window.
 * @param {string[]} lines
 * @param {{ clientX: number, clientY: number }} point
 */
export function showTip(lines, { clientX, clientY }) {
  if (!box.isConnected) document.body.append(box);
  box.replaceChildren(...lines.map((line) => el("div", {}, line)));
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const left = clientX + 14 + width > innerWidth ? clientX - 14 - width : clientX + 14;
  const top = clientY + 14 + height > innerHeight ? clientY - 10 - height : clientY + 14;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${Math.max(4, top)}px`;
}

export const hideTip = () => (box.hidden = true);

/** Marks with `data-tip` explain themselves, line by line. */
export function startTips() {
  document.addEventListener("pointermove", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const mark = target?.closest("[data-tip]");
    if (mark) showTip((mark.getAttribute("data-tip") ?? "").split("\n"), event);
    else if (!target?.closest("[data-reads]")) hideTip();
  });
  document.addEventListener("keydown", (event) => event.key === "Escape" && hideTip());
  addEventListener("scroll", hideTip, { passive: true });
}
