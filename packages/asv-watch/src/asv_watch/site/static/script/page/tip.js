// One box at the cursor says what a mark stands for; of a chart, what stands at the nearest stop.

import { el, svg } from "./elements.js";

const box = el("div", { class: "tip", role: "tooltip", hidden: true });

/**
 * Shows lines of text beside a point of the window.
 * @param {string[]} lines
 * @param {{ clientX: number, clientY: number }} point
 */
function showTip(lines, { clientX, clientY }) {
  if (!box.isConnected) document.body.append(box);
  box.replaceChildren(...lines.map((line) => el("div", {}, line)));
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const left = clientX + 14 + width > innerWidth ? clientX - 14 - width : clientX + 14;
  const top = clientY + 14 + height > innerHeight ? clientY - 10 - height : clientY + 14;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${Math.max(4, top)}px`;
}

const hideTip = () => (box.hidden = true);

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

/**
 * Makes a chart answer to the pointer, and to `move`.
 * @param {SVGSVGElement} picture
 * @param {HTMLElement | SVGSVGElement} frame
 */
export function readable(picture, frame = picture) {
  const cursor = svg("line", { class: "cursor", visibility: "hidden" });
  /** @type {{ plot: Plot, stops: number[], read: (stop: number) => string[] } | null} */
  let shown = null;
  let position = -1;

  /** @param {number} wanted @param {{ clientX: number, clientY: number }} [point] @returns {string[]} */
  function readAt(wanted, point) {
    const stop = shown?.stops[wanted];
    if (!shown || stop === undefined) return [];
    position = wanted;
    const { plot, read } = shown;
    const [x, { top, bottom }] = [Math.round(plot.x(stop)) + 0.5, plot.frame];
    for (const [name, value] of Object.entries({ x1: x, x2: x, y1: top, y2: bottom }))
      cursor.setAttribute(name, String(value));
    cursor.setAttribute("visibility", "visible");
    const texts = read(stop);
    const { left, top: above } = frame.getBoundingClientRect();
    showTip(texts, point ?? { clientX: left + x, clientY: above + 20 });
    return texts;
  }

  frame.setAttribute("data-reads", "");
  frame.addEventListener("pointermove", (event) => {
    if (!shown) return;
    const { plot, stops } = shown;
    const { left, width } = picture.getBoundingClientRect();
    const { clientX, clientY } = /** @type {PointerEvent} */ (event);
    const x = ((clientX - left) / width) * picture.viewBox.baseVal.width;
    const distances = stops.map((stop) => Math.abs(plot.x(stop) - x));
    readAt(distances.indexOf(Math.min(...distances)), { clientX, clientY });
  });
  frame.addEventListener("pointerleave", () => {
    cursor.setAttribute("visibility", "hidden");
    hideTip();
  });
  return {
    /** @param {Plot} plot @param {number[]} stops @param {(stop: number) => string[]} read */
    show(plot, stops, read) {
      shown = { plot, stops, read };
      position = -1;
      cursor.setAttribute("visibility", "hidden");
      picture.append(cursor);
    },
    /** The stop that is read; the newest if none is. */
    stop: () => shown?.stops[position < 0 ? shown.stops.length - 1 : position],
    /** Reads so many stops further on, and returns what stands there. @param {number} steps */
    move(steps) {
      const last = (shown?.stops.length ?? 0) - 1;
      const here = position < 0 && steps < 0 ? last + 1 : position;
      return readAt(Math.max(0, Math.min(last, here + steps)));
    },
  };
}
