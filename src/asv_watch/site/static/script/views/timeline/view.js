// Timeline: one large chart of the chosen series, or a small one of every model.

import { allParams, changeParams } from "../../address.js";
import { getModel } from "../../data/model.js";
import { el, freshId } from "../../page/elements.js";
import {
  checkField,
  choicesField,
  choicesOf,
  controlBox,
  selectField,
} from "../../page/fields.js";
import { machineField, revisionField } from "../../page/place-fields.js";
import { capital } from "../../text/format.js";
import { appOf, notice } from "../view.js";
import { LAST_CHOICES, readTimeline } from "./asking.js";
import { buildAxis } from "./axis.js";
import { drawGrid } from "./grid.js";
import { LargeChart } from "./large.js";
import { relativeLines, releaseLines, restartNote, seriesLines } from "./lines.js";
import { buildPicker } from "./picker.js";

/** @import { Series } from "../../data/model.js" */
/** @import { View } from "../view.js" */
/** @import { Asked } from "./asking.js" */
/** @import { Axis } from "./axis.js" */
/** @import { SeriesLine } from "./lines.js" */

/** @param {string} value */
const lastLabel = (value) => (value === "all" ? "all commits" : `${value} commits`);

/** The fields, and which of them make sense for what is asked. */
function buildFields() {
  const model = getModel();
  const relative = revisionField("rel", "Relative to", {
    words: [
      ["start", "the start of the range"],
      ["baseline", "the fixed baseline"],
    ],
    initial: () => "start",
  });
  const forLarge = [
    checkField("ci", "fastest quarter", { initial: true }),
    checkField("quartiles", "quartiles"),
    checkField("steps", "levels", { initial: true }),
  ];
  const box = controlBox([
    machineField(),
    choicesField("e", "Environment", {
      options: () =>
        model.releases.map((release) => ({
          value: release.id,
          label: model.environmentLabel(release),
        })),
      initial: () => [model.defaultEnvironment],
    }),
    selectField("x", "X axis", {
      options: () =>
        choicesOf([
          ["commit", "commits"],
          ["date", "dates"],
          ["torch", model.releasesName],
        ]),
      initial: () => "commit",
    }),
    selectField("y", "Y axis", {
      options: () =>
        choicesOf([
          ["linear", "linear, from zero"],
          ["log", "logarithmic"],
          ["relative", "relative"],
        ]),
      initial: (state) => (allParams(state, "s").length ? "log" : "relative"),
    }),
    relative,
    selectField("n", "Show the last", {
      options: () => LAST_CHOICES.map((value) => ({ value, label: lastLabel(value) })),
      initial: () => "200",
      change: (patch) => changeParams({ ...patch, from: null, to: null }),
    }),
    ...forLarge,
  ]);
  /** @param {Asked} asked */
  const fit = (asked) => {
    relative.node.hidden = asked.y !== "relative" || asked.grid;
    for (const field of forLarge) field.node.hidden = asked.grid;
  };
  return { ...box, fit };
}

/**
 * The lines that were asked for, and the cases that this environment lacks.
 * @param {Asked} asked
 * @returns {Promise<{ lines: SeriesLine[], missing: string[] }>}
 */
async function loadLines(asked) {
  if (asked.x === "torch") return { lines: await releaseLines(asked), missing: [] };
  /** @type {Series[]} */
  const series = [];
  /** @type {string[]} */
  const missing = [];
  for (const key of asked.keys)
    for (const e of asked.environments) {
      const drawn = getModel().find(key, asked.m, e);
      if (drawn) series.push(drawn);
      else missing.push(key);
    }
  return { lines: await seriesLines(series), missing };
}

/**
 * The place that relative values refer to.
 * @param {Asked} asked
 * @param {Axis} axis
 */
function baseOf(asked, axis) {
  const { baseline, findCommit } = getModel();
  const start = axis.stops[0] ?? 0;
  if (asked.x === "torch") return 0;
  if (asked.relative === "baseline") return baseline;
  const named = findCommit(asked.relative);
  return named >= 0 ? named : start;
}

/**
 * The text above the chart.
 * @param {Asked} asked
 * @param {SeriesLine[]} lines
 * @param {string[]} missing
 * @param {number | null} base
 * @param {Axis} axis
 */
function notesOf(asked, lines, missing, base, axis) {
  const metrics = [...new Set(lines.map((line) => line.case.metric))];
  const directions = metrics.map(
    ({ label, higher_is_better: higher }) =>
      `${capital(label)}: ${higher ? "more" : "less"} is better`,
  );
  return [
    directions.join("; ") + ".",
    new Set(lines.map((line) => line.unit)).size > 1
      ? "The units differ, so relative values are shown."
      : "",
    base !== null && asked.x !== "torch"
      ? `Relative to the level at ${getModel().commitLine(base)}.`
      : "",
    restartNote(lines, axis.stops, base !== null),
    asked.unknown.length ? `Not known here: ${asked.unknown.join(", ")}.` : "",
    missing.length ? `Not in this environment: ${missing.join(", ")}.` : "",
    lines.some((line) => line.points.length) ? "" : "Nothing has been measured of these series.",
  ]
    .filter(Boolean)
    .join(" ");
}

/** @type {View} */
export const timelineView = {
  title: "Timeline",
  mount(section) {
    const fields = buildFields();
    const picker = buildPicker();
    const large = new LargeChart(freshId("chart-help"));
    const grid = el("div", { class: "grid" });
    const charts = el("div", {}, large.node, grid);
    charts.id = freshId("charts");
    const skip = el(
      "a",
      { class: "skip-chart button", href: `#${charts.id}` },
      "Skip to the chart",
    );
    appOf(section).replaceChildren(
      skip,
      fields.node,
      el("div", { class: "timeline" }, picker.node, charts),
    );
    /** @param {Node[]} parts */
    const showGrid = (...parts) => {
      large.node.hidden = true;
      grid.hidden = false;
      grid.replaceChildren(...parts);
    };

    let ticket = {};
    return async (state) => {
      const asked = readTimeline(state);
      fields.show(state);
      fields.fit(asked);
      picker.show(state);
      if (asked.m < 0)
        throw new Error(`No machine is called “${asked.machine}”: choose one of the list.`);
      const mine = (ticket = {});
      if (asked.grid) {
        if (asked.x === "torch") asked.x = "commit"; // a line over releases needs chosen series
        await drawGrid(asked, showGrid);
        return;
      }
      const { lines, missing } = await loadLines(asked);
      if (ticket !== mine) return; // the reader asked for something else meanwhile
      if (!lines.length) {
        const names = asked.unknown.concat(missing).join(", ");
        showGrid(
          notice(
            `Not measured with this machine and environment: ${names}. ` +
              "Choose series from the list.",
          ),
        );
        return;
      }
      if (new Set(lines.map((line) => line.unit)).size > 1) asked.y = "relative";
      const axis = buildAxis(asked, lines);
      const base = asked.y === "relative" ? baseOf(asked, axis) : null;
      large.node.hidden = false;
      grid.hidden = true;
      grid.replaceChildren();
      large.show(
        asked,
        axis,
        lines,
        base === null ? lines : relativeLines(lines, base),
        notesOf(asked, lines, missing, base, axis),
      );
    };
  },
};
