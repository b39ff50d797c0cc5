// A case: everything about one benchmark with one set of parameters, in one place.

import { firstParam } from "../../address.js";
import { getModel } from "../../data/model.js";
import { loadSource } from "../../data/registry.js";
import { el, freshId, nodesOf } from "../../page/elements.js";
import { CHANGE_COLUMNS, OTHER_CHANGE_COLUMNS, ownChangeRow } from "../../page/found-changes.js";
import { machineField, environmentField } from "../../page/place-fields.js";
import { scrollBox } from "../../page/tables.js";
import { readTimeline } from "../timeline/asking.js";
import { buildAxis } from "../timeline/axis.js";
import { LargeChart } from "../timeline/large.js";
import { relativeLines, releaseLines, restartNote, seriesLines } from "../timeline/lines.js";
import { appOf, notice } from "../view.js";
import {
  commandBlock,
  environmentTable,
  relatedTable,
  sourceBlock,
  summaryCards,
} from "./facts.js";
import { releasesTable } from "./releases.js";
import { samplesPanel } from "./samples-panel.js";

/** @import { State } from "../../address.js" */
/** @import { Child } from "../../page/elements.js" */
/** @import { Series } from "../../data/model.js" */
/** @import { View } from "../view.js" */

/** All changes reported for a series, with their state. @param {Series} series */
function changesTable(series) {
  const changes = getModel().changesOf.get(series.at) ?? [];
  if (!changes.length)
    return el("p", { class: "empty" }, "No change has been found in this series.");
  const caption = "Changes of this case";
  const all = [...CHANGE_COLUMNS.map(({ text }) => text), ...OTHER_CHANGE_COLUMNS];
  const titles = all.filter((text) => text !== "Case" && text !== "Where");
  const heads = titles.map((text) =>
    el("th", { scope: "col", class: text === "Change" ? "number" : null }, text),
  );
  return scrollBox(
    caption,
    el(
      "table",
      { class: "list all-changes" },
      el("caption", { class: "visually-hidden" }, caption),
      el("thead", {}, el("tr", {}, heads)),
      el("tbody", {}, changes.map(ownChangeRow)),
    ),
  );
}

/**
 * @param {string} title
 * @param {Child[]} children
 */
const part = (title, ...children) => el("section", {}, el("h2", {}, title), ...children);

/** Draws the history of one series. @param {LargeChart} chart @param {Series} series @param {State} state */
async function drawHistory(chart, series, state) {
  const asked = { ...readTimeline(state), m: series.m, machine: series.machine.name };
  asked.environments = [series.e];
  const lines = await (asked.x === "torch" ? releaseLines(asked) : seriesLines([series]));
  const axis = buildAxis(asked, lines);
  const { metric } = series;
  const direction = `${metric.label}: ${metric.higher_is_better ? "more" : "less"} is better.`;
  const relative = asked.y === "relative";
  const drawn = relative ? relativeLines(lines, axis.stops[0] ?? 0) : lines;
  const note = restartNote(lines, axis.stops, relative);
  chart.show(asked, axis, lines, drawn, [direction, note].join(" "));
}

/**
 * The series that the address names, on its machine and in its environment.
 * @param {State} state
 */
function wantedSeries(state) {
  const model = getModel();
  const key = firstParam(state, "s");
  const m = model.machineAt(firstParam(state, "m", model.defaultMachine));
  const e = model.environmentAt(firstParam(state, "e", model.defaultEnvironment));
  return model.find(key, m, e) ?? null;
}

/** What is shown in place of a series that does not exist here. @param {State} state */
function missingText(state) {
  const key = firstParam(state, "s");
  if (!key) return "Press / to search for a case, or choose one in the overview.";
  if (!getModel().cases.has(key)) return `No case is called “${key}”: press / to search for one.`;
  return `${key} was not measured with this machine and environment: choose another.`;
}

/** @type {View} */
export const caseView = {
  title: "Case",
  mount(section) {
    const heading = section.querySelector("h1") ?? el("h1");
    const chart = new LargeChart(freshId("chart-help"), false);
    const machine = machineField();
    const environment = environmentField();
    const name = el("p", { class: "lead" });
    const top = el("div", {});
    const bottom = el("div", {});
    const history = part("History", chart.node);
    appOf(section).replaceChildren(
      name,
      el("div", { class: "fields" }, machine.node, environment.node),
      top,
      history,
      bottom,
    );

    let ticket = {};
    return async (state) => {
      const mine = (ticket = {});
      machine.show(state);
      environment.show(state);
      const series = wantedSeries(state);
      history.hidden = bottom.hidden = series === null;
      if (!series) {
        heading.textContent = "Case";
        name.textContent = "";
        top.replaceChildren(notice(missingText(state)));
        return;
      }
      heading.textContent = `${series.case.title} · ${series.metric.label}`;
      document.title = `${heading.textContent} – ${getModel().index.project.name}`;
      name.replaceChildren(el("code", {}, series.key));
      const [source, samples] = await Promise.all([
        loadSource(series.benchmark.slug),
        samplesPanel(series, state),
      ]);
      if (ticket !== mine) return; // the reader asked for something else meanwhile
      top.replaceChildren(summaryCards(series, source));
      await drawHistory(chart, series, state);
      const related = relatedTable(series, source);
      const releases = releasesTable(series, source);
      bottom.replaceChildren(
        ...nodesOf([
          part("Changes", changesTable(series)),
          releases ? part("Torch releases", ...releases) : null,
          part("Samples", samples),
          related ? part("Other measurements of this model and pass", related) : null,
          part("Measure it again", commandBlock(series, source)),
          part("Environment", environmentTable(series)),
          part("What is measured", ...sourceBlock(source)),
        ]),
      );
    };
  },
};
