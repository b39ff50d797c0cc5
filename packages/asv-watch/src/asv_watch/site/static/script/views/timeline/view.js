// Timeline: a small chart of every row, or one large chart of the cases that were chosen.

import { addressOf, allParams, changeParams, currentState, linkTo } from "../../address.js";
import { drawLines, multiples, smallMultiple, smallPicture } from "../../charts/lines.js";
import { getModel } from "../../data/model.js";
import { el, fillAnew, fold, lazyFold, notice } from "../../page/elements.js";
import { ofGroup, suggestingField } from "../../page/fields.js";
import { caseName, casePage, columnLegend, legend } from "../../page/signs.js";
import { drawTable, sheetOf } from "../../page/tables.js";
import { readable } from "../../page/tip.js";
import { plural } from "../../text/format.js";
import { matrixColumns, rowsOfCases } from "../overview.js";
import { largeChart } from "./chart.js";
import { chartNote, readAt, sceneOf, seriesLines, valueColumns } from "./lines.js";

/** Small charts that are drawn at once; the others when they come into sight. */
const AT_ONCE = 9;
/** Commits of a small chart at most. */
const NEWEST = 200;

/**
 * @param {SVGSVGElement} picture
 * @param {Series[]} series
 * @param {Setup} setup
 */
async function drawSmall(picture, series, setup) {
  const scene = sceneOf(setup, await seriesLines(series, NEWEST), NEWEST);
  const { axis, events, lines } = scene;
  const plot = drawLines(picture, lines, { ...axis, ticks: axis.ends, events });
  readable(picture).show(plot, axis.stops, (stop) => readAt(scene, stop));
}

/** @param {Series[]} series @param {SVGSVGElement} picture */
function drawItem(series, picture) {
  const keys = series.map((one) => one.case.key);
  const href = addressOf("timeline", { ...currentState().params, s: keys });
  const { name = "", details = "", group = "" } = series[0]?.case.line ?? {};
  const words = series.map((one) => `${one.case.field.name} ${one.last?.text}`).join(", ");
  picture.setAttribute("aria-label", `newest: ${words}`);
  const grey = [...new Set(["", details, group])].join(" · ");
  return smallMultiple(href, name, grey, picture);
}

/**
 * A small chart of every row, and what draws the first of them: the answer to a click must not wait
 * for data.
 * @param {Setup} setup
 */
function buildGrid(setup) {
  const measured = getModel()
    .seriesAt(setup)
    .filter(({ last }) => last);
  const table = rowsOfCases(ofGroup(measured, "", (series) => series.case));
  const rows = table.rows.map(({ cells }) => [...cells.values()]);
  /** How far the levels of a row went from the newest. @param {Series[]} row */
  const movedOf = (row) => Math.max(...row.map(({ moved }) => moved));
  /** @param {Series[]} row */
  const hasCourse = (row) => row.some(({ values }) => values > 1);
  const courses = rows.filter(hasCourse).sort((a, b) => movedOf(b) - movedOf(a));
  const open = courses.filter((row) => movedOf(row) > 0).length || courses.length;
  const single = rows.filter((row) => !hasCourse(row)).flatMap((row) => row.slice(0, 1));
  const charts = courses.map((series) => {
    const picture = smallPicture();
    const draw = () => drawSmall(picture, series, setup);
    return { picture, item: drawItem(series, picture), draw };
  });
  const items = charts.map(({ item }) => item);
  const first = charts.slice(0, Math.min(AT_ONCE, open));
  /** @type {Map<Element, () => Promise<void>>} */
  const later = new Map(charts.slice(first.length).map(({ picture, draw }) => [picture, draw]));
  const watch = new IntersectionObserver(
    (entries) => {
      for (const { target } of entries.filter(({ isIntersecting }) => isIntersecting)) {
        watch.unobserve(target);
        void later.get(target)?.();
      }
    },
    { rootMargin: "300px" },
  );
  for (const picture of later.keys()) watch.observe(picture);
  const once = single.map((series) => {
    const link = el("a", { href: casePage(series) }, caseName(series.case));
    return el("li", {}, link, ` ${series.last?.text}`);
  });
  const none = `No ${setup.metric.label} is measured here: choose another machine.`;
  const node = el(
    "div",
    {},
    rows.length ? null : notice(none),
    columnLegend(courses.flat().map((series) => series.case)),
    multiples(items.slice(0, open)),
    fold(
      `${plural(items.length - open, "row")} without a measured change`,
      open < items.length && multiples(items.slice(open)),
    ),
    once.length ? el("p", { class: "note" }, "Measured once so far:") : null,
    el("ul", { class: "tally" }, once),
  );
  return {
    node,
    sheet: () => sheetOf(matrixColumns(table, setup.metric), table.rows),
    drawFirst: () => Promise.all(first.map(({ draw }) => draw())),
  };
}

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

/** @type {View} */
export const timelineView = {
  title: "Timeline",
  setup: ["m", "e", "metric"],
  mount(app) {
    const model = getModel();
    const chart = largeChart();
    const note = el("p", { class: "note" });
    const out = el("div", {});
    // The chart stays where it is, as it would lose the keyboard's focus.
    const [above, below] = [el("div", {}), el("div", {})];
    const single = el("div", {}, above, chart.node, below);
    const all = el("a", { class: "button" }, `All ${model.subject}s`);
    app.replaceChildren(el("div", { class: "fields" }, addField(), all), note, out, single);
    return async (state, isAsked) => {
      const wanted = allParams(state, "s");
      const cases = wanted.flatMap((key) => model.caseOf(key) ?? []);
      const setup = model.setup(state);
      all.hidden = single.hidden = !cases.length;
      all.href = linkTo("timeline");
      out.hidden = !single.hidden;
      if (!wanted.length) {
        const grid = buildGrid(setup);
        note.textContent = chartNote(setup.metric, [], []);
        out.replaceChildren(grid.node);
        await grid.drawFirst();
        return { name: "timeline", title: note.textContent, sheet: grid.sheet };
      }
      setup.metric = cases[0]?.metric ?? setup.metric;
      const series = cases.flatMap((what) => model.find(what, setup) ?? []);
      const lines = await seriesLines(series.filter(({ last }) => last));
      if (!isAsked()) return null;
      const unknown = wanted.filter((key) => !model.caseOf(key));
      const drawn = new Set(lines.map((line) => line.series.case));
      const absent = cases.filter((what) => !drawn.has(what)).map(({ title }) => title);
      const scene = sceneOf(setup, lines);
      const { stops } = scene.axis;
      single.hidden = !lines.length;
      const notes = [
        unknown.length ? `No case is called ${unknown.join(", ")}.` : "",
        absent.length
          ? `Not measured on ${model.index.machines[setup.m]?.name}: ${absent.join(", ")}.`
          : "",
        lines.length ? chartNote(setup.metric, lines, stops) : "",
      ];
      note.textContent = notes.join(" ");
      if (!lines.length) return null;
      const columns = valueColumns(lines);
      const newest = [...stops].reverse();
      const table = lazyFold("Values as a table", () =>
        drawTable("Values of the chart", columns, newest),
      );
      fillAnew(above, legendOf(lines));
      fillAnew(below, table);
      const label = `${lines.map((line) => line.label).join(", ")} over ${plural(stops.length, "commit")}`;
      chart.set(scene, label);
      return { name: "timeline", title: label, sheet: () => sheetOf(columns, newest) };
    };
  },
};
