// The values that pass the filters, and what they are called.

import { settingText } from "../../data/cases.js";
import { getModel } from "../../data/model.js";
import { commonCommit, measuredNear, runsOf, valuesAt } from "../../data/runs.js";

/** @import { CommitIndex, Metric } from "../../../types.js" */
/** @import { Child } from "../../page/elements.js" */
/** @import { Field } from "../../text/export.js" */
/** @import { MarkRow } from "../../charts/bars.js" */
/** @import { Dot } from "../../charts/scatter.js" */
/** @import { Case } from "../../data/cases.js" */
/** @import { Measured } from "../../data/judge.js" */
/** @import { Series } from "../../data/model.js" */
/** @import { Point } from "../../data/runs.js" */
/** @import { Asked } from "./asking.js" */

/**
 * @typedef {Measured & { series: Series, rev: CommitIndex }} Entry rev is -1 for the newest
 * @typedef {{ name: string, look: string, shape: number }} LegendItem
 *
 * @typedef {object} MarkScene rows of marks
 * @property {(MarkRow & { cells: Child[], numbers: Field[] })[]} rows
 * @property {string[]} headings of the cells
 * @property {string[]} numberHeadings of the numbers in a CSV file, with their units
 * @property {"log" | "linear"} scale
 * @property {0 | 1 | null} from
 * @property {string} unit
 * @property {(value: number) => string} tick
 *
 * @typedef {object} SceneParts
 * @property {MarkScene | null} marks
 * @property {Dot[] | null} scatter
 * @property {LegendItem[]} legend
 * @property {string[]} names columns that the others can be divided by
 * @property {HTMLTableElement | null} table in place of one made from the rows
 * @property {Field[][] | null} csv in place of one made from the rows
 * @property {string} note
 * @property {string} empty the text shown when nothing passes the filters
 *
 * @typedef {SceneParts} Scene
 */

/**
 * The values of each case at the newest commit that most torch releases measured it at.
 * @param {Series[]} wanted
 * @returns {Promise<Entry[]>}
 */
async function entriesOfReleases(wanted) {
  /** @type {Map<string, { series: Series, points: Point[] }[]>} */
  const byCase = new Map();
  for (const series of wanted) {
    const name = `${series.key}\n${series.m}`;
    const { points } = await runsOf(series);
    byCase.set(name, [...(byCase.get(name) ?? []), { series, points }]);
  }
  return [...byCase.values()].flatMap((members) => {
    const commit = commonCommit(members.map(({ points }) => points));
    return members.flatMap(({ series, points }) => {
      const point = points.find(({ at }) => at === commit);
      return point ? [{ series, rev: commit, value: point.value, interval: point.interval }] : [];
    });
  });
}

/**
 * The values that pass the filters, for each revision asked for.
 * @param {Asked} asked
 * @param {(metric: Metric) => boolean} ofMetric
 * @returns {Promise<Entry[]>}
 */
export async function entriesOf(asked, ofMetric) {
  const wanted = getModel().series.filter((series) => {
    const { case: what } = series;
    if (!asked.by.includes("machine") && series.m !== asked.m) return false;
    if (!asked.by.includes("torch") && series.e !== asked.e) return false;
    if (!ofMetric(series.metric)) return false;
    if (asked.device && what.device !== asked.device) return false;
    if (asked.pass && what.pass !== asked.pass) return false;
    const text = `${series.key} ${what.title} ${what.group}`.toLowerCase();
    return asked.words.every((word) => text.includes(word));
  });
  const indices = wanted.map((series) => series.at);
  const revisions = asked.by.includes("revision") ? [asked.other, asked.rev] : [asked.rev];
  const places = await Promise.all(
    revisions.map((at) => (at < 0 ? at : measuredNear(at, indices))),
  );
  const read = await valuesAt(places);
  if (asked.by.includes("torch") && asked.rev < 0 && !asked.by.includes("revision"))
    return entriesOfReleases(wanted);
  return wanted.flatMap((series) =>
    places.flatMap((at) => {
      const { last } = series;
      if (at >= 0) {
        const value = read(series.at, at);
        return value ? [{ series, rev: at, ...value }] : [];
      }
      if (!last) return [];
      /** @type {[number, number] | null} */
      const interval = last.lo === null || last.hi === null ? null : [last.lo, last.hi];
      return [{ series, rev: -1, value: last.v, interval }];
    }),
  );
}

/**
 * The name of a row: the labels of a case, without these.
 * @param {Case} what
 * @param {readonly string[]} without
 */
export function rowName(what, without) {
  const { subject, columns } = getModel().index.layout;
  const [first = "device", second = "pass"] = columns;
  const hidden = [
    subject === "model" ? "model" : "",
    ...without.map((name) => ({ device: first, pass: second })[name] ?? name),
  ];
  const rest = Object.entries(what.labels)
    .filter(([name]) => name !== "metric" && !hidden.includes(name))
    .map(([name, value]) => (columns.includes(name) ? value : settingText(name, value)));
  const owner = what.owner === what.model ? [] : [what.owner];
  return [...owner, what.model, ...rest].filter(Boolean).join(" ");
}
