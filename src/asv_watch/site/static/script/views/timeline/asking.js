// What one address asks of the timeline, with its defaults filled in.

import { allParams, firstParam } from "../../address.js";
import { getModel } from "../../data/model.js";

/** @import { State } from "../../address.js" */
/** @import { YAxis } from "../../charts/line-axes.js" */
/** @import { Case, Place } from "../../data/model.js" */

/**
 * @typedef {object} Asked
 * @property {Case[]} cases the cases chosen; without any every model has a small chart
 * @property {string[]} unknown keys that no case has
 * @property {Place} place
 * @property {"commit" | "date" | "release"} x
 * @property {YAxis} y
 * @property {string} last how many commits are shown, or "all"
 * @property {string} from
 * @property {string} to
 */

export const LAST_CHOICES = ["50", "200", "1000", "all"];

/**
 * @param {State} state
 * @returns {Asked}
 */
export function readTimeline(state) {
  const model = getModel();
  const wanted = allParams(state, "s");
  const cases = wanted.flatMap((key) => model.caseOf(key) ?? []);
  const place = model.place(state, model.longest);
  const x = firstParam(state, "x");
  return {
    cases,
    unknown: wanted.filter((key) => !model.caseOf(key)),
    place: { ...place, metric: cases[0]?.metric ?? place.metric },
    x: x === "date" || x === "release" ? x : "commit",
    y: firstParam(state, "y") === "value" ? "log" : "ratio",
    last: LAST_CHOICES.find((name) => name === firstParam(state, "n")) ?? "200",
    from: firstParam(state, "from"),
    to: firstParam(state, "to"),
  };
}

/** What changed around the code: recipe, machine, environment. @param {Place} place */
export const eventsOf = ({ m, e }) =>
  getModel()
    .index.events.filter((event) => event.m === m && (event.e === null || event.e === e))
    .map((event) => ({ at: event.c, text: event.text }));
