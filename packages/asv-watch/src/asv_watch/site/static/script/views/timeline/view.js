// Timeline: a small chart of every row, or one large chart of the cases that were chosen.

import { addressOf, allParams, changeParams, currentState, linkTo } from "../../address.js";
import { getModel } from "../../data/model.js";
import { el, lazyFold } from "../../page/elements.js";
import { selectField, suggestingField } from "../../page/fields.js";
import { casePage, legend } from "../../page/signs.js";
import { drawTable, sheetOf } from "../../page/tables.js";
import { plural } from "../../text/format.js";
import { largeChart } from "./chart.js";
import { buildGrid } from "./grid.js";
import { courseNote, directionText, seriesLines, valueColumns } from "./lines.js";
import { readTimeline, sceneOf } from "./scene.js";

/** A field that adds a case to the chart. */
function addField() {
  const measured = getModel().cases.filter((what) => what.measured);
  const keys = new Map(measured.map((what) => [`${what.title} · ${what.metric.label}`, what.key]));
  const names = () => [...keys.keys()].map((value) => el("option", { value }));
  const hint = { placeholder: "name of a case" };
  const { input, node } = suggestingField("Add a case", hint, names, (text) => {
    const key = keys.get(text);
    if (!key) return;
    input.value = "";
    changeParams({ s: [...allParams(currentState(), "s"), key] });
  });
  return node;
}

/**
 * The lines of the chart with their newest values, and what removes them.
 * @param {SeriesLine[]} lines
 */
const legendOf = (lines) =>
  legend(
    lines.map(({ look, shape, series, label }) => {
      const others = allParams(currentState(), "s").filter((key) => key !== series.case.key);
      const href = addressOf("timeline", { ...currentState().params, s: others });
      const name = [
        el("a", { href: casePage(series) }, label),
        ` ${series.last?.text ?? ""} `,
        el("a", { class: "remove", href, "aria-label": `Remove ${label}` }, "×"),
      ];
      return { look, shape, name };
    }),
  );

/** What is missing, in sentences. @param {Asked} asked @param {SeriesLine[]} lines */
function missingText({ cases, unknown, setup }, lines) {
  const drawn = new Set(lines.map(({ series }) => series.case));
  const absent = cases.filter((what) => !drawn.has(what)).map(({ title }) => title);
  const machine = getModel().index.machines[setup.m]?.name;
  return [
    unknown.length ? `No case is called ${unknown.join(", ")}.` : "",
    absent.length ? `Not measured on ${machine}: ${absent.join(", ")}.` : "",
  ].join(" ");
}

/** @type {View} */
export const timelineView = {
  title: "Timeline",
  setup: ["m", "e", "metric"],
  mount(app) {
    const { index } = getModel();
    const y = selectField("y", "Vertical", {
      options: () => [
        ["ratio", "change"],
        ["value", "values"],
      ],
      initial: () => "ratio",
    });
    const chart = largeChart();
    const note = el("p", { class: "note" });
    const out = el("div", {});
    // The chart stays where it is, as it would lose the keyboard's focus.
    const [above, below] = [el("div", {}), el("div", {})];
    const single = el("div", {}, above, chart.node, below);
    const all = el("a", { class: "button" }, `All ${index.layout.subject}s`);
    const add = addField();
    app.replaceChildren(el("div", { class: "fields" }, y.node, add, all), note, out, single);
    return async (state, isAsked) => {
      y.show(state);
      const asked = readTimeline(state);
      all.hidden = !asked.cases.length;
      all.href = linkTo("timeline", { y: state.params.y });
      single.hidden = !asked.cases.length;
      out.hidden = !single.hidden;
      if (!asked.cases.length && !asked.unknown.length) {
        const text = directionText(asked, []);
        const grid = buildGrid(asked);
        note.textContent = text;
        out.replaceChildren(grid.node);
        await grid.drawFirst();
        return { name: "timeline", title: text, sheet: grid.sheet };
      }
      const series = asked.cases.flatMap((what) => getModel().find(what, asked.setup) ?? []);
      const lines = await seriesLines(series.filter(({ last }) => last));
      if (!isAsked()) return null;
      note.textContent = missingText(asked, lines);
      single.hidden = !lines.length;
      if (!lines.length) return null;
      const units = new Set(lines.map((line) => line.series.metric.unit));
      if (units.size > 1) asked.y = "ratio";
      const scene = sceneOf(asked, lines);
      const { stops } = scene.axis;
      note.append(`${directionText(asked, lines)} ${courseNote(scene)}`);
      const columns = valueColumns(lines);
      const newest = [...stops].reverse();
      const table = lazyFold("Values as a table", () =>
        drawTable("Values of the chart", columns, newest),
      );
      above.replaceChildren(legendOf(lines));
      below.replaceChildren(table);
      const label = `${lines.map((line) => line.label).join(", ")} over ${plural(stops.length, "commit")}`;
      chart.set(scene, label);
      return { name: "timeline", title: label, sheet: () => sheetOf(columns, newest) };
    };
  },
};
