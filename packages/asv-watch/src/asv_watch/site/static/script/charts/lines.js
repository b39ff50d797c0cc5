// The chart of values over commits, dates or releases: lines with intervals, measured changes,
// tags, events and failures. It draws; the caller decides what.

import { el, muted, svg } from "../page/elements.js";
import { eventTicks, tagLines, xTicks, yScale, yTicks } from "./line-axes.js";
import { drawChanges, drawLine, drawnIntervals } from "./line-layers.js";

/** Width and height of small charts, in pixels. */
const SMALL = [320, 150];
/** Height of a row of labels. */
const LABEL_ROW = 14;

/**
 * @typedef {object} LineOptions
 * @property {[number, number]} [size] width and height in pixels; without it the chart is small
 * @property {(stop: number) => number} position from a commit or release to the x domain
 * @property {[number, number]} domain first and last position
 * @property {YAxis} y
 * @property {Metric} metric
 * @property {Labelled[]} ticks
 * @property {Labelled[]} [tags]
 * @property {Labelled[]} [events]
 */

/**
 * Draws into an <svg>.
 * @param {SVGSVGElement} root
 * @param {Line[]} lines
 * @param {LineOptions} options
 * @returns {Plot}
 */
export function drawLines(root, lines, options) {
  const { domain, size } = options;
  const [width = 0, height = 0] = size ?? SMALL;
  const small = !size;
  /** @type {Frame} */
  const frame = small
    ? { left: 52, right: width - 6, top: 8, bottom: height - 22 }
    : { left: 66, right: width - 14, top: 30, bottom: height - 46 };
  const inner = frame.right - frame.left;
  const span = domain[1] - domain[0];
  /** @param {number} position */
  const pixel = (position) =>
    span > 0 ? frame.left + ((position - domain[0]) / span) * inner : frame.left + inner / 2;
  /** @param {number} stop */
  const x = (stop) => pixel(options.position(stop));
  /** @param {{ stop: number }} point */
  const within = ({ stop }) => {
    const position = options.position(stop);
    return position >= domain[0] - 1e-9 && position <= domain[1] + 1e-9;
  };

  const seen = lines.map((line) => ({
    ...line,
    points: line.points.filter(within),
    others: line.others.filter(within),
    changes: line.changes.filter(({ c }) => within({ stop: c })),
  }));
  const head = frame.top;
  if (seen.some(({ changes }) => changes.length)) frame.top += LABEL_ROW;
  // A spike in a small chart does not set the range: one separate run in thirty may leave it. What
  // a comparison measured never does, nor does an interval that is drawn.
  const levels = seen.flatMap(({ steps = [] }) => steps.filter(within).map(({ value }) => value));
  const points = seen.flatMap((line) => line.points);
  const compared = points.flatMap((point) => (point.compared ? [point.value] : []));
  const ends = seen.flatMap((line) => drawnIntervals(line).flatMap((one) => one.ends));
  const runs = points.flatMap((point) => (point.compared ? [] : [point.value]));
  runs.sort((a, b) => a - b);
  const spikes = small || levels.length ? Math.floor(runs.length / 30) : 0;
  const inRange = runs.slice(spikes, runs.length - spikes);
  const low = Math.min(...inRange, ...compared, ...levels, ...ends);
  const high = Math.max(...inRange, ...compared, ...levels, ...ends);
  const y = yScale(options.y, low, high, frame, options.metric.unit);
  const plot = { frame, x, y, inner };

  const layers = [
    yTicks(y, frame, options.y, options.metric, small),
    xTicks(options.ticks, x, frame, small),
    tagLines((options.tags ?? []).filter(within), x, { ...frame, top: head }),
    eventTicks((options.events ?? []).filter(within), x, frame, small),
    drawChanges(seen, head, plot),
    seen.map((line) => drawLine(line, plot, small)),
  ];
  root.setAttribute("viewBox", `0 0 ${width} ${height}`);
  root.replaceChildren(...layers.flat());
  return plot;
}

/** The empty picture of a small chart. */
export const smallPicture = () =>
  svg("svg", { class: "chart small", role: "img", viewBox: `0 0 ${SMALL.join(" ")}` });

/**
 * A small chart, which links to what it shows.
 * @param {string | null} href
 * @param {string} name
 * @param {string} details in grey
 * @param {Child} picture
 */
export function smallMultiple(href, name, details, picture) {
  const title = el("span", { class: "title" }, name, muted(details));
  return el("li", {}, el("a", { href }, title, picture));
}

/** @param {HTMLElement[]} items */
export const multiples = (items) => el("ul", { class: "multiples" }, items);
