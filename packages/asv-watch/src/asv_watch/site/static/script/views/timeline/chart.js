// The large chart: the picture, the cursor, the range in view, pointer and keyboard.

import { changeParams, linkTo, visitAddress } from "../../address.js";
import { drawLines } from "../../charts/lines.js";
import { getModel } from "../../data/model.js";
import { announce, button, el, svg } from "../../page/elements.js";
import { hideTip, showTip } from "../../page/tip.js";
import { drawCursor, nearest, pixelOf, readAt } from "./reading.js";

/** Stops that a key moves the cursor by. */
const MOVES = new Map([
  ["ArrowLeft", -1],
  ["ArrowRight", 1],
  ["PageUp", -10],
  ["PageDown", 10],
  ["Home", -Infinity],
  ["End", Infinity],
]);

/** Pixels that a pointer may move and still be a click. */
const CLICK = 5;

const HELP =
  "Drag to zoom, click for the changes of a commit. " +
  "Keys: arrows read values, Enter opens the changes, Esc shows all.";

export class Chart {
  /** @type {Scene | null} */
  scene = null;
  /** @type {Plot | null} */
  plot = null;
  /** @type {CommitIndex | null} */
  cursor = null;
  width = 0;

  constructor() {
    this.svg = svg("svg", { class: "chart", "aria-hidden": "true", "data-reads": "" });
    this.overlay = svg("g", { class: "overlay" });
    const frame = { class: "chart-frame", tabindex: "0", role: "application" };
    this.frame = el("div", { ...frame, "aria-roledescription": "chart" }, this.svg);
    this.whole = button("Whole range", { onclick: () => this.reset() });
    const help = el("span", { class: "note" }, HELP);
    this.node = el("div", {}, this.frame, el("div", { class: "actions" }, this.whole, help));
    this.#attach();
    new ResizeObserver(() => {
      if (Math.abs(this.frame.clientWidth - this.width) > 2) this.draw();
    }).observe(this.frame);
  }

  /** @param {Scene} scene @param {string} label */
  set(scene, label) {
    this.scene = scene;
    this.whole.hidden = !scene.asked.from;
    this.frame.setAttribute("aria-label", `${label}. ${HELP}`);
    if (this.cursor !== null && !scene.stops.includes(this.cursor)) this.cursor = null;
    this.draw();
  }

  draw() {
    const { scene } = this;
    this.width = Math.round(this.frame.clientWidth);
    if (!scene || !this.width) return;
    const inner = Math.max(280, this.width - 12);
    const { metric } = scene.asked.setup;
    const tagged = getModel().commits.filter((commit) => commit.tags.length);
    /** @param {Change} change */
    const named = (change) => ({
      ...change,
      text: `${change.text} by ${getModel().shortOf(change.c)}`,
    });
    const lines = scene.drawn.map((line) => ({ ...line, changes: line.changes.map(named) }));
    this.plot = drawLines(this.svg, lines, {
      size: [inner, inner < 560 ? 280 : 400],
      position: scene.axis.position,
      domain: scene.axis.domain,
      y: scene.asked.y,
      metric,
      ticks: scene.axis.ticks,
      tags: tagged.map(({ index, tags }) => ({ stop: index, text: tags.at(-1) ?? "" })),
      events: scene.events,
    });
    this.svg.append(this.overlay);
    this.#mark();
  }

  #mark() {
    if (this.plot) drawCursor(this.overlay, this.plot, this.cursor);
  }

  #attach() {
    const { frame } = this;
    /** @type {{ from: number, x: number } | null} */
    let drag = null;
    /** @param {PointerEvent} event */
    const stopAt = (event) =>
      nearest(
        this.scene?.stops.map((stop) => this.plot?.x(stop) ?? 0) ?? [],
        pixelOf(this.svg, event),
      );
    frame.addEventListener("pointermove", (event) => {
      const stop = this.scene?.stops[stopAt(event)];
      if (!this.scene || stop === undefined) return;
      this.cursor = stop;
      this.#mark();
      showTip(readAt(this.scene, stop), event);
      if (drag && Math.abs(event.clientX - drag.x) > CLICK) this.#select(drag.from, stopAt(event));
    });
    frame.addEventListener("pointerleave", () => {
      hideTip();
      if (document.activeElement !== frame && !drag) this.cursor = null;
      this.#mark();
    });
    frame.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !this.scene) return;
      if (event.pointerType !== "touch") frame.setPointerCapture(event.pointerId);
      drag = { from: stopAt(event), x: event.clientX };
    });
    frame.addEventListener("pointerup", (event) => {
      if (!drag || !this.scene) return;
      const moved = Math.abs(event.clientX - drag.x) > CLICK;
      const [a, b] = [drag.from, stopAt(event)].sort((x, y) => x - y);
      drag = null;
      const [from, to] = [this.scene.stops[a ?? 0], this.scene.stops[b ?? 0]];
      if (moved && from !== undefined && to !== undefined && from !== to)
        changeParams({ from: getModel().shortOf(from), to: getModel().shortOf(to) });
      else if (!moved && event.pointerType === "mouse") this.enter();
    });
    frame.addEventListener("pointercancel", () => (drag = null));
    frame.addEventListener("keydown", (event) => this.#press(event));
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const stops = this.scene?.stops ?? [];
    if (event.ctrlKey || event.altKey || event.metaKey || !stops.length || !this.scene) return;
    const step = MOVES.get(event.key);
    if (step !== undefined) this.#move(this.scene, step);
    else if (event.key === "Enter") this.enter();
    else if (event.key === "Escape") this.reset();
    else return;
    event.preventDefault();
  }

  /** Moves the cursor and reads the values there. @param {Scene} scene @param {number} step */
  #move(scene, step) {
    const { stops } = scene;
    const here = this.cursor === null ? stops.length - 1 : stops.indexOf(this.cursor);
    const wanted = this.cursor === null && step === 1 ? 0 : here + step;
    const stop = stops[Math.max(0, Math.min(stops.length - 1, wanted))] ?? 0;
    this.cursor = stop;
    this.#mark();
    const texts = readAt(scene, stop);
    const box = this.frame.getBoundingClientRect();
    showTip(texts, { clientX: box.left + (this.plot?.x(stop) ?? 0), clientY: box.top + 20 });
    announce(texts.join("; "));
  }

  /** Shows the range that is being dragged. @param {number} from @param {number} to */
  #select(from, to) {
    if (!this.plot || !this.scene) return;
    const [a = 0, b = 0] = [from, to]
      .map((i) => this.plot?.x(this.scene?.stops[i] ?? 0) ?? 0)
      .sort((x, y) => x - y);
    const { top, bottom } = this.plot.frame;
    const box = { x: a, y: top, width: b - a, height: bottom - top };
    this.overlay.prepend(svg("rect", { class: "selection", ...box }));
  }

  /** Opens the changes of the commit at the cursor. */
  enter() {
    const stop = this.cursor ?? this.scene?.stops.at(-1);
    const machine = getModel().index.machines[this.scene?.asked.setup.m ?? 0]?.name;
    if (stop !== undefined)
      visitAddress(linkTo("changes", { rev: getModel().shortOf(stop), m: machine }));
  }

  reset() {
    changeParams({ from: null, to: null });
  }
}
