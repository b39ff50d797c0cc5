// The lines of a chart: series with their runs, or values at one commit by release.

import { looksOf } from "../../charts/marks.js";
import { getModel } from "../../data/model.js";
import { commonCommit, runsOf } from "../../data/runs.js";

/** @import { CommitIndex } from "../../../types.js" */
/** @import { Line } from "../../charts/line-layers.js" */
/** @import { Case } from "../../data/cases.js" */
/** @import { Series } from "../../data/model.js" */
/** @import { Asked } from "./asking.js" */

/**
 * @typedef {object} LineSource
 * @property {Case} case
 * @property {Series | null} series null for a line over releases
 * @property {string} unit
 * @property {CommitIndex} commit of all points of a line over releases; -1 for other lines
 *
 * @typedef {Line & LineSource} SeriesLine
 */

/** @param {string} name @returns {(line: SeriesLine) => string} */
const labelOf = (name) => (line) => line.case.labels[name] ?? "";

/** The shortest label that distinguishes these lines. @param {SeriesLine[]} lines */
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
    commit: -1,
    segments: member.segments,
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
      segments: [],
    };
  };
  return nameLines(await Promise.all(cases.map(lineOf)));
}

/** At which commit a line over releases was measured. @param {SeriesLine} line */
export const commitNote = ({ commit }) => (commit < 0 ? "" : ` at ${getModel().shortOf(commit)}`);

/**
 * What values between two places are divided by: the level at a commit if it is there, else the
 * first level; NaN without any value.
 * @param {SeriesLine} line
 * @param {CommitIndex} at
 * @param {CommitIndex} start first place
 * @param {CommitIndex} end place after the last
 */
function baseWithin({ points, levels }, at, start, end) {
  const members = points.filter((point) => point.at >= start && point.at < end);
  const place = start <= at && at < end ? at : (members[0]?.at ?? NaN);
  const level = levels.find(({ first, last }) => first <= place && place <= last)?.level;
  const value = (members.findLast((point) => point.at <= place) ?? members[0])?.value;
  return level || value || NaN;
}

/**
 * The same lines as ratios to their level at one commit. Nothing is compared across a change of
 * the recipe or the conditions: in the other segments values are ratios to the first level there.
 * @param {SeriesLine[]} lines
 * @param {CommitIndex} at
 * @returns {SeriesLine[]}
 */
export function relativeLines(lines, at) {
  return lines.map((line) => {
    const starts = [-Infinity, ...line.segments];
    const bases = starts.map((start, i) => baseWithin(line, at, start, starts[i + 1] ?? Infinity));
    /** @param {CommitIndex} place */
    const baseAt = (place) => bases[starts.findLastIndex((start) => start <= place)] ?? NaN;
    /** @param {[number, number] | null} pair @param {number} base @returns {[number, number] | null} */
    const divided = (pair, base) => pair && [pair[0] / base, pair[1] / base];
    return {
      ...line,
      points: line.points.flatMap((point) => {
        const base = baseAt(point.at);
        const { value, interval, quartiles } = point;
        if (Number.isNaN(base)) return [];
        return {
          ...point,
          value: value / base,
          interval: divided(interval, base),
          quartiles: divided(quartiles, base),
        };
      }),
      levels: line.levels.map((piece) => ({ ...piece, level: piece.level / baseAt(piece.first) })),
    };
  });
}

/**
 * Why lines are interrupted between these places; empty where none is.
 * @param {SeriesLine[]} lines
 * @param {number[]} stops
 * @param {boolean} relative
 */
export function restartNote(lines, stops, relative) {
  const [first, last] = [stops[0] ?? NaN, stops.at(-1) ?? NaN];
  if (!lines.some(({ segments }) => segments.some((start) => start > first && start <= last)))
    return "";
  const after = relative ? ": those after it are relative to the first level there" : "";
  return (
    "A line starts anew where the recipe or the conditions changed (◆), as values across that " +
    `are not compared${after}.`
  );
}
