// The cursor of a chart over commits: a line at the nearest commit, and its values in a box.

import { svg } from "../../page/elements.js";
import { showTip } from "../../page/tip.js";
import { getModel } from "../../data/model.js";
import { readingOf } from "./lines.js";

/** Lines of a box at most. */
const MOST = 14;

/**
 * The index of the stop nearest to a pixel.
 * @param {number[]} pixels
 * @param {number} x
 */
export function nearest(pixels, x) {
  const distances = pixels.map((pixel) => Math.abs(pixel - x));
  return distances.indexOf(Math.min(...distances));
}

/**
 * What stands at a commit, line by line.
 * @param {Scene} scene
 * @param {CommitIndex} stop
 */
export function readAt({ asked, lines, drawn, events }, stop) {
  const texts = lines.map((line, i) => readingOf(line, drawn[i], stop, asked)).filter(Boolean);
  const more = texts.length > MOST ? [`and ${texts.length - MOST} more`] : [];
  const around = events.filter((event) => event.stop === stop).map(({ text }) => `◆ ${text}`);
  return [getModel().commitLine(stop), ...texts.slice(0, MOST), ...more, ...around.slice(0, 3)];
}

/** @param {SVGSVGElement} root @param {PointerEvent} event */
export function pixelOf(root, event) {
  const box = root.getBoundingClientRect();
  return ((event.clientX - box.left) / box.width) * root.viewBox.baseVal.width;
}

/**
 * Draws the cursor into a chart.
 * @param {SVGGElement} overlay
 * @param {Plot} plot
 * @param {CommitIndex | null} stop
 */
export function drawCursor(overlay, plot, stop) {
  overlay.replaceChildren();
  if (stop === null) return;
  const x = Math.round(plot.x(stop)) + 0.5;
  const { top, bottom } = plot.frame;
  overlay.append(svg("line", { class: "cursor", x1: x, x2: x, y1: top, y2: bottom }));
}

/**
 * Makes a small chart answer to the pointer.
 * @param {SVGSVGElement} root
 * @param {Plot} plot
 * @param {number[]} stops
 * @param {(stop: number) => string[]} read
 */
export function attachReading(root, plot, stops, read) {
  const overlay = svg("g", { class: "overlay" });
  const pixels = stops.map(plot.x);
  root.append(overlay);
  root.setAttribute("data-reads", "");
  root.addEventListener("pointermove", (event) => {
    const stop = stops[nearest(pixels, pixelOf(root, event))];
    if (stop === undefined) return;
    drawCursor(overlay, plot, stop);
    showTip(read(stop), event);
  });
  root.addEventListener("pointerleave", () => overlay.replaceChildren());
}
