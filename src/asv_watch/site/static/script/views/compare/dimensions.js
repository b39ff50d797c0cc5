// What two sides of a comparison can differ in: commits, environments, machines, parameters.

import { firstParam } from "../../address.js";
import { getModel } from "../../data/model.js";

/** @import { Choice } from "../../page/fields.js" */

/**
 * @typedef {object} Dimension
 * @property {string} id
 * @property {string} name
 * @property {Choice[]} choices empty for commits, which are typed
 * @property {(place: Place) => [string, string]} initial the two sides of a reader who chose none
 */

/** @param {string[]} values @returns {Choice[]} */
const plain = (values) => values.map((value) => [value, value]);

/** @param {Choice[]} choices @returns {[string, string]} */
const firstTwo = ([a, b]) => [a?.[0] ?? "", b?.[0] ?? ""];

/** The newest commit of a place, and what it is compared with. @param {Place} place @returns {[string, string]} */
function initialCommits(place) {
  const { shortOf, commitsAt } = getModel();
  const { c = 0, base = null } = commitsAt(place) ?? {};
  return [shortOf(base ?? 0), shortOf(c)];
}

/** Parameters of cases that have several values, in the order in which suites list them. @returns {Dimension[]} */
function labelDimensions() {
  /** @type {Map<string, Set<string>>} */
  const values = new Map();
  for (const { labels, measured } of getModel().cases)
    for (const [name, value] of measured ? Object.entries(labels) : [])
      values.set(name, (values.get(name) ?? new Set()).add(value));
  values.delete(getModel().subject);
  return [...values].flatMap(([name, of]) => {
    if (of.size < 2) return [];
    const order = getModel().index.parameters[name] ?? [];
    const choices = plain([...of].sort((a, b) => order.indexOf(a) - order.indexOf(b)));
    return { id: name, name, choices, initial: () => firstTwo(choices) };
  });
}

/** All that can be compared on this site. @returns {Dimension[]} */
export function dimensions() {
  const { index } = getModel();
  const used = new Set(index.newest_runs.map((run) => run.e));
  /** @type {Choice[]} */
  const environments = index.environments
    .filter((_, at) => used.has(at))
    .map(({ id, short }) => [id, short]);
  const machines = plain(index.machines.map(({ name }) => name));
  /** @type {Dimension[]} */
  const all = [
    { id: "commit", name: "commit", choices: [], initial: initialCommits },
    {
      id: "release",
      name: "release",
      choices: plain(index.releases),
      initial: () => firstTwo(plain(index.releases.slice(-2))),
    },
    {
      id: "environment",
      name: "environment",
      choices: environments,
      initial: () => firstTwo(environments.slice(-2)),
    },
    {
      id: "machine",
      name: "machine",
      choices: machines,
      initial: ({ m }) => {
        const here = index.machines[m]?.name ?? "";
        const longestFirst = [...index.newest_runs].sort((a, b) => b.commits - a.commits);
        const other = longestFirst.find((run) => run.m !== m);
        return [index.machines[other?.m ?? m]?.name ?? "", here];
      },
    },
    ...labelDimensions(),
  ];
  const possible = all.filter(({ id, choices }) =>
    id === "commit" ? index.commits.length > 1 : choices.length > 1,
  );
  if (index.published.length)
    possible.push({
      id: "published",
      name: "published values",
      choices: [],
      initial: () => ["", ""],
    });
  return possible;
}

/**
 * What an address compares: by default the newest two releases, else commits. A machine without
 * comparable commits is compared with another one.
 * @param {State} state
 */
export function readSides(state) {
  const model = getModel();
  const place = model.place(state);
  const all = dimensions();
  const alone = model.commitsAt(place)?.base === null && model.index.machines.length > 1;
  const releases = model.index.releases.length > 1 && !state.params.base;
  const initial = releases ? "release" : alone ? "machine" : "commit";
  const wanted = firstParam(state, "by", initial);
  const by = all.find(({ id }) => id === wanted) ?? all[0];
  const [first, b] = by?.initial(place) ?? ["", ""];
  const a = by?.id === "commit" ? firstParam(state, "base", first) : first;
  return { place, by, a: firstParam(state, "a", a), b: firstParam(state, "b", b) };
}

/** What a side is called. @param {Dimension} by @param {string} side */
export const sideName = ({ choices }, side) =>
  choices.find(([value]) => value === side)?.[1] ?? side;
