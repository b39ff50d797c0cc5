// The lines of a chart: series with their runs.

import { lookOf, SIGNS } from "../../charts/marks.js";
import { getModel, isComparable } from "../../data/model.js";
import { runsOf } from "../../data/runs.js";
import { columnOf } from "../../page/tables.js";
import { capital, formatChange, formatValue } from "../../text/format.js";

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
      const { points, others, pairs, stretches } = await runsOf(one);
      return {
        id: one.index,
        series: one,
        look: lookOf(one.case),
        shape: rows.indexOf(one.case.row),
        label: (telling.length ? telling : parts.slice(0, 2))
          .map((part) => part(one))
          .filter(Boolean)
          .join(" · "),
        points,
        others,
        compared: [...new Set(pairs.flatMap(({ p, c }) => [p, c]))],
        stretches,
        values: new Map(points.map((point) => [point.stop, point])),
        changes: (getModel().changesOf.get(one.index) ?? []).filter(
          (change) => change.state === "measured",
        ),
        segments: one.segments,
      };
    }),
  );
}

/**
 * What a line says at a commit: its value, and the ratio that is drawn.
 * @param {SeriesLine} line
 * @param {SeriesLine | undefined} drawn
 * @param {CommitIndex} stop
 * @param {Asked} asked
 */
function readingOf(line, drawn, stop, asked) {
  const point = line.values.get(stop);
  const drawnPoints = drawn?.steps ?? drawn?.points.filter((other) => other.stop === stop) ?? [];
  const shown = asked.y === "ratio" ? drawnPoints.findLast((other) => other.stop <= stop) : null;
  const how = shown ? `${formatChange(shown.value)}${drawn?.steps ? " by comparisons" : ""}` : "";
  const value = point ? formatValue(point.value, line.series.metric) : "";
  const outcome = point ? "" : (line.others.find((run) => run.stop === stop)?.outcome ?? "");
  const text = [value, how].filter(Boolean).join(", ") || outcome;
  const changes = line.changes
    .filter(({ c }) => c === stop)
    .map(
      ({ verdict, text: size, interval_text: interval, p }) =>
        ` ${SIGNS[verdict]}${size} (${interval}) since ${getModel().shortOf(p)}`,
    );
  return text && `${line.label}: ${text}${changes.join("")}`;
}

/** Lines of the box at the cursor at most. */
const MOST = 14;

/**
 * What stands at a commit, line by line.
 * @param {Scene} scene
 * @param {CommitIndex} stop
 */
export function readAt({ asked, lines, drawn, events }, stop) {
  const texts = lines.map((line, i) => readingOf(line, drawn[i], stop, asked)).filter(Boolean);
  const more = texts.length > MOST ? [`and ${texts.length - MOST} more`] : [];
  const around = events.filter((event) => event.stop === stop).map(({ text }) => `◆ ${text}`);
  return [getModel().commitLine(stop), ...texts.slice(0, MOST), ...more, ...around.slice(0, 3)];
}

/**
 * Which direction is better, and what a line and a dot stand for.
 * @param {Asked} asked
 * @param {SeriesLine[]} lines those that are drawn; by default, any
 */
export function directionText({ setup: { metric }, y }, lines) {
  const direction = `${capital(metric.label)}: ${metric.better} is better.`;
  if (y !== "ratio") return direction;
  const separate = lines.filter(({ compared }) => !compared.length);
  const texts = [
    !lines.length || separate.length < lines.length
      ? "Lines move where a change was measured; dots are runs."
      : "",
    !lines.length || separate.length ? "Where nothing was compared, a line joins the runs." : "",
  ];
  return [direction, "0 % is the newest level.", ...texts].filter(Boolean).join(" ");
}

/**
 * What a reader has to know of lines: what they rest on, and where other conditions began.
 * @param {Scene} scene
 */
export function courseNote({ drawn, axis: { stops } }) {
  const [first, last] = [stops[0] ?? 0, stops.at(-1) ?? 0];
  const restarts = drawn.some(({ series }) => !isComparable(series, first, last));
  return restarts
    ? "Ticks below: the recipe or the conditions changed. The level is assumed to stay the same there."
    : "";
}

/**
 * Columns of a table with a row for each commit; the units are saved only.
 * @param {SeriesLine[]} lines
 * @returns {Column<CommitIndex>[]}
 */
export function valueColumns(lines) {
  const { commitLine, commits } = getModel();
  return [
    columnOf("Commit", (commit) => commits[commit]?.hash, { draw: commitLine }),
    ...lines.flatMap(({ label, values, series: { metric } }) => [
      columnOf(label, (/** @type {CommitIndex} */ commit) => values.get(commit)?.value, {
        number: true,
        draw: (commit) => formatValue(values.get(commit)?.value, metric),
      }),
      columnOf(`${label}, unit`, () => metric.unit, { hidden: true }),
    ]),
  ];
}
