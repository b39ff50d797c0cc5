// Comparison: models by the labels in which their series differ, and the ratios between them.

import { addressOf, currentState } from "../../address.js";
import { drawMarks } from "../../charts/bars.js";
import { markPath } from "../../charts/marks.js";
import { drawScatter } from "../../charts/scatter.js";
import { getModel } from "../../data/model.js";
import { announce } from "../../page/announce.js";
import { el, svg } from "../../page/elements.js";
import { csvButton, permalinkButton } from "../../page/handover.js";
import { buildTable, scrollBox } from "../../page/tables.js";
import { csvText } from "../../text/export.js";
import { capital, plural } from "../../text/format.js";
import { appOf } from "../view.js";
import { readComparison } from "./asking.js";
import { buildFields } from "./fields.js";
import { memoryScene } from "./memory.js";
import { publishedScene } from "./published.js";
import { RATIOS, ratiosScene } from "./ratios.js";
import { valuesScene } from "./values.js";

/** @import { View } from "../view.js" */
/** @import { Asked } from "./asking.js" */
/** @import { LegendItem, MarkScene, Scene } from "./entries.js" */

/** @param {Asked} asked @returns {Promise<Scene>} */
function buildScene(asked) {
  if (asked.show === "values") return valuesScene(asked);
  if (asked.show === "memory") return memoryScene(asked);
  if (asked.show === "published") return publishedScene(asked);
  return ratiosScene(asked, RATIOS[asked.show]);
}

/** Puts the rows with the largest values first. @param {MarkScene} scene */
function sortRows(scene) {
  /** @param {MarkScene["rows"][number]} row */
  const size = ({ marks }) =>
    Math.max(-1, ...marks.flatMap((m) => (m && "value" in m && !m.published ? [m.value] : [])));
  scene.rows.sort((a, b) => size(b) - size(a));
}

/**
 * @param {LegendItem} item
 * @param {boolean} bars
 */
function legendItem({ name, look, shape }, bars) {
  const mark = bars
    ? svg("rect", { class: `bar ${look}`, x: 1, y: 1.5, width: 10, height: 9 })
    : svg("path", { class: "dot", d: markPath(shape, 6, 6) });
  const picture = svg(
    "svg",
    {
      class: `chart swatch small ${look}`,
      viewBox: "0 0 12 12",
      "aria-hidden": "true",
      focusable: "false",
    },
    mark,
  );
  return el("li", {}, picture, name);
}

/**
 * The address with machine, environment and revision written out.
 * @param {Asked} asked
 */
function pinnedAddress(asked) {
  const model = getModel();
  const { params } = currentState();
  const newest = Math.max(
    ...model.series.flatMap((series) =>
      series.m === asked.m && series.e === asked.e && series.last ? [series.last.c] : [],
    ),
  );
  return addressOf("compare", {
    ...params,
    m: model.index.machines[asked.m]?.name,
    e: model.index.environments[asked.e]?.id,
    rev: model.shortOf(asked.rev < 0 ? newest : asked.rev),
  });
}

/** What the table shows, with plain numbers. @param {Scene | undefined} scene */
function csvOf(scene) {
  const { csv, marks } = scene ?? {};
  if (csv || !marks) return csvText(csv ?? []);
  const rows = marks.rows.map((row) => [row.label, ...row.numbers]);
  return csvText([[getModel().subject, ...marks.numberHeadings], ...rows]);
}

/** @param {Scene} scene */
function tableOf({ table, marks }) {
  if (table || !marks) return table;
  const heads = marks.headings.map((text) => ({ text, number: true }));
  const rows = marks.rows.map((row) => [row.label, ...row.cells]);
  return buildTable("The chart's values", [capital(getModel().subject), ...heads], rows);
}

/** @type {View} */
export const compareView = {
  title: "Comparison",
  mount(section) {
    /** @type {{ asked: Asked, scene: Scene } | null} */
    let shown = null;
    let width = 0;
    const fields = buildFields(() => shown?.scene.names ?? []);
    const note = el("p", { class: "note" });
    const legend = el("ul", { class: "legend", "aria-label": "Marks" });
    const picture = svg("svg", { class: "chart still", role: "img" });
    const frame = el("div", { class: "chart-frame" }, picture);
    const table = el("div", {});
    const actions = el(
      "div",
      { class: "actions" },
      csvButton(
        () => "comparison.csv",
        () => csvOf(shown?.scene),
      ),
      permalinkButton(() => (shown ? pinnedAddress(shown.asked) : location.hash)),
    );
    const out = el("div", {}, note, legend, frame, actions, table);
    const empty = el("p", { class: "notice", hidden: true });
    appOf(section).replaceChildren(fields.node, empty, out);

    const draw = () => {
      if (!shown) return;
      width = Math.round(frame.clientWidth) || 900;
      const inner = Math.max(280, width - 12);
      const label = `${note.textContent} The table below holds every value.`;
      picture.setAttribute("aria-label", label);
      const { scatter, marks } = shown.scene;
      if (scatter)
        drawScatter(picture, scatter, {
          width: inner,
          xUnit: "seconds",
          yUnit: "bytes",
          xLabel: "time →",
          yLabel: "↑ memory",
        });
      if (marks) drawMarks(picture, marks.rows, { width: inner, ...marks });
    };
    new ResizeObserver(() => {
      const now = Math.round(frame.clientWidth);
      if (now && Math.abs(now - width) > 2) draw();
    }).observe(frame);

    let ticket = {};
    return async (state) => {
      const asked = readComparison(state);
      const mine = (ticket = {});
      const scene = await buildScene(asked);
      if (ticket !== mine) return; // the reader asked for something else meanwhile
      shown = { asked, scene };
      fields.show(state);
      fields.fit(asked);
      if (scene.marks && asked.order === "value") sortRows(scene.marks);
      const count = scene.scatter?.length ?? scene.marks?.rows.length ?? 0;
      empty.hidden = count > 0;
      empty.textContent = count ? "" : scene.empty;
      out.hidden = count === 0;
      if (!count) return;
      const newest = asked.by.includes("torch") ? "" : " Newest value of each series.";
      const when = asked.rev < 0 ? newest : ` ${getModel().commitLine(asked.rev)}.`;
      note.textContent = scene.note + when;
      const bars = scene.marks !== null && scene.marks.from !== null;
      legend.replaceChildren(...scene.legend.map((item) => legendItem(item, bars)));
      draw();
      table.replaceChildren(scrollBox("The chart's values", tableOf(scene)));
      announce(`${plural(count, scene.scatter ? "point" : getModel().subject)}.`);
    };
  },
};
