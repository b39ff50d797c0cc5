// The frame of a line chart: ticks, grid, tags and events.

import { svg } from "../page/elements.js";
import { formatRatioTick } from "../text/format.js";
import { fix, labelRow } from "./marks.js";

/**
 * Grid lines and their values.
 * @param {Plot} plot
 * @param {boolean} small
 */
export function yTicks({ y, frame: { left, right, top, bottom } }, small) {
  let count = Math.round((bottom - top) / (small ? 30 : 52));
  let ticks = y.ticks(count);
  while (ticks.length < 2 && count < 12) ticks = y.ticks(++count); // one number is no scale
  return ticks.flatMap((tick) => {
    const pixel = Math.round(y(tick)) + 0.5;
    const look = Math.abs(tick - 1) < 1e-9 ? "one" : "gridline";
    const text = { x: left - 8, y: pixel + 4, "text-anchor": "end" };
    return [
      svg("line", { class: look, x1: left, x2: right, y1: pixel, y2: pixel }),
      svg("text", text, formatRatioTick(tick)),
    ];
  });
}

/**
 * A short line at the axis and a label below it.
 * @param {Labelled[]} ticks
 * @param {Plot} plot
 * @param {boolean} small
 */
export function xTicks(ticks, { x, frame: { left, right, bottom } }, small) {
  const places = ticks.map(({ stop, text }) => ({ x: x(stop), text }));
  const reach = small ? { left, right } : { left: left - 30, right: right + 12 };
  const marks = places.map((tick) => `M${fix(tick.x)} ${bottom}v4`);
  const d = `M${left} ${bottom + 0.5}H${right}${marks.join("")}`;
  return [svg("path", { class: "axis", d }), ...labelRow(places, bottom + 18, reach)];
}

/**
 * A line for each tag, with its name above where there is room.
 * @param {Labelled[]} tags
 * @param {number} top
 * @param {Plot} plot
 */
export function tagLines(tags, top, { x, frame: { bottom } }) {
  const places = tags.map(({ stop, text }) => ({ x: x(stop), text }));
  const lines = places.map((tag) => `M${fix(tag.x)} ${top - 6}V${bottom}`);
  return [svg("path", { class: "tagline", d: lines.join("") }), ...labelRow(places, top - 12)];
}

/**
 * A strip of ticks below the axis: one for each stop with events.
 * @param {Labelled[]} events
 * @param {Plot} plot
 * @param {boolean} small
 */
export function eventTicks(events, { x, frame: { bottom } }, small) {
  const top = bottom + (small ? 2 : 26);
  return [...Map.groupBy(events, ({ stop }) => stop)].map(([stop, texts]) =>
    svg("path", {
      class: "event",
      d: `M${fix(x(stop))} ${top}v${small ? 4 : 9}`,
      "data-tip": texts.map(({ text }) => text).join("\n"),
    }),
  );
}
