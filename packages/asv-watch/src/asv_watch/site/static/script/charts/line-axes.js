// The frame of a line chart: the y scale, ticks, grid, tags and events.

import { svg } from "../page/elements.js";
import { formatRatioTick, formatTicks } from "../text/format.js";
import { fix, labelRow } from "./marks.js";
import { linearScale, logScale } from "./scales.js";

/**
 * The scale of the y axis for values from low to high; ratios and values are both logarithmic.
 * @param {YAxis} kind
 * @param {number} low
 * @param {number} high
 * @param {Frame} frame
 * @param {string} unit
 */
export function yScale(kind, low, high, { top, bottom }, unit) {
  if (kind === "ratio") [low, high] = [Math.min(low, 0.95), Math.max(high, 1.05)];
  if (low > high) [low, high] = [1e-3, 1e-2];
  // There is no logarithm of zero and less.
  if (low <= 0) return linearScale(Math.min(0, low), high, bottom, top, unit);
  const pad = Math.exp(Math.max(Math.log(high / low) * 0.07, 0.005));
  return logScale(low / pad, high * pad, bottom, top, kind === "ratio" ? "" : unit);
}

/** Width of a letter beside the axis in pixels, roughly. */
const LETTER = 7.4;

/**
 * Grid lines and their values.
 * @param {AxisScale} y
 * @param {Frame} frame
 * @param {YAxis} kind
 * @param {Metric} metric
 * @param {boolean} small
 */
export function yTicks(y, frame, kind, metric, small) {
  const ratio = kind === "ratio";
  let count = Math.max(2, Math.round((frame.bottom - frame.top) / (small ? 30 : 52)));
  let ticks = y.ticks(count);
  while (ticks.length < 2 && count < 12) ticks = y.ticks(++count); // one number is no scale
  const texts = ratio ? ticks.map(formatRatioTick) : formatTicks(ticks, metric);
  return ticks.flatMap((tick, i) => {
    const pixel = Math.round(y(tick)) + 0.5;
    const text = texts[i] ?? "";
    const beside = text.length <= frame.left / LETTER; // else it stands above its line
    return [
      svg("line", {
        class: ratio && Math.abs(tick - 1) < 1e-9 ? "one" : "gridline",
        x1: frame.left,
        x2: frame.right,
        y1: pixel,
        y2: pixel,
      }),
      beside
        ? svg("text", { x: frame.left - 8, y: pixel + 4, "text-anchor": "end" }, text)
        : svg("text", { x: 4, y: pixel - 4 }, text),
    ];
  });
}

/**
 * A short line at the axis and a label below it.
 * @param {Labelled[]} ticks
 * @param {(stop: number) => number} x
 * @param {Frame} frame
 * @param {boolean} small
 */
export function xTicks(ticks, x, { left, right, bottom }, small) {
  const places = ticks.map(({ stop, text }) => ({ x: x(stop), text }));
  const reach = small ? { left, right } : { left: left - 30, right: right + 12 };
  const marks = places.map((tick) => `M${fix(tick.x)} ${bottom}v4`);
  const d = `M${left} ${bottom + 0.5}H${right}${marks.join("")}`;
  return [svg("path", { class: "axis", d }), ...labelRow(places, bottom + 18, reach)];
}

/**
 * A line for each tag, with its name above where there is room.
 * @param {Labelled[]} tags
 * @param {(stop: number) => number} x
 * @param {Frame} frame
 */
export function tagLines(tags, x, { top, bottom }) {
  const places = tags.map(({ stop, text }) => ({ x: x(stop), text }));
  const lines = places.map((tag) => `M${fix(tag.x)} ${top - 6}V${bottom}`);
  return [svg("path", { class: "tagline", d: lines.join("") }), ...labelRow(places, top - 12)];
}

/**
 * A strip of ticks below the axis: one for each stop with events.
 * @param {Labelled[]} events
 * @param {(stop: number) => number} x
 * @param {Frame} frame
 * @param {boolean} small
 */
export function eventTicks(events, x, { bottom }, small) {
  const top = bottom + (small ? 2 : 26);
  return [...Map.groupBy(events, ({ stop }) => stop)].map(([stop, texts]) =>
    svg("path", {
      class: "event",
      d: `M${fix(x(stop))} ${top}v${small ? 4 : 9}`,
      "data-tip": texts.map(({ text }) => text).join("\n"),
    }),
  );
}
