// What an address asks of the timeline, and what the chart shows then: axis, lines, events.

import { allParams, firstParam } from "../../address.js";
import { interrupts } from "../../charts/line-layers.js";
import { getModel } from "../../data/model.js";
import { formatDay } from "../../text/format.js";
import { asLevels, asValues } from "./levels.js";

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
    from: firstParam(state, "from"),
    to: firstParam(state, "to"),
  };
}

/** What changed around the code: recipe, machine, environment. @param {Setup} setup */
const eventsOf = ({ m, e }) =>
  getModel()
    .index.events.filter((event) => event.m === m && (event.e === null || event.e === e))
    .map((event) => ({ stop: event.c, text: event.text }));

/**
 * The commits in the range that the address asks for; small charts have room for the newest 200.
 * @param {Asked} asked
 * @param {CommitIndex[]} stops
 * @returns {[CommitIndex, CommitIndex]}
 */
function rangeOf(asked, stops) {
  const model = getModel();
  const from = model.findCommit(asked.from);
  const to = model.findCommit(asked.to);
  if (from >= 0 && to >= 0) return from < to ? [from, to] : [to, from];
  return [stops.at(asked.cases.length ? 0 : -200) ?? stops[0] ?? 0, stops.at(-1) ?? 0];
}

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
  const [first, last] = rangeOf(asked, whole);
  const stops = whole.filter((stop) => stop >= first && stop <= last);
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
 * What a chart of lines shows.
 * @param {Asked} asked
 * @param {SeriesLine[]} lines
 * @returns {Scene}
 */
export function sceneOf(asked, lines) {
  const axis = buildAxis(asked, lines);
  const { stops } = axis;
  const drawn = asked.y === "ratio" ? asLevels(lines) : asValues(lines);
  return { asked, axis, stops, lines, drawn, events: eventsOf(asked.setup) };
}
