// The lines of a chart: series with their runs, or values at one commit by release.

import { looksOf } from "../../charts/marks.js";
import { getModel } from "../../data/model.js";
import { commonCommit, runsOf } from "../../data/runs.js";

/** @import { CommitIndex } from "../../../types.js" */
/** @import { Line } from "../../charts/line-layers.js" */
/** @import { Case } from "../../data/cases.js" */
/** @import { Series } from "../../data/model.js" */
/** @import { Point } from "../../data/runs.js" */
/** @import { Asked } from "./asking.js" */

/**
 * @typedef {object} LineSource
 * @property {Case} case
 * @property {Series | null} series null for a line over releases
 * @property {string} unit
 * @property {number} base what values were divided by; 1 for absolute values
 * @property {CommitIndex} [relativeTo] commit whose level that is
 * @property {CommitIndex} commit of all points of a line over releases; -1 for other lines
 *
 * @typedef {Line & LineSource} SeriesLine
 */

/** @param {string} name @returns {(line: SeriesLine) => string} */
const labelOf = (name) => (line) => line.case.labels[name] ?? "";

/** What tells these lines apart, in as few words as will do. @param {SeriesLine[]} lines */
function nameLines(lines) {
  /** @type {((line: SeriesLine) => string)[]} */
  const parts = [
    (line) => line.case.row,
    ...getModel().index.layout.columns.map((name) => labelOf(name)),
    (line) => line.case.metric.label,
    (line) => (line.series ? getModel().environmentLabel(line.series.environment) : ""),
  ];
  const telling = parts.filter((part) => new Set(lines.map(part)).size > 1);
  for (const line of lines)
    line.label =
      telling
        .map((part) => part(line))
        .filter(Boolean)
        .join(" ") || line.case.row;
  return lines;
}

/**
 * A line for each series, over commits.
 * @param {Series[]} series
 */
export async function seriesLines(series) {
  const rows = [...new Set(series.map(({ case: what, e }) => `${what.rowId}${e}`))];
  const look = looksOf(series.map((member) => member.case));
  /** @param {Series} member @returns {Promise<SeriesLine>} */
  const lineOf = async (member) => ({
    id: member.at,
    series: member,
    case: member.case,
    look: look(member.case),
    unit: member.metric.unit,
    shape: rows.indexOf(`${member.case.rowId}${member.e}`),
    label: "",
    base: 1,
    commit: -1,
    ...(await runsOf(member)),
  });
  return nameLines(await Promise.all(series.map(lineOf)));
}

/**
 * A line for each case over releases: its values at the newest commit that most of them measured.
 * @param {Asked} asked
 */
export async function releaseLines(asked) {
  const model = getModel();
  const cases = asked.keys.flatMap((key) => model.cases.get(key) ?? []);
  const rows = [...new Set(cases.map((what) => what.rowId))];
  const look = looksOf(cases);
  /** @param {Case} what @returns {Promise<SeriesLine>} */
  const lineOf = async (what) => {
    const measured = await Promise.all(
      model.releases.map(async (release) => {
        const series = model.find(what.key, asked.m, release.at);
        return series ? (await runsOf(series)).points : [];
      }),
    );
    const commit = commonCommit(measured);
    const points = measured.flatMap((ofRelease, at) => {
      const point = ofRelease.find((other) => other.at === commit);
      return point ? [{ ...point, at }] : [];
    });
    return {
      id: what.key,
      series: null,
      case: what,
      look: look(what),
      unit: what.metric.unit,
      shape: rows.indexOf(what.rowId),
      label: "",
      points,
      commit,
      others: [],
      levels: [],
      base: 1,
    };
  };
  return nameLines(await Promise.all(cases.map(lineOf)));
}

/** At which commit a line over releases was measured. @param {SeriesLine} line */
export const commitNote = ({ commit }) => (commit < 0 ? "" : ` at ${getModel().shortOf(commit)}`);

/**
 * The last point at or before a commit, else the first.
 * @param {Point[]} points
 * @param {CommitIndex} at
 */
function lastAtOrBefore(points, at) {
  let last = points[0];
  for (const point of points) {
    if (point.at > at) break;
    last = point;
  }
  return last;
}

/**
 * The same lines as ratios to their level at one commit.
 * @param {SeriesLine[]} lines
 * @param {CommitIndex} at
 * @returns {SeriesLine[]}
 */
export function relativeLines(lines, at) {
  return lines.map((line) => {
    const level = line.levels.find(({ first, last }) => first <= at && at <= last)?.level;
    const base = level ?? lastAtOrBefore(line.points, at)?.value;
    if (!base) return { ...line, base: NaN };
    /** @param {[number, number] | null} pair @returns {[number, number] | null} */
    const divided = (pair) => pair && [pair[0] / base, pair[1] / base];
    return {
      ...line,
      base,
      relativeTo: at,
      points: line.points.map((point) => ({
        ...point,
        value: point.value / base,
        interval: divided(point.interval),
        quartiles: divided(point.quartiles),
      })),
      levels: line.levels.map((piece) => ({ ...piece, level: piece.level / base })),
    };
  });
}
