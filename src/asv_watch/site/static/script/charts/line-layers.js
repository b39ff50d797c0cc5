// What a line chart draws of each series: bands, levels, the line and its marks.

import { svg } from "../page/elements.js";
import { fix, markPath } from "./marks.js";
import { thinPoints } from "./thinning.js";

/** @import { Outcome } from "../../types.js" */
/** @import { Change } from "../../types.js" */
/** @import { OtherRun, Point } from "../data/runs.js" */
/** @import { Frame } from "./line-axes.js" */
/** @import { Scale } from "./scales.js" */

/**
 * @typedef {object} Line a series with values ready for the y axis
 * @property {string | number} id
 * @property {string} look class that gives hue and dash
 * @property {number} shape
 * @property {string} label
 * @property {Point[]} points
 * @property {OtherRun[]} others
 * @property {Change[]} changes measured changes, which are written beside the line
 * @property {number[]} segments first place of each segment, oldest first: nothing is drawn across
 *
 * @typedef {{ frame: Frame, x: (at: number) => number, y: Scale, inner: number }} Plot
 */

/**
 * The points of each segment.
 * @param {Line} line
 */
const bySegment = ({ points, segments }) =>
  [-Infinity, ...segments].map((start, i) =>
    points.filter(({ at }) => at >= start && at < (segments[i] ?? Infinity)),
  );

/**
 * Points of a band: of every pixel column the widest reach.
 * @param {Point[]} points
 * @param {Plot} plot
 */
function bandPoints(points, { x, inner }) {
  const known = points.flatMap((point) => {
    const pair = point.interval;
    return pair ? [{ x: x(point.at), low: pair[0], high: pair[1] }] : [];
  });
  if (known.length <= inner) return known;
  /** @type {Map<number, { x: number, low: number, high: number }>} */
  const columns = new Map();
  for (const { x: pixel, low, high } of known) {
    const column = Math.round(pixel);
    const before = columns.get(column) ?? { x: column, low, high };
    before.low = Math.min(before.low, low);
    before.high = Math.max(before.high, high);
    columns.set(column, before);
  }
  return [...columns.values()];
}

/**
 * A band around the line of each segment, as wide as the intervals of its values.
 * @param {Line} line
 * @param {Plot} plot
 */
export function drawBand(line, plot) {
  const { frame, y } = plot;
  /** @param {number} value */
  const clip = (value) =>
    fix(Math.max(frame.top, Math.min(frame.bottom, y(Math.max(value, y.domain[0])))));
  const d = bySegment(line).flatMap((ofSegment) => {
    const points = bandPoints(ofSegment, plot);
    if (points.length < 2) return [];
    const upper = points.map((point) => `${fix(point.x)} ${clip(point.high)}`);
    const lower = points.map((point) => `${fix(point.x)} ${clip(point.low)}`).reverse();
    return [`M${[...upper, ...lower].join("L")}Z`];
  });
  return d.length ? [svg("path", { class: `${line.look} series interval`, d: d.join("") })] : [];
}

/** A skipped run interrupts nothing. @param {{ outcome: Outcome }} run */
const interrupts = (run) => run.outcome !== "skipped";

/**
 * The line itself, interrupted where a run failed and where a segment starts; a value alone is a
 * short dash.
 * @param {Line} line
 * @param {Plot} plot
 */
function linePath(line, { x, y, inner }) {
  const breaks = [...line.segments, ...line.others.filter(interrupts).map((run) => run.at)];
  const kept = thinPoints(
    line.points,
    (point) => x(point.at),
    (point) => point.value,
    inner,
  );
  const starts = kept.map(({ at }, i) => {
    const from = kept[i - 1]?.at ?? -Infinity;
    return from === -Infinity || breaks.some((place) => place > from && place <= at);
  });
  return kept
    .map(({ at, value }, i) => {
      const [left, top] = [x(at), fix(y(value))];
      if (!starts[i]) return `L${fix(left)} ${top}`;
      if (!(starts[i + 1] ?? true)) return `M${fix(left)} ${top}`;
      return `M${fix(left - 3)} ${top}h6`;
    })
    .join("");
}

/**
 * The line with a mark at every point while they stay apart, else at some, for their shape.
 * @param {Line} line
 * @param {Plot} plot
 */
export function drawLine(line, plot) {
  const { x, y, inner, frame } = plot;
  const { points } = line;
  const group = svg("g", { class: `${line.look} series`, "data-line": line.id });
  group.append(svg("path", { class: "line", d: linePath(line, plot) }));
  for (const run of line.others.filter(interrupts)) {
    const d = `M${fix(x(run.at) - 3.5)} ${fix(frame.bottom - 9)}l7 7m0 -7l-7 7`;
    group.append(svg("path", { class: "fault", d, "data-tip": `${run.outcome}: ${run.reason}` }));
  }
  const crowded = points.length * 9 > inner;
  const stride = crowded ? Math.ceil((points.length * 90) / inner) : 1;
  const first = Math.floor((stride - 1) / 2);
  const marked = points.filter((_, i) => i >= first && (i - first) % stride === 0);
  const d = marked.map(({ at, value }) => markPath(line.shape, x(at), y(value))).join("");
  if (d) group.append(svg("path", { class: "dot", d }));
  return group;
}

/**
 * The interval of each point as a vertical line.
 * @param {Line} line
 * @param {Plot} plot
 */
export function drawWhiskers(line, { x, y, frame }) {
  /** @param {number} value */
  const clip = (value) => fix(Math.max(frame.top, Math.min(frame.bottom, y(value))));
  const d = line.points.flatMap(({ at, interval }) =>
    interval ? [`M${fix(x(at))} ${clip(interval[0])}V${clip(interval[1])}`] : [],
  );
  if (!d.length) return [];
  return [svg("path", { class: `${line.look} series whisker`, d: d.join("") })];
}

/**
 * The line of a small chart, without marks.
 * @param {Line} line
 * @param {Plot} plot
 */
export const drawSmallLine = (line, plot) =>
  svg(
    "g",
    { class: `${line.look} series`, "data-line": line.id },
    svg("path", { class: "line", d: linePath(line, plot) }),
  );

/**
 * Each measured change at the first value after it, with its size.
 * @param {Line} line
 * @param {Plot} plot
 */
export function drawChanges(line, { x, y, frame }) {
  return line.changes.flatMap((change) => {
    const point = line.points.find(({ at }) => at >= change.c);
    if (!point) return [];
    const [left, top] = [x(point.at), y(point.value)];
    const above = top > frame.top + 26;
    const half = change.text.length * 3.6;
    const middle = Math.max(frame.left + half, Math.min(left, frame.right - half));
    const [from, to] = above ? [top - 6, top - 13] : [top + 6, top + 13];
    return [
      svg("path", {
        class: `moved ${change.verdict}`,
        d: `M${fix(left)} ${fix(from)}V${fix(to)}`,
      }),
      svg(
        "text",
        {
          class: `moved ${change.verdict}`,
          x: fix(middle),
          y: fix(above ? top - 16 : top + 24),
          "text-anchor": "middle",
        },
        `${change.verdict === "better" ? "✓" : "✗"} ${change.text}`,
      ),
    ];
  });
}
