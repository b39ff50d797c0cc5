// The large chart: the picture, the cursor and the range in view.

import { addressOf, changeParams, visitAddress } from "../../address.js";
import { drawLines } from "../../charts/lines.js";
import { markPath } from "../../charts/marks.js";
import { getModel } from "../../data/model.js";
import { announce } from "../../page/announce.js";
import { el, svg } from "../../page/elements.js";
import { formatDay, plural } from "../../text/format.js";
import { eventsOf } from "./asking.js";
import { attachInput } from "./chart-input.js";
import { Readout } from "./readout.js";

/** @import { BandName, Plot } from "../../charts/line-layers.js" */
/** @import { CommitIndex } from "../../../types.js" */
/** @import { Asked } from "./asking.js" */
/** @import { Axis } from "./axis.js" */
/** @import { SeriesLine } from "./lines.js" */

/**
 * @typedef {object} Scene what the chart shows
 * @property {Asked} asked
 * @property {Axis} axis
 * @property {SeriesLine[]} lines as they were measured
 * @property {SeriesLine[]} drawn the same lines as the chart shows them: measured or relative
 * @property {string} unit
 * @property {string} summary
 */

export class Chart {
  /** @type {Scene | null} */
  scene = null;
  /** The place of the cursor; null when nobody points. @type {number | null} */
  cursor = null;
  /** Pixels of the axis's stops. @type {number[]} */
  pixels = [];
  /** @type {Plot | null} */
  plot = null;
  width = 0;

  /**
   * @param {string} helpId id of the text that explains the keys
   * @param {boolean} removable whether lines can be removed from the address
   */
  constructor(helpId, removable) {
    this.svg = svg("svg", { class: "chart", "aria-hidden": "true", focusable: "false" });
    this.frame = el(
      "div",
      {
        class: "chart-frame",
        tabindex: "0",
        role: "application",
        "aria-roledescription": "chart",
        "aria-describedby": helpId,
      },
      this.svg,
    );
    this.overlay = svg("g", { class: "overlay" });
    this.readout = new Readout(this, removable);
    attachInput(this);
    new ResizeObserver(() => {
      const width = Math.round(this.frame.clientWidth);
      if (this.scene && width && Math.abs(width - this.width) > 2) this.draw(this.scene);
    }).observe(this.frame);
  }

  /** @param {Scene} scene */
  set(scene) {
    this.scene = scene;
    if (this.cursor !== null && !scene.axis.stops.includes(this.cursor)) this.cursor = null;
    this.draw(scene);
  }

  /** @param {Scene} scene */
  draw({ asked, axis, drawn, unit, summary }) {
    this.width = Math.round(this.frame.clientWidth) || 900;
    const inner = Math.max(280, this.width - 12);
    const { commits } = getModel();
    const overCommits = asked.x !== "torch";
    const tagged = commits.filter((commit) => commit.tags.length);
    /** @type {BandName[]} */
    const bands = [];
    if (asked.interval && overCommits) bands.push("interval");
    if (asked.quartiles && overCommits) bands.push("quartiles");
    this.plot = drawLines(this.svg, drawn, {
      width: inner,
      height: inner < 560 ? 300 : 430,
      place: axis.place,
      domain: axis.domain,
      y: asked.y,
      unit,
      ticks: axis.ticks,
      tags: overCommits ? tagged.map(({ at, tags }) => ({ at, text: tags.at(-1) ?? "" })) : [],
      events: overCommits ? eventsOf(asked) : [],
      bands,
      levels: asked.levels && overCommits,
      whiskers: !overCommits && asked.interval,
      labels: true,
    });
    this.pixels = axis.stops.map(this.plot.x);
    this.svg.append(this.overlay);
    this.frame.setAttribute("aria-label", summary);
    this.readout.build();
    this.mark();
  }

  /** Where values are read when nobody points: the newest. */
  get place() {
    return this.cursor ?? this.scene?.axis.stops.at(-1);
  }

  /** Moves the cursor and shows the values there. @param {number} at */
  moveTo(at) {
    this.cursor = at;
    this.mark();
  }

