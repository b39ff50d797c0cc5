// The chart of ratios over commits or releases: lines with intervals, measured changes, tags, events
// and failures. It draws; the caller decides what.

import { el, muted, svg } from "../page/elements.js";
import { eventTicks, tagLines, xTicks, yTicks } from "./axes.js";
import { fix, labelRow, markPath, SIGNS } from "./marks.js";
import { logScale } from "./scales.js";

/** Width and height of small charts, in pixels. */
const SMALL = [320, 150];
/** Height of a row of labels. */
const LABEL_ROW = 14;

/** A skipped run interrupts nothing. @param {{ outcome: Outcome }} run */
export const interrupts = (run) => run.outcome !== "skipped";

/**
 * The line through runs, interrupted where one failed or other conditions began; a value alone is a
 * short dash.
 * @param {Line} line
 * @param {Plot} plot
 */
function runsPath({ points, segments, others }, { x, clip }) {
  const breaks = [...segments, ...others.filter(interrupts).map((run) => run.stop)];
  /** Whether the line begins anew at a point, or ends before it. @param {number} i */
  const begins = (i) => {
    const [before, here] = [points[i - 1], points[i]];
    return !before || !here || breaks.some((stop) => stop > before.stop && stop <= here.stop);
  };
  return points
    .map(({ stop, value }, i) => {
      const [left, top] = [x(stop), clip(value)];
      if (!begins(i)) return `L${fix(left)} ${top}`;
      return begins(i + 1) ? `M${fix(left - 3)} ${top}h6` : `M${fix(left)} ${top}`;
    })
    .join("");
}

/** The line of a series that was compared: a level moves only where a change was measured. @param {Line} line @param {Plot} plot */
function stepPath({ steps = [], points }, { x, clip, frame }) {
  const end = points.at(-1)?.stop;
  const [left, right] = [frame.left, end === undefined ? frame.right : x(end)];
  const before = steps.findLast(({ stop }) => x(stop) <= left) ?? steps[0];
  const inside = steps.filter(({ stop }) => x(stop) > left && x(stop) <= right);
  const start = points[0] ? Math.max(left, x(points[0].stop)) : left;
  const parts = inside.map(({ stop, value }) => `H${fix(x(stop))}V${clip(value)}`);
  return before ? `M${fix(start)} ${clip(before.value)}${parts.join("")}H${fix(right)}` : "";
}

/**
 * Measured steps with runs as faint dots; or, where nothing was compared, a line through the runs
 * with a mark at every point while they stay apart, else at some. Failures have a mark.
 * @param {Line} line
 * @param {Plot} plot
 * @param {boolean} small
 */
function drawLine(line, plot, small) {
  const { x, y, inner, frame } = plot;
  const { points, steps } = line;
  const group = svg("g", { class: `${line.look} series`, "data-line": line.id });
  /** @param {string} look @param {string[]} parts */
  const add = (look, ...parts) => group.append(svg("path", { class: look, d: parts.join("") }));
  for (const run of line.others.filter(interrupts)) {
    const d = `M${fix(x(run.stop) - 3.5)} ${fix(frame.bottom - 9)}l7 7m0 -7l-7 7`;
    group.append(svg("path", { class: "fault", d, "data-tip": `${run.outcome}: ${run.reason}` }));
  }
  if (steps) {
    const seen = points.filter(({ value }) => y(value) >= frame.top && y(value) <= frame.bottom);
    add("runs", ...seen.map(({ stop, value }) => `M${fix(x(stop))} ${fix(y(value))}h0`));
    add("line", stepPath(line, plot));
    return group;
  }
  add("line", runsPath(line, plot));
  const whiskers = points.map(({ stop, interval }) =>
    interval ? `M${fix(x(stop))} ${fix(y(interval[0]))}V${fix(y(interval[1]))}` : "",
  );
  add("whisker", ...whiskers);
  if (small) return group;
  const crowded = points.length * 9 > inner;
  const stride = crowded ? Math.ceil((points.length * 90) / inner) : 1;
  const marked = points.filter((_, i) => i % stride === stride >> 1);
  add("dot", ...marked.map(({ stop, value }) => markPath(line.shape, x(stop), y(value))));
  return group;
}

