// What a chart over commits shows: lines of series with their runs, the axis, events; and what stands
// at each commit.

import { interrupts } from "../../charts/lines.js";
import { lookOf, SIGNS } from "../../charts/marks.js";
import { getModel, isComparable } from "../../data/model.js";
import { runsOf } from "../../data/files.js";
import { columnOf } from "../../page/tables.js";
import { capital, formatChange, formatDay, formatValue } from "../../text/format.js";

/** A longer span, in seconds, has months on its axis. */
const LONG = 200 * 86_400;
/** Hues of the style. */
const HUES = 8;

/**
 * A line for each series, relative to its newest level. Where commits were compared, it moves at
 * measured changes only, and runs are dots; else it goes through the runs. Lines have the look of
 * their columns, or each a hue of its own if two are of one column.
 * @param {Series[]} series
 * @param {number} most values of a series that there is room for; the newest
 * @returns {Promise<SeriesLine[]>}
 */
export async function seriesLines(series, most = Infinity) {
  const rows = [...new Set(series.map(({ case: what }) => what.row))];
  const columns = new Set(series.map(({ case: what }) => what.column));
  const parts = [
    (/** @type {Series} */ { case: { line } }) =>
      [line.name, line.details].filter(Boolean).join(" "),
    (/** @type {Series} */ { case: { field } }) => field.name,
    (/** @type {Series} */ { metric }) => metric.label,
    (/** @type {Series} */ { environment }) => environment.short,
  ];
  const telling = parts.filter((part) => new Set(series.map(part)).size > 1);
  return Promise.all(
    series.map(async (one, nth) => {
      const { values: all, others, pairs, stretches } = await runsOf(one);
      const values = new Map([...all].slice(-most));
      /** What makes a value relative to the newest level. @param {CommitIndex} stop */
      const scaleAt = (stop) =>
        (stretches.findLast(([first]) => first <= stop) ?? stretches[0])?.[2] ?? 0;
      return {
        id: one.index,
        series: one,
        look: columns.size < series.length ? `hue-${nth % HUES}` : lookOf(one.case),
        shape: rows.indexOf(one.case.row),
        label: (telling.length ? telling : parts.slice(0, 2))
          .map((part) => part(one))
          .filter(Boolean)
          .join(" · "),
        points: [...values]
          .map(([stop, value]) => ({ stop, value: value * scaleAt(stop) }))
          .filter(({ value }) => value > 0),
        steps: pairs.length ? stretches.map(([stop, value]) => ({ stop, value })) : undefined,
        others,
        compared: pairs.flatMap(([p, c]) => [p, c]),
        values,
        changes: (getModel().changesOf.get(one.index) ?? []).filter(
          (change) => change.state === "measured",
        ),
        segments: one.segments,
      };
    }),
  );
}

/**
 * @param {SeriesLine[]} lines
 * @param {number} most commits that there is room for; the newest
 * @returns {Axis}
 */
function buildAxis(lines, most) {
  const model = getModel();
  const runs = lines.flatMap(({ values, others, compared }) => [
    ...values.keys(),
    ...others.filter(interrupts).map(({ stop }) => stop),
    ...compared,
  ]);
  const whole = [...new Set(runs)].sort((a, b) => a - b);
  const rank = new Map(whole.map((stop, i) => [stop, i]));
  /** @param {CommitIndex} stop */
  const date = (stop) => model.commits[stop]?.date ?? 0;
  // A tag or an event may stand on a commit that was not measured: it goes between neighbours.
  /** @param {CommitIndex} stop */
  const position = (stop) => rank.get(stop) ?? whole.findLastIndex((other) => other < stop) + 0.5;
  const stops = whole.slice(-most);
  const [first = 0, last = first] = [stops[0], stops.at(-1)];
  const isLong = date(last) - date(first) > LONG;
  // A date is shown once: the other commits of that day show their hash.
  /** @param {CommitIndex[]} stopsToLabel */
  const labelled = (stopsToLabel) =>
    stopsToLabel.map((stop, i) => {
      const [before, day] = [stopsToLabel[i - 1] ?? stop, stop].map((other) =>
        formatDay(date(other)).slice(0, isLong ? 7 : 10),
      );
      const other = isLong ? "" : model.shortOf(stop);
      return { stop, text: i && day === before ? other : (day ?? "") };
    });
  const stride = Math.max(1, Math.ceil(stops.length / 7));
  return {
    stops,
    position,
    domain: [position(first), position(last)],
    ticks: labelled(stops.filter((_, i) => i % stride === 0)),
    ends: labelled(stops.filter((_, i) => i === 0 || i === stops.length - 1)),
  };
}

