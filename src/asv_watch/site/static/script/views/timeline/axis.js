// The x axis: where a commit stands, which there are, and what is written below.

import { getModel } from "../../data/model.js";
import { formatDay, formatTime } from "../../text/format.js";

/** @import { CommitIndex } from "../../../types.js" */
/** @import { Labelled } from "../../charts/line-axes.js" */
/** @import { Asked } from "./asking.js" */
/** @import { SeriesLine } from "./lines.js" */

/**
 * @typedef {object} Axis
 * @property {CommitIndex[]} stops commits with anything to show
 * @property {(at: CommitIndex) => number} place
 * @property {[number, number]} domain
 * @property {Labelled[]} ticks
 * @property {Labelled[]} ends the first and the last tick: all that a small chart has room for
 */

/**
 * How many of the sorted stops come before a place.
 * @param {number[]} stops
 * @param {number} at
 */
function countBefore(stops, at) {
  let [low, high] = [0, stops.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((stops[middle] ?? Infinity) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The commits in the range that the address asks for.
 * @param {Asked} asked
 * @param {CommitIndex[]} stops
 * @returns {[CommitIndex, CommitIndex]}
 */
function rangeOf(asked, stops) {
  const model = getModel();
  const from = model.findCommit(asked.from);
  const to = model.findCommit(asked.to);
  if (from >= 0 && to >= 0) return from < to ? [from, to] : [to, from];
  const count = asked.last === "all" ? stops.length : Number(asked.last);
  return [stops[Math.max(0, stops.length - count)] ?? 0, stops.at(-1) ?? 0];
}

/**
 * @param {Asked} asked
 * @param {SeriesLine[]} lines
 * @returns {Axis}
 */
export function buildAxis(asked, lines) {
  const model = getModel();
  const runs = lines.flatMap(({ points, others, joined }) => [
    ...points,
    ...others,
    ...(asked.y === "ratio" ? joined : []),
  ]);
  const whole = [...new Set(runs.map((run) => run.at))].sort((a, b) => a - b);
  const rank = new Map(whole.map((at, i) => [at, i]));
  /** @param {CommitIndex} at */
  const date = (at) => model.commits[at]?.date ?? 0;
  // A tag or an event may stand on a commit that was not measured: it goes between neighbours.
  /** @param {CommitIndex} at */
  const order = (at) => rank.get(at) ?? countBefore(whole, at) - 0.5;
  const place = asked.x === "date" ? date : order;
  const [first, last] = rangeOf(asked, whole);
  const stops = whole.filter((at) => at >= first && at <= last);
  const sameDay = formatDay(date(first)) === formatDay(date(last));
  // Within a day the date would tell nothing: the hash does, or the time.
  /** @param {CommitIndex} at */
  const text = (at) => {
    if (!sameDay) return formatDay(date(at));
    return asked.x === "date" ? formatTime(date(at)) : model.shortOf(at);
  };
  const ticks = stops.map((at) => ({ at, text: text(at) }));
  const stride = Math.max(1, Math.ceil(stops.length / 7));
  return {
    stops,
    place,
    domain: [place(first), place(last)],
    ticks: ticks.filter((_, i) => i % stride === 0),
    ends: ticks.filter((_, i) => i === 0 || i === ticks.length - 1),
  };
}
