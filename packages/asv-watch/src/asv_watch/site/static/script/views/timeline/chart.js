// The large chart of lines over commits, for pointer and keyboard.

import { linkTo, visitAddress } from "../../address.js";
import { drawLines } from "../../charts/lines.js";
import { getModel } from "../../data/model.js";
import { announce, el, svg } from "../../page/elements.js";
import { readable } from "../../page/tip.js";
import { readAt } from "./lines.js";

/** Stops that a key moves the cursor by. */
const MOVES = new Map([
  ["ArrowLeft", -1],
  ["ArrowRight", 1],
  ["Home", -Infinity],
  ["End", Infinity],
]);

const HELP =
  "Click for the changes of a commit. Keys: arrows read values, Enter opens the changes.";

/** Makes the chart. @returns {{ node: HTMLElement, set: (scene: Scene, label: string) => void }} */
export function largeChart() {
  const picture = svg("svg", { class: "chart", "aria-hidden": "true" });
  const look = { class: "chart-frame", tabindex: "0", role: "application" };
  const frame = el("div", { ...look, "aria-roledescription": "chart" }, picture);
  const reader = readable(picture, frame);
  /** @type {Scene | null} */
  let shown = null;
  let width = 0;

  function draw() {
    const scene = shown;
    width = Math.round(frame.clientWidth);
    if (!scene || !width) return;
    const inner = Math.max(280, width - 12);
    const { commits, shortOf } = getModel();
    /** @param {Change} change */
    const named = (change) => ({ ...change, text: `${change.text} by ${shortOf(change.c)}` });
    const lines = scene.lines.map((line) => ({ ...line, changes: line.changes.map(named) }));
    const tagged = commits.filter(({ tags }) => tags.length);
    const plot = drawLines(picture, lines, {
      ...scene.axis,
      size: [inner, inner < 560 ? 280 : 400],
      tags: tagged.map(({ index, tags }) => ({ stop: index, text: tags.at(-1) ?? "" })),
      events: scene.events,
    });
    reader.show(plot, scene.axis.stops, (stop) => readAt(scene, stop));
  }

  /** Opens the changes of the commit at the cursor. */
  function open() {
    const stop = reader.stop();
    const m = getModel().index.machines[shown?.setup.m ?? 0]?.name;
    if (stop !== undefined) visitAddress(linkTo("changes", { rev: getModel().shortOf(stop), m }));
  }

  frame.addEventListener("click", (event) => {
    if (/** @type {PointerEvent} */ (event).pointerType === "mouse") open();
  });
  frame.addEventListener("keydown", (event) => {
    const steps = MOVES.get(event.key);
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (steps !== undefined) announce(reader.move(steps).join("; "));
    else if (event.key === "Enter") open();
    else return;
    event.preventDefault();
  });
  new ResizeObserver(() => {
    if (Math.abs(frame.clientWidth - width) > 2) draw();
  }).observe(frame);
  return {
    node: el("div", {}, frame, el("p", { class: "note" }, HELP)),
    set(scene, label) {
      shown = scene;
      frame.setAttribute("aria-label", `${label}. ${HELP}`);
      draw();
    },
  };
}
