// Bars in the rows of a table: a ratio from 0 % on, with its interval.

import { svg } from "../page/elements.js";
import { formatRatioTick } from "../text/format.js";
import { fix, labelRow } from "./marks.js";
import { logScale } from "./scales.js";

/**
 * @typedef {{ width: number, x: (ratio: number) => number }} BarScale in pixels
 */

const [HEIGHT, MARGIN] = [14, 3];
/** Widths of bars in pixels: in lists of changes, and under an axis. */
const NARROW = 120;
const BROAD = 280;

/**
 * A logarithmic scale that all bars of a table share, wide enough for all of their intervals.
 * @param {Bar[]} bars
 * @param {boolean} isBroad
 */
export function sharedScale(bars, isBroad) {
  const width = isBroad ? BROAD : NARROW;
  const ends = bars.flatMap(({ ratio, interval }) => [ratio, ...(interval ?? [])]);
  const [low, high] = [Math.min(0.98, ...ends), Math.max(1.02, ...ends)];
  return { width, x: logScale(low, high, MARGIN, width - MARGIN) };
}

/** @param {number} width @param {string} look @param {Element[]} shapes */
const picture = (width, look, ...shapes) =>
  svg(
    "svg",
    {
      class: `bar-cell ${width > NARROW ? "broad" : ""} ${look}`,
      viewBox: `0 0 ${width} ${HEIGHT}`,
      "aria-hidden": "true",
    },
    shapes,
  );

/** A bar without an interval is hollow: nothing compared it. @param {Bar} bar @param {BarScale} scale */
export function drawBar({ ratio, interval, verdict, pale = false }, { width, x }) {
  const middle = HEIGHT / 2;
  const [zero, end] = [x(1), x(ratio)];
  const [low = end, high = end] = interval?.map(x) ?? [];
  const d = `M${fix(low)} ${middle}H${fix(high)}m0 -4v8M${fix(low)} ${middle - 4}v8`;
  return picture(
    width,
    `mark ${interval ? verdict : "hollow"}${pale ? " pale" : ""}`,
    svg("line", { class: "one", x1: zero, x2: zero, y1: 0, y2: HEIGHT }),
    svg("rect", {
      class: "bar",
      x: fix(Math.min(zero, end)),
      y: middle - 5,
      width: fix(Math.max(1, Math.abs(end - zero))),
      height: 10,
    }),
    ...(high - low > 3 ? [svg("path", { class: "whisker", d })] : []),
  );
}

/** The values of a shared scale, as the head of its column. @param {ReturnType<typeof sharedScale>} scale */
export function barAxis({ width, x }) {
  const ticks = x.ticks(5).map((tick) => ({ x: x(tick), text: formatRatioTick(tick) }));
  return picture(width, "axis", ...labelRow(ticks, HEIGHT - 3, { left: 0, right: width }));
}
