// The lines of a chart: series with their runs, as values or as ratios.

import { lookOf } from "../../charts/marks.js";
import { getModel, isComparable } from "../../data/model.js";
import { runsOf } from "../../data/runs.js";
import { formatChange, formatValue } from "../../text/format.js";

/** @import { CommitIndex } from "../../../types.js" */
/** @import { Line } from "../../charts/line-layers.js" */
/** @import { Series } from "../../data/model.js" */
/** @import { Point } from "../../data/runs.js" */
/** @import { Asked } from "./asking.js" */

/** @typedef {Line & { series: Series, values: Map<CommitIndex, Point> }} SeriesLine */

/** First values of a segment of which the median is what ratios refer to. */
const BASE_VALUES = 5;

/**
 * A line for each series, over commits.
 * @param {Series[]} series
 * @returns {Promise<SeriesLine[]>}
 */
export async function seriesLines(series) {
  const rows = [...new Set(series.map(({ case: what }) => what.row))];
  const parts = [
    (/** @type {Series} */ { case: { line } }) =>
      [line.name, line.details].filter(Boolean).join(" "),
    (/** @type {Series} */ { case: { field } }) => field.name,
    (/** @type {Series} */ { metric }) => metric.label,
    (/** @type {Series} */ { environment }) => environment.short,
  ];
  const telling = parts.filter((part) => new Set(series.map(part)).size > 1);
  return Promise.all(
    series.map(async (one) => {
      const { points, others } = await runsOf(one);
      return {
        id: one.at,
        series: one,
        look: lookOf(one.case),
        shape: rows.indexOf(one.case.row),
        label: (telling.length ? telling : parts.slice(0, 1)).map((part) => part(one)).join(" · "),
        points,
        others,
        values: new Map(points.map((point) => [point.at, point])),
        changes: (getModel().changesOf.get(one.at) ?? []).filter(
          (change) => change.state === "measured",
        ),
        segments: one.segments,
      };
    }),
  );
}

/** @param {Point[]} points */
function medianOf(points) {
  const values = points.map(({ value }) => value).sort((a, b) => a - b);
  return values[values.length >> 1] ?? NaN;
}

/**
 * The same lines as ratios: to the first values in view, or to the value at a chosen commit. Nothing
 * is compared across a change of the recipe or the conditions: every segment has its own base.
 * @param {SeriesLine[]} lines
 * @param {CommitIndex} from first commit in view
 * @param {CommitIndex} base commit that was chosen, or -1
 * @returns {SeriesLine[]}
 */
export function asRatios(lines, from, base) {
  return lines.map((line) => {
    const starts = [-Infinity, ...line.segments];
    const bases = starts.map((start, i) => {
      const end = starts[i + 1] ?? Infinity;
      if (base >= start && base < end && line.values.has(base))
        return line.values.get(base)?.value;
      const inside = line.points.filter(({ at }) => at >= start && at < end);
      const inView = inside.filter(({ at }) => at >= from);
      return medianOf((inView.length ? inView : inside).slice(0, BASE_VALUES));
    });
    return {
      ...line,
      points: line.points.flatMap((point) => {
        const by = bases[starts.findLastIndex((start) => start <= point.at)];
        if (!by) return [];
        const { value, interval } = point;
        return {
          ...point,
          value: value / by,
          interval: interval && [interval[0] / by, interval[1] / by],
        };
      }),
    };
  });
}

/**
 * What a line says at a commit: its value, and the ratio that is drawn.
 * @param {SeriesLine} line
 * @param {SeriesLine | undefined} drawn
 * @param {CommitIndex} at
 * @param {Asked} asked
 */
export function readingOf(line, drawn, at, asked) {
  const point = line.values.get(at);
  if (!point) {
    const outcome = line.others.find((run) => run.at === at)?.outcome;
    return outcome ? `${line.label}: ${outcome}` : "";
  }
  const value = formatValue(point.value, line.series.metric);
  const ratio = asked.y === "ratio" ? drawn?.points.find((other) => other.at === at)?.value : null;
  return `${line.label}: ${value}${ratio ? ` (${formatChange(ratio)})` : ""}`;
}

/**
 * Why lines are interrupted between these places; empty where none is.
 * @param {SeriesLine[]} lines
 * @param {CommitIndex[]} stops
 */
export function restartNote(lines, stops) {
  const [first, last] = [stops[0] ?? 0, stops.at(-1) ?? 0];
  return lines.some(({ series }) => !isComparable(series, first, last))
    ? "A line starts anew where the recipe or the conditions changed (◆)."
    : "";
}
