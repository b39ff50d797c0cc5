// What an address asks of the timeline, and what the chart shows then: axis, lines, events.

import { allParams, firstParam } from "../../address.js";
import { interrupts } from "../../charts/line-layers.js";
import { getModel } from "../../data/model.js";
import { formatDay } from "../../text/format.js";

/** A longer span, in seconds, has months on its axis. */
const LONG = 200 * 86_400;

/**
 * @param {State} state
 * @returns {Asked}
 */
export function readTimeline(state) {
  const model = getModel();
  const wanted = allParams(state, "s");
  const cases = wanted.flatMap((key) => model.caseOf(key) ?? []);
  const setup = model.setup(state);
  return {
    cases,
    unknown: wanted.filter((key) => !model.caseOf(key)),
    setup: { ...setup, metric: cases[0]?.metric ?? setup.metric },
    y: firstParam(state, "y") === "value" ? "log" : "ratio",
  };
}

/** Commits of a small chart at most. */
const NEWEST = 200;

/** What changed around the code: recipe, machine, environment. @param {Setup} setup */
const eventsOf = ({ m, e }) =>
  getModel()
    .index.events.filter((event) => event.m === m && (event.e === null || event.e === e))
    .map((event) => ({ stop: event.c, text: event.text }));

/**
 * @param {Asked} asked
 * @param {SeriesLine[]} lines
 * @returns {Axis}
 */
function buildAxis(asked, lines) {
  const model = getModel();
  const runs = lines.flatMap(({ points, others, compared }) => [
    ...points,
    ...others.filter(interrupts),
    ...(asked.y === "ratio" ? compared.map((stop) => ({ stop })) : []),
  ]);
  const whole = [...new Set(runs.map((run) => run.stop))].sort((a, b) => a - b);
  const rank = new Map(whole.map((stop, i) => [stop, i]));
  /** @param {CommitIndex} stop */
  const date = (stop) => model.commits[stop]?.date ?? 0;
  // A tag or an event may stand on a commit that was not measured: it goes between neighbours.
  /** @param {CommitIndex} stop */
  const position = (stop) => rank.get(stop) ?? whole.findLastIndex((other) => other < stop) + 0.5;
  // Small charts have room for the newest commits only.
  const stops = asked.cases.length ? whole : whole.slice(-NEWEST);
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

/** The stretch that a commit belongs to. @param {SeriesLine["stretches"]} stretches @param {CommitIndex} stop */
const stretchOf = (stretches, stop) =>
  stretches.findLast(([first]) => first <= stop) ?? stretches[0] ?? [0, 1, 0];

/**
 * A line relative to the newest level. Where commits were compared, it moves at measured changes
 * only, and runs are dots; else it goes through the runs.
 * @param {SeriesLine} line
 * @returns {SeriesLine}
 */
function asLevels(line) {
  const { stretches, points, compared } = line;
  const relative = points.flatMap((point) => {
    const value = point.value * stretchOf(stretches, point.stop)[2];
    return value > 0 ? [{ ...point, value, interval: null }] : [];
  });
  const steps = stretches.map(([stop, value]) => ({ stop, value }));
  return { ...line, points: relative, ...(compared.length ? { steps } : {}) };
}

/**
 * A line of values, without the measured changes that separate runs do not show: the ratios
 * show those.
 * @param {SeriesLine} line
 */
const asValues = (line) => ({
  ...line,
  changes: line.changes.filter(({ p, c, ratio }) => {
    const [before, after] = [line.values.get(p)?.value, line.values.get(c)?.value];
    return before && after && ratio && after > before === ratio > 1;
  }),
});

/**
 * What a chart of lines shows.
 * @param {Asked} asked
 * @param {SeriesLine[]} lines
 * @returns {Scene}
 */
export function sceneOf(asked, lines) {
  const drawn = lines.map(asked.y === "ratio" ? asLevels : asValues);
  return { asked, axis: buildAxis(asked, lines), lines, drawn, events: eventsOf(asked.setup) };
}