/**
 * Each measured change: its size above the lines, and a thin line down to the step.
 * @param {Line[]} lines
 * @param {number} top of the labels
 * @param {Plot} plot
 */
function drawChanges(lines, top, { x, y, frame }) {
  const changes = lines.flatMap((line) => line.changes.map((change) => ({ line, change })));
  changes.sort((a, b) => a.change.c - b.change.c);
  const labels = changes.map(({ change: { c, text, verdict } }) => ({
    x: x(c),
    text: `${SIGNS[verdict]}${text}`,
    look: `moved ${verdict}`,
  }));
  const paths = changes.flatMap(({ line: { steps, points }, change: { c, verdict } }) => {
    const step = steps?.findLast(({ stop }) => stop <= c) ?? points.find(({ stop }) => stop >= c);
    if (!step) return [];
    const d = `M${fix(x(steps ? step.stop : c))} ${fix(frame.top)}V${fix(y(step.value))}`;
    return [svg("path", { class: `moved ${verdict}`, d })];
  });
  return [...paths, ...labelRow(labels, top + 10, frame)];
}

/**
 * What a chart has to show. A spike in a small one does not set the range: one separate run in thirty
 * may leave it. What a comparison measured never does.
 * @param {Line[]} lines
 * @param {(point: { stop: number }) => boolean} within
 * @param {boolean} small
 */
function rangeOf(lines, within, small) {
  const levels = lines.flatMap(({ steps = [] }) => steps.filter(within).map(({ value }) => value));
  const points = lines.flatMap((line) => line.points);
  const ends = points.flatMap(({ interval }) => interval ?? []);
  const runs = points.flatMap(({ value, interval }) => (interval ? [] : [value]));
  runs.sort((a, b) => a - b);
  const spikes = small || levels.length ? Math.floor(runs.length / 30) : 0;
  const inRange = runs.slice(spikes, runs.length - spikes);
  const all = [...inRange, ...levels, ...ends];
  return { low: Math.min(0.95, ...all), high: Math.max(1.05, ...all) };
}

/**
 * @typedef {object} LineOptions
 * @property {[number, number]} [size] width and height in pixels; without it the chart is small
 * @property {(stop: number) => number} position from a commit or release to the x domain
 * @property {[number, number]} domain first and last position
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
export function drawLines(root, lines, { domain, size, position, ticks, tags = [], events = [] }) {
  const [width = 0, height = 0] = size ?? SMALL;
  const small = !size;
  /** @type {Frame} */
  const frame = small
    ? { left: 52, right: width - 6, top: 8, bottom: height - 22 }
    : { left: 66, right: width - 14, top: 30, bottom: height - 46 };
  const [first, last] = domain;
  const inner = frame.right - frame.left;
  /** @param {number} stop */
  const x = (stop) =>
    frame.left + (last > first ? (position(stop) - first) / (last - first) : 0.5) * inner;
  /** @param {{ stop: number }} point */
  const within = ({ stop }) => position(stop) >= first - 1e-9 && position(stop) <= last + 1e-9;
  const seen = lines.map((line) => ({
    ...line,
    points: line.points.filter(within),
    others: line.others.filter(within),
    changes: line.changes.filter(({ c }) => within({ stop: c })),
  }));
  const head = frame.top;
  if (seen.some(({ changes }) => changes.length)) frame.top += LABEL_ROW;
  const { low, high } = rangeOf(seen, within, small);
  const room = (high / low) ** 0.07;
  const y = logScale(low / room, high * room, frame.bottom, frame.top);
  /** @param {number} value */
  const clip = (value) => fix(Math.max(frame.top, Math.min(frame.bottom, y(value))));
  const plot = { frame, x, y, clip, inner };
  const layers = [
    yTicks(plot, small),
    xTicks(ticks, plot, small),
    tagLines(tags.filter(within), head, plot),
    eventTicks(events.filter(within), plot, small),
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
