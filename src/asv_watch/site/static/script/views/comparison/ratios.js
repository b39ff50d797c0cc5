// Ratios of pairs of series that differ in one label only.

import { modelHue } from "../../charts/marks.js";
import { byColumn, markClass } from "../../page/signs.js";
import {
  capital,
  formatFactor,
  formatTick,
  formatValue,
  geometricMean,
  plural,
} from "../../text/format.js";
import { entriesOf, rowName } from "./entries.js";

/** @import { Slot } from "../../charts/bars.js" */
/** @import { Asked } from "./asking.js" */
/** @import { Entry, LegendItem, Scene } from "./entries.js" */

/**
 * @typedef {object} RatioKind
 * @property {"device" | "pass" | "mode"} label in which the pair differs
 * @property {string} base value of the label that the others are compared with
 * @property {boolean} speedUp whether the ratio is above 1 where the other is faster
 * @property {string} words
 *
 * @typedef {{ ratio: number, base: Entry, entry: Entry }} Pair
 * @typedef {LegendItem & { device: string, pass: string }} Column
 */

/** @type {Record<"devices" | "passes" | "modes", RatioKind>} */
export const RATIOS = {
  devices: {
    label: "device",
    base: "cpu",
    speedUp: true,
    words: "how many times as fast as on the CPU; above 1× the device is faster.",
  },
  passes: {
    label: "pass",
    base: "forward",
    speedUp: false,
    words: "backward (which includes forward) as a multiple of forward.",
  },
  modes: {
    label: "mode",
    base: "eager",
    speedUp: true,
    words: "how many times as fast as eager; above 1× the mode is faster.",
  },
};

/**
 * The entries that differ from a base in this label only.
 * @param {Entry[]} entries
 * @param {RatioKind} kind
 */
function pairsOf(entries, { label, base, speedUp }) {
  /** @type {Map<string, Map<string, Entry>>} */
  const groups = new Map();
  for (const entry of entries) {
    const { case: what } = entry.series;
    const value = what.labels[label];
    if (!value) continue;
    const key = rowName(what, [label]);
    if (!groups.has(key)) groups.set(key, new Map());
    groups.get(key)?.set(value, entry);
  }
  return [...groups.values()].flatMap((members) => {
    const first = members.get(base);
    if (!first) return [];
    return [...members].flatMap(([value, entry]) => {
      if (value === base) return [];
      const inverse = speedUp !== entry.series.metric.higher_is_better;
      const ratio = inverse ? first.value / entry.value : entry.value / first.value;
      return [{ value, pair: { ratio, base: first, entry } }];
    });
  });
}

/**
 * @param {Asked} asked
 * @param {RatioKind} kind
 * @returns {Promise<Scene>}
 */
export async function ratiosScene(asked, kind) {
  const { label, words } = kind;
  const open = {
    ...asked,
    device: label === "device" ? "" : asked.device,
    pass: label === "pass" ? "" : asked.pass,
  };
  const entries = await entriesOf(open, (metric) => metric === asked.metric);
  /** @type {Map<string, Map<string, Pair>>} */
  const rows = new Map();
  /** @type {Map<string, Column>} */
  const columns = new Map();
  for (const { value, pair } of pairsOf(entries, kind)) {
    const { case: what } = pair.entry.series;
    const row = rowName(what, [label, "device", "pass"]);
    const others = [what.device, what.pass].filter((name) => name && name !== value);
    const name = [value, ...others].join(" · ");
    const pass = label === "pass" ? "forward" : what.pass;
    const look = markClass(what.device, pass);
    if (!columns.has(name)) columns.set(name, { name, look, shape: 0, device: what.device, pass });
    if (!rows.has(row)) rows.set(row, new Map());
    rows.get(row)?.set(name, pair);
  }
  const order = [...columns.values()].sort(byColumn);
  const { unit } = asked.metric;
  /**
   * @param {string} row
   * @param {Column} column
   * @returns {Slot}
   */
  const slot = (row, column) => {
    const pair = rows.get(row)?.get(column.name);
    if (!pair) return null;
    const text = formatFactor(pair.ratio);
    const both = [pair.base, pair.entry].map((entry) => formatValue(entry.value, unit));
    const title = `${row}, ${column.name}: ${text} (${both.join(" and ")})`;
    const look = column.look + modelHue(pair.entry.series.case);
    return { value: pair.ratio, look, text, title };
  };
  const means = order.map(({ name }) => {
    const all = [...rows.values()].flatMap((cells) => cells.get(name)?.ratio ?? []);
    const positive = all.filter((ratio) => ratio > 0);
    return `${name} ${formatFactor(geometricMean(positive))} of ${plural(positive.length, "pair")}`;
  });
  return {
    marks: {
      rows: [...rows].map(([name, cells]) => ({
        label: name,
        marks: order.map((column) => slot(name, column)),
        cells: order.map((column) => formatFactor(cells.get(column.name)?.ratio ?? NaN)),
        numbers: order.map((column) => cells.get(column.name)?.ratio),
      })),
      headings: order.map((column) => column.name),
      numberHeadings: order.map((column) => `${column.name} (ratio)`),
      scale: asked.scale,
      from: asked.scale === "linear" ? 0 : 1,
      unit: "",
      tick: (value) => formatTick(value, "") + "×",
    },
    scatter: null,
    legend: order,
    names: [],
    table: null,
    csv: null,
    note:
      `${capital(asked.metric.label)}: ${words} ` +
      `Geometric mean: ${means.join(", ") || "no pair was measured"}.`,
    empty: "No pair passes the filters.",
  };
}
