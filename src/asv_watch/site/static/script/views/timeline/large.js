// The large chart with its tools: zoom buttons, help, table of values, CSV.

import { addressOf, currentState } from "../../address.js";
import { getModel } from "../../data/model.js";
import { el } from "../../page/elements.js";
import { csvButton, permalinkButton } from "../../page/handover.js";
import { scrollBox } from "../../page/tables.js";
import { Chart } from "./chart.js";
import { csvOf, valueTable } from "./exports.js";

/** @import { Asked } from "./asking.js" */
/** @import { Axis } from "./axis.js" */
/** @import { Scene } from "./chart.js" */
/** @import { SeriesLine } from "./lines.js" */

/** @param {string} text */
const kbd = (text) => el("kbd", {}, text);

/** @param {string} id */
const helpText = (id) =>
  el(
    "p",
    { class: "note", id },
    ["Drag to zoom, click a point for its changes. With the keyboard: "],
    [kbd("←"), " ", kbd("→"), " read values, ", kbd("Enter"), " opens the changes, "],
    [kbd("+"), " ", kbd("−"), " zoom, ", kbd("Shift"), " with arrows moves, "],
    [kbd("Esc"), " shows the whole range. "],
    "Thick lines are levels between change points; ◆ marks a change of the recipe, " +
      "the machine or the environment, ✗ a failed run.",
  );

/**
 * The address with the range written out, so that it shows the same when newer commits exist.
 * @param {Scene | null} scene
 */
function pinnedAddress(scene) {
  const model = getModel();
  const { view, params } = currentState();
  if (!scene || scene.asked.x === "torch" || scene.axis.stops.length < 2)
    return addressOf(view, params);
  const { asked, axis } = scene;
  return addressOf(view, {
    ...params,
    m: asked.machine,
    e: asked.environments.map((e) => model.index.environments[e]?.id),
    from: model.shortOf(axis.stops[0] ?? 0),
    to: model.shortOf(axis.stops.at(-1) ?? 0),
  });
}

export class LargeChart {
  /**
   * @param {string} helpId
   * @param {boolean} [removable] whether lines can be removed from the address
   */
  constructor(helpId, removable = true) {
    this.chart = new Chart(helpId, removable);
    const { chart } = this;
    /**
     * @param {string} text
     * @param {string} label
     * @param {() => void} work
     */
    const tool = (text, label, work) =>
      el(
        "button",
        { type: "button", class: "button", "aria-label": label, title: label, onclick: work },
        text,
      );
    this.notes = el("p", { class: "note" });
    this.fold = el("details", { class: "fold" }, el("summary", {}, "Values as a table"));
    this.fold.addEventListener("toggle", () => this.#tabulate());
    this.node = el(
      "div",
      { class: "large" },
      this.notes,
      chart.frame,
      chart.readout.node,
      el(
        "div",
        { class: "actions" },
        tool("←", "Earlier", () => chart.pan(-0.25)),
        tool("→", "Later", () => chart.pan(0.25)),
        tool("+", "Zoom in", () => chart.zoom(0.5)),
        tool("−", "Zoom out", () => chart.zoom(2)),
        tool("Whole range", "Whole range", () => chart.reset()),
        csvButton(
          () => "timeline.csv",
          () => (chart.scene ? csvOf(chart.scene) : ""),
        ),
        permalinkButton(() => pinnedAddress(chart.scene)),
      ),
      helpText(helpId),
      this.fold,
    );
  }

  /**
   * @param {Asked} asked
   * @param {Axis} axis
   * @param {SeriesLine[]} lines as they were measured
   * @param {SeriesLine[]} drawn as the chart shows them
   * @param {string} notes
   */
  show(asked, axis, lines, drawn, notes) {
    const labels = lines.map((line) => line.label).join(", ");
    const metrics = [...new Set(lines.map((line) => line.case.metric.label))].join(", ");
    const places = asked.x === "torch" ? getModel().releasesName : "commits";
    const summary = `${labels}: ${metrics} over ${axis.stops.length} ${places}`;
    this.notes.textContent = notes;
    this.chart.set({ asked, axis, lines, drawn, unit: lines[0]?.unit ?? "", summary });
    this.#tabulate();
  }

  #tabulate() {
    for (const old of this.fold.querySelectorAll(".scroll")) old.remove();
    if (this.fold.open && this.chart.scene)
      this.fold.append(scrollBox("Values as a table", valueTable(this.chart.scene)));
  }
}
