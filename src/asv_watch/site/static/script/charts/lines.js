// The chart of values over commits, dates or releases: lines with intervals, measured changes,
// tags, events and failures. It draws; the caller decides what.

import { svg } from "../page/elements.js";
import { eventLines, tagLines, xTicks, yScale, yTicks } from "./line-axes.js";
import { drawChanges, drawLine } from "./line-layers.js";
import { fix, shortened } from "./marks.js";
import { spreadLabels } from "./thinning.js";

/** @import { Frame, Labelled, YAxis } from "./line-axes.js" */
/** @import { Metric } from "../../types.js" */
/** @import { Line, Plot } from "./line-layers.js" */

/** Width of a letter of a label in pixels, roughly. */
const LETTER = 7.9;

/**
 * @typedef {object} LineOptions
 * @property {number} width in pixels
 * @property {number} height in pixels
 * @property {(at: number) => number} place from a commit or release to the x domain
 * @property {[number, number]} domain first and last place
 * @property {YAxis} y
 * @property {Metric} metric
 * @property {Labelled[]} ticks
 * @property {Labelled[]} [tags]
 * @property {Labelled[]} [events]
 * @property {boolean} [labels] write each line's label at its end
 * @property {boolean} [small]
 */

/**
 * @param {Line[]} lines
 * @param {LineOptions} options
 * @returns {Frame}
 */
function frameOf(lines, { width, height, labels = false, small = false }) {
  const longest = Math.max(0, ...lines.map((line) => line.label.length));
  const right = labels ? Math.min(width * 0.3, longest * LETTER + 22) : small ? 6 : 14;
  return {
    left: small ? 52 : 66,
    right: width - right,
    top: small ? 8 : 30,
    bottom: height - (small ? 18 : 46),
  };
}

/**
 * The labels at the ends of the lines, moved apart.
 * @param {Line[]} lines
 * @param {Plot} plot
 * @param {number} width of the picture
 */
function endLabels(lines, { y, frame }, width) {
  const most = Math.floor((width - frame.right - 14) / LETTER);
  const ends = lines.flatMap((line) => {
    const last = line.points.at(-1);
    return last ? [{ line, at: y(last.value) }] : [];
  });
  const places = spreadLabels(
    ends.map((end) => end.at),
    15,
    frame.top + 4,
    frame.bottom - 2,
  );
  return ends.map(({ line }, i) =>
    svg(
      "text",
      { class: `${line.look} series end`, x: frame.right + 10, y: fix((places[i] ?? 0) + 4) },
      shortened(line.label, most),
    ),
  );
}

/**
 * Draws into an <svg>.
 * @param {SVGSVGElement} root
 * @param {Line[]} lines
 * @param {LineOptions} options
 * @returns {Plot}
 */
export function drawLines(root, lines, options) {
  const { width, height, domain, small = false } = options;
  const labels = Boolean(options.labels) && width > 620;
  const frame = frameOf(lines, { ...options, labels });
  const inner = frame.right - frame.left;
  const span = domain[1] - domain[0];
  /** @param {number} place */
  const pixel = (place) =>
    span > 0 ? frame.left + ((place - domain[0]) / span) * inner : frame.left + inner / 2;
  /** @param {number} at */
  const x = (at) => pixel(options.place(at));
  /** @param {{ at: number }} point */
  const within = ({ at }) => {
    const place = options.place(at);
    return place >= domain[0] - 1e-9 && place <= domain[1] + 1e-9;
  };

  const seen = lines.map((line) => ({
    ...line,
    points: line.points.filter(within),
    others: line.others.filter(within),
    changes: line.changes.filter(({ c }) => within({ at: c })),
  }));
  // Intervals do not set the range: a wild interval of one point must not flatten every line.
  // So must a spike in a small chart: one value in thirty may leave it.
  const values = seen.flatMap(({ points }) => points.map(({ value }) => value));
  values.sort((a, b) => a - b);
  const spikes = small ? Math.floor(values.length / 30) : 0;
  const [low = Infinity, high = -Infinity] = [values[spikes], values.at(-1 - spikes)];
  const y = yScale(options.y, low, high, frame, options.metric.unit);
  const plot = { frame, x, y, inner };

  const layers = [
    yTicks(y, frame, options.y, options.metric, small),
    xTicks(options.ticks, x, frame, small),
    tagLines((options.tags ?? []).filter(within), x, frame),
    eventLines((options.events ?? []).filter(within), x, frame, small),
    seen.map((line) => drawLine(line, plot, small)),
    drawChanges(seen, plot),
  ];
  if (labels) layers.push(endLabels(seen, plot, width));
  root.setAttribute("viewBox", `0 0 ${width} ${height}`);
  root.replaceChildren(...layers.flat());
  return plot;
}
