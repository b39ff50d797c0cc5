// A small chart of every row, for when no case was chosen.

import { addressOf, currentState } from "../../address.js";
import { drawLines, multiples, smallMultiple, smallPicture } from "../../charts/lines.js";
import { getModel } from "../../data/model.js";
import { el, fold } from "../../page/elements.js";
import { ofGroup } from "../../page/fields.js";
import { caseName, casePage, columnLegend } from "../../page/signs.js";
import { sheetOf } from "../../page/tables.js";
import { matrixColumns, rowsOfCases } from "../overview/rows.js";
import { plural } from "../../text/format.js";
import { readAt, seriesLines } from "./lines.js";
import { readable } from "./reading.js";
import { sceneOf } from "./scene.js";

/** So many are drawn at once; the others when they come into sight. */
const AT_ONCE = 9;

/**
 * @param {SVGSVGElement} picture
 * @param {Series[]} series
 * @param {Asked} asked
 */
async function drawSmall(picture, series, asked) {
  const lines = await seriesLines(series);
  const scene = sceneOf(asked, lines);
  const { axis, events } = scene;
  const { metric } = asked.setup;
  const plot = drawLines(picture, scene.drawn, {
    ...axis,
    ticks: axis.ends,
    y: asked.y,
    metric,
    events,
  });
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
 * The frames, and what draws the first of them: the answer to a click must not wait for data.
 * @param {Asked} asked
 */
export function buildGrid(asked) {
  const measured = getModel()
    .seriesAt(asked.setup)
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
  /** @type {Map<Element, () => Promise<void>>} */
  const waiting = new Map();
  const items = courses.map((series) => {
    const picture = smallPicture();
    waiting.set(picture, () => drawSmall(picture, series, asked));
    return drawItem(series, picture);
  });
  /** @param {Element} picture */
  const draw = (picture) => {
    const work = waiting.get(picture);
    waiting.delete(picture);
    return work?.();
  };
  const pictures = [...waiting.keys()];
  const first = Math.min(AT_ONCE, open);
  const later = pictures.slice(first);
  const watch = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        watch.unobserve(entry.target);
        void draw(entry.target);
      }
    },
    { rootMargin: "300px" },
  );
  for (const picture of later) watch.observe(picture);
  const once = single.map((series) => {
    const link = el("a", { href: casePage(series) }, caseName(series.case));
    return el("li", {}, link, ` ${series.last?.text}`);
  });
  const node = el(
    "div",
    {},
    columnLegend(courses.flat().map((series) => series.case)),
    multiples(items.slice(0, open)),
    open < items.length
      ? fold(
          `${plural(items.length - open, "row")} without a measured change`,
          multiples(items.slice(open)),
        )
      : null,
    once.length ? el("p", { class: "note" }, "Measured once so far:") : null,
    el("ul", { class: "tally" }, once),
  );
  return {
    node,
    sheet: () => sheetOf(matrixColumns(table, asked.setup.metric), table.rows),
    drawFirst: () => Promise.all(pictures.slice(0, first).map(draw)),
  };
}
