// A small chart of every model, for when no case was chosen.

import { addressOf, currentState } from "../../address.js";
import { drawLines } from "../../charts/lines.js";
import { getModel } from "../../data/model.js";
import { el, svg } from "../../page/elements.js";
import { columnLegend } from "../../page/legend.js";
import { casePage, hasCourse } from "../../page/signs.js";
import { eventsOf } from "./asking.js";
import { buildAxis } from "./axis.js";
import { seriesLines } from "./lines.js";
import { asRatios, asValues } from "./ratios.js";
import { attachReading } from "./reading.js";

/** @import { Place, Series } from "../../data/model.js" */
/** @import { Asked } from "./asking.js" */

/** So many are drawn at once; the others when they come into sight. */
const AT_ONCE = 9;
const [WIDTH, HEIGHT] = [320, 150];

/**
 * @param {SVGSVGElement} picture
 * @param {Series[]} series
 * @param {Asked} asked
 * @param {number} base
 */
async function drawSmall(picture, series, asked, base) {
  const lines = await seriesLines(series);
  const axis = buildAxis(asked, lines);
  const drawn = asked.y === "ratio" ? asRatios(lines, axis.stops[0] ?? 0, base) : asValues(lines);
  const events = eventsOf(asked.place);
  const plot = drawLines(picture, drawn, {
    width: WIDTH,
    height: HEIGHT,
    small: true,
    place: axis.place,
    domain: axis.domain,
    y: asked.y,
    metric: asked.place.metric,
    ticks: axis.ends,
    events,
  });
  attachReading(picture, plot, { asked, stops: axis.stops, lines, drawn, events });
}

/** @param {Series[]} series @param {SVGSVGElement} picture */
function drawItem(series, picture) {
  const [first] = series;
  const words = series.map((one) => `${one.case.field.name} ${one.last?.text}`).join(", ");
  const href = addressOf("timeline", {
    ...currentState().params,
    s: series.map((one) => one.case.key),
  });
  const { line } = first?.case ?? {};
  return el(
    "li",
    {},
    el(
      "a",
      { href },
      el(
        "span",
        { class: "title" },
        line?.name,
        el(
          "span",
          { class: "muted" },
          [line?.details, line?.group].filter(Boolean).map((text) => ` · ${text}`),
        ),
      ),
      el("span", { class: "visually-hidden" }, `newest: ${words}`),
      picture,
    ),
  );
}

/**
 * Series of a place by row; the main suites, or all where those have none of the metric.
 * @param {Place} place
 */
export function rowsAt(place) {
  const model = getModel();
  const measured = model.seriesAt(place).filter(({ last }) => last);
  const main = measured.filter(({ case: { line } }) => model.mainGroups.has(line.group));
  /** @type {Map<number, Series[]>} */
  const rows = new Map();
  for (const series of main.length ? main : measured)
    rows.set(series.case.row, [...(rows.get(series.case.row) ?? []), series]);
  return [...rows.values()];
}

/**
 * The frames, and what draws the first of them: the answer to a click must not wait for data.
 * @param {Asked} asked
 * @param {number} base commit that ratios refer to, or -1
 */
export function buildGrid(asked, base) {
  const rows = rowsAt(asked.place);
  const courses = rows.filter((row) => row.some(hasCourse));
  const single = rows.filter((row) => !row.some(hasCourse)).flatMap((row) => row.slice(0, 1));
  /** @type {Map<Element, () => Promise<void>>} */
  const waiting = new Map();
  const items = courses.map((series) => {
    const picture = svg("svg", { class: "chart small", viewBox: `0 0 ${WIDTH} ${HEIGHT}` });
    waiting.set(picture, () => drawSmall(picture, series, asked, base));
    return drawItem(series, picture);
  });
  /** @param {Element} picture */
  const draw = (picture) => {
    const work = waiting.get(picture);
    waiting.delete(picture);
    return work?.();
  };
  const pictures = [...waiting.keys()];
  const later = pictures.slice(AT_ONCE);
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
  addEventListener("beforeprint", () => later.forEach(draw), { once: true });
  const node = el(
    "div",
    {},
    columnLegend(courses.flat().map((series) => series.case)),
    el("ul", { class: "multiples" }, items),
    single.length
      ? el(
          "p",
          { class: "note" },
          "Measured once so far: ",
          single.map((series, i) => [
            i ? ", " : "",
            el("a", { href: casePage(series) }, series.case.line.name),
            ` ${series.last?.text}`,
          ]),
          ".",
        )
      : null,
  );
  return { node, rows, drawFirst: () => Promise.all(pictures.slice(0, AT_ONCE).map(draw)) };
}
