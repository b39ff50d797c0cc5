// A small chart of every model, for when no series was chosen.

import { addressOf, currentState } from "../../address.js";
import { drawLines } from "../../charts/lines.js";
import { lineSwatch } from "../../charts/marks.js";
import { getModel } from "../../data/model.js";
import { el, svg } from "../../page/elements.js";
import { byColumn, foundChange, isNews, markClass } from "../../page/signs.js";
import { hasCourse } from "../../page/sparkline.js";
import { formatValue } from "../../text/format.js";
import { notice } from "../view.js";
import { eventsOf } from "./asking.js";
import { buildAxis } from "./axis.js";
import { relativeLines, seriesLines } from "./lines.js";

/** @import { Series } from "../../data/model.js" */
/** @import { Asked } from "./asking.js" */

/** So many are drawn at once; the others when they come into sight. */
const AT_ONCE = 9;
const [WIDTH, HEIGHT] = [300, 130];

/**
 * @param {SVGSVGElement} picture
 * @param {Series[]} series
 * @param {Asked} asked
 */
async function drawSmall(picture, series, asked) {
  let lines = await seriesLines(series);
  const axis = buildAxis(asked, lines);
  if (asked.y === "relative") lines = relativeLines(lines, axis.stops[0] ?? 0);
  drawLines(picture, lines, {
    width: WIDTH,
    height: HEIGHT,
    small: true,
    place: axis.place,
    domain: axis.domain,
    y: asked.y,
    unit: asked.metric.unit,
    ticks: axis.ends,
    events: eventsOf(asked),
  });
}

/** The newest change among these that is still news. @param {Series[]} series */
function newestChange(series) {
  return series
    .flatMap(({ change }) => (change && isNews(change) ? [change] : []))
    .sort((a, b) => b.c - a.c)[0];
}

/**
 * @param {Series[]} series
 * @param {SVGSVGElement} picture
 */
function drawItem(series, picture) {
  const what = series[0]?.case;
  const change = newestChange(series);
  const words = series.map(
    (member) => `${member.case.column} ${formatValue(member.last?.v, member.metric.unit)}`,
  );
  const address = addressOf("timeline", {
    ...currentState().params,
    s: series.map((member) => member.key),
    metric: null,
    q: null,
  });
  const details = what?.details ? el("span", { class: "muted" }, " " + what.details) : null;
  return el(
    "li",
    {},
    el(
      "a",
      { href: address },
      el(
        "span",
        { class: "title" },
        el("span", { title: what?.title ?? "" }, what?.model, details),
        change ? foundChange(change) : null,
      ),
      el("span", { class: "visually-hidden" }, `newest: ${words.join(", ")}`),
      picture,
    ),
  );
}

/**
 * Rows with a course to draw, and those without two values under the same conditions.
 * @param {Series[][]} rows
 */
function split(rows) {
  /** @param {Series[]} row */
  const isDrawn = (row) => row.some(({ spark, cuts }) => hasCourse(spark, cuts));
  return { courses: rows.filter(isDrawn), single: rows.filter((row) => !isDrawn(row)) };
}

/** A model without a course as a link. @param {Series[]} series @param {number} place */
function nameOnce([first], place) {
  if (!first) return [];
  const { case: what, machine, environment } = first;
  const href = addressOf("case", { s: first.key, m: machine.name, e: environment.id });
  return [place ? ", " : "", el("a", { href }, what.row)];
}

/** @param {Asked} asked */
function membersOf(asked) {
  const e = asked.environments[0] ?? 0;
  const members = getModel().series.filter(
    (member) =>
      member.m === asked.m && member.e === e && member.metric === asked.metric && member.last,
  );
  /** @type {Map<string, Series[]>} */
  const rows = new Map();
  for (const member of members.sort((a, b) => a.case.order - b.case.order))
    rows.set(member.case.rowId, [...(rows.get(member.case.rowId) ?? []), member]);
  return { members, rows };
}

/**
 * Shows the frames at once and draws the first of them; the answer to a click must not wait
 * for data.
 * @param {Asked} asked
 * @param {(...parts: Node[]) => void} show
 */
export async function drawGrid(asked, show) {
  const { members, rows } = membersOf(asked);
  const { courses, single } = split([...rows.values()]);
  if (!rows.size) {
    show(
      notice("Nothing has been measured here yet: choose another metric, machine or environment."),
    );
    return;
  }
  const cases = new Map(members.map((member) => [member.case.column, member.case]));
  /** @type {Map<Element, () => Promise<void>>} */
  const waiting = new Map();
  const items = courses.map((series) => {
    series.sort((a, b) => byColumn(a.case, b.case));
    const picture = svg("svg", {
      class: "chart",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      "aria-hidden": "true",
      focusable: "false",
    });
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

  const { metric } = asked;
  const direction = `${metric.label}, ${metric.higher_is_better ? "more" : "less"} is better`;
  const relative =
    asked.y === "relative"
      ? "; relative to the level at the start of the range, or after the newest change of the " +
        "recipe or the conditions before it"
      : "";
  const legend = [...cases.values()]
    .sort(byColumn)
    .map((what) => el("li", {}, lineSwatch(markClass(what.device, what.pass)), what.column));
  show(
    el("ul", { class: "legend", "aria-label": "Lines" }, legend),
    el("p", { class: "note" }, `${direction}${relative}.`),
    el("ul", { class: "multiples" }, items),
    ...(single.length
      ? [
          el(
            "p",
            { class: "note" },
            "Not measured twice under the same conditions: ",
            single.flatMap(nameOnce),
          ),
        ]
      : []),
  );
  await Promise.all(pictures.slice(0, AT_ONCE).map(draw));
}