/**
 * What a chart of lines shows, with what changed around the code: recipe, machine, environment.
 * @param {Setup} setup
 * @param {SeriesLine[]} lines
 * @returns {Scene}
 */
export function sceneOf(setup, lines, most = Infinity) {
  const events = getModel()
    .index.events.filter(({ m, e }) => m === setup.m && (e === null || e === setup.e))
    .map(({ c, text }) => ({ stop: c, text }));
  return { setup, axis: buildAxis(lines, most), lines, events };
}

/**
 * What a line says at a commit: its value, and the ratio that is drawn.
 * @param {SeriesLine} line
 * @param {CommitIndex} stop
 */
function readingOf({ label, values, points, steps, others, changes, series: { metric } }, stop) {
  const drawn = steps ?? points.filter((point) => point.stop === stop);
  const level = drawn.findLast((point) => point.stop <= stop);
  const outcome = others.find((run) => run.stop === stop)?.outcome;
  const text = [
    values.has(stop) ? formatValue(values.get(stop), metric) : outcome,
    level && `${formatChange(level.value)}${steps ? " by comparisons" : ""}`,
  ].filter(Boolean);
  const changed = changes
    .filter(({ c }) => c === stop)
    .map(
      ({ verdict, text: size, interval_text: interval, p }) =>
        ` ${SIGNS[verdict]}${size} (${interval}) since ${getModel().shortOf(p)}`,
    );
  return text.length ? `${label}: ${text.join(", ")}${changed.join("")}` : "";
}

/** Lines of the box at the cursor at most. */
const MOST = 14;

/**
 * What stands at a commit, line by line.
 * @param {Scene} scene
 * @param {CommitIndex} stop
 */
export function readAt({ lines, events }, stop) {
  const texts = lines.map((line) => readingOf(line, stop)).filter(Boolean);
  const more = texts.length > MOST ? [`and ${texts.length - MOST} more`] : [];
  const around = events.filter((event) => event.stop === stop).map(({ text }) => `◆ ${text}`);
  return [getModel().commitLine(stop), ...texts.slice(0, MOST), ...more, ...around.slice(0, 3)];
}

/**
 * Which direction is better, what a line and a dot stand for, and whether other conditions began.
 * @param {Metric} metric
 * @param {SeriesLine[]} lines those that are drawn; without any, all kinds are explained
 * @param {CommitIndex[]} stops
 */
export function chartNote(metric, lines, stops) {
  const separate = lines.filter(({ steps }) => !steps);
  const [first, last] = [stops[0] ?? 0, stops.at(-1) ?? 0];
  const restarts = lines.some(({ series }) => !isComparable(series, first, last));
  const texts = [
    `${capital(metric.label)}: ${metric.better} is better. 0 % is the newest level.`,
    !lines.length || separate.length < lines.length
      ? "Lines move where a change was measured; dots are runs."
      : "",
    !lines.length || separate.length ? "Where nothing was compared, a line joins the runs." : "",
    restarts
      ? "Ticks below: the recipe or the conditions changed. The level is assumed to stay the same there."
      : "",
  ];
  return texts.filter(Boolean).join(" ");
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
      columnOf(label, (/** @type {CommitIndex} */ commit) => values.get(commit), {
        look: "number",
        draw: (commit) => formatValue(values.get(commit), metric),
      }),
      columnOf(`${label}, unit`, () => metric.unit, { hidden: true }),
    ]),
  ];
}