  /** Draws the cursor line, and marks on it. */
  mark() {
    const { scene, plot, place } = this;
    if (!scene || !plot) return;
    this.overlay.replaceChildren();
    if (this.cursor !== null && place !== undefined) {
      const x = Math.round(plot.x(place)) + 0.5;
      const { top, bottom } = plot.frame;
      this.overlay.append(svg("line", { class: "cursor", x1: x, x2: x, y1: top, y2: bottom }));
      for (const line of scene.drawn) {
        const point = line.points.find((other) => other.at === place);
        if (!point) continue;
        const d = markPath(line.shape, plot.x(place), plot.y(point.value));
        this.overlay.append(svg("path", { class: `dot ${line.look}`, d }));
      }
    }
    const events = place === undefined ? [] : eventsOf(scene.asked);
    this.readout.show(
      place,
      events.filter((event) => event.at === place).map((event) => event.text),
    );
  }

  /** Shows the range that is being dragged. @param {number} from @param {number} to */
  select(from, to) {
    if (!this.plot) return;
    const [a = 0, b = 0] = [this.pixels[from] ?? 0, this.pixels[to] ?? 0].sort((x, y) => x - y);
    const { top, bottom } = this.plot.frame;
    const box = { x: a, y: top, width: b - a, height: bottom - top };
    this.overlay.prepend(svg("rect", { class: "selection", ...box }));
  }

  /** Makes one line stand out. @param {string | number | null} id */
  highlight(id) {
    for (const node of this.svg.querySelectorAll("g[data-line]"))
      node.classList.toggle("dim", id !== null && node.getAttribute("data-line") !== String(id));
  }

  /** @param {CommitIndex} at */
  changesAddress(at) {
    const model = getModel();
    const asked = this.scene?.asked;
    return addressOf("changes", {
      rev: model.shortOf(at),
      m: asked?.machine,
      e: model.index.environments[asked?.environments[0] ?? -1]?.id,
    });
  }

  /** Opens the changes of the commit at the cursor. */
  enter() {
    if (this.scene?.asked.x !== "torch" && this.place !== undefined)
      visitAddress(this.changesAddress(this.place));
  }

  /** Forgets the cursor unless the keyboard is here. */
  settle() {
    if (document.activeElement === this.frame) return;
    this.cursor = null;
    this.mark();
  }

  /** Zooms to the stops that were dragged over. @param {number} i @param {number} j */
  zoomTo(i, j) {
    if (!this.scene || this.scene.asked.x === "torch") return;
    const { stops } = this.scene.axis;
    const [from, to] = [stops[Math.min(i, j)], stops[Math.max(i, j)]];
    if (from !== undefined && to !== undefined && from !== to) this.#visitRange(from, to, false);
  }

  /** Zooms about the cursor. @param {number} factor of the range */
  zoom(factor) {
    if (!this.scene?.axis.whole.length) return;
    const { whole, first, last } = this.#range(this.scene);
    const centre = this.cursor === null ? (first + last) / 2 : whole.indexOf(this.cursor);
    const reach = Math.max(1, ((last - first) * factor) / 2);
    const word = factor < 1 ? "Zoomed in" : "Zoomed out";
    this.#window(whole, Math.round(centre - reach), Math.round(centre + reach), word);
  }

  /** Moves the range. @param {number} share of its length, negative for earlier */
  pan(share) {
    if (!this.scene?.axis.whole.length) return;
    const { whole, first, last } = this.#range(this.scene);
    let by = Math.round((last - first) * share) || Math.sign(share);
    by = Math.max(-first, Math.min(whole.length - 1 - last, by));
    this.#window(whole, first + by, last + by, share < 0 ? "Earlier" : "Later");
  }

  reset() {
    changeParams({ from: null, to: null });
    announce("Whole range.");
  }

  /** @param {Scene} scene */
  #range({ axis: { whole, stops } }) {
    return { whole, first: whole.indexOf(stops[0] ?? 0), last: whole.indexOf(stops.at(-1) ?? 0) };
  }

  /**
   * @param {number[]} whole
   * @param {number} first
   * @param {number} last
   * @param {string} word
   */
  #window(whole, first, last, word) {
    const [a, b] = [Math.max(0, first), Math.min(whole.length - 1, last)];
    const [from, to] = [whole[a] ?? 0, whole[b] ?? 0];
    this.#visitRange(from, to, true);
    const { commits } = getModel();
    const [start, end] = [from, to].map((at) => formatDay(commits[at]?.date ?? 0));
    announce(`${word}: ${start} to ${end}, ${plural(b - a + 1, "commit")}.`);
  }

  /**
   * @param {CommitIndex} from
   * @param {CommitIndex} to
   * @param {boolean} replace
   */
  #visitRange(from, to, replace) {
    const model = getModel();
    changeParams({ from: model.shortOf(from), to: model.shortOf(to) }, { replace });
  }
}
