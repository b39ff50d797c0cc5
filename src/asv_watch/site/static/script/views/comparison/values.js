// Values of each model, one mark for each device, pass, release or whatever is compared.

import { modelHue } from "../../charts/marks.js";
import { MODEL_HUES, getModel } from "../../data/model.js";
import { byColumn, markClass } from "../../page/signs.js";
import {
  capital,
  formatFactor,
  formatTick,
  formatValue,
  geometricMean,
} from "../../text/format.js";
import { entriesOf, rowName } from "./entries.js";

/** @import { Slot } from "../../charts/bars.js" */
/** @import { Asked, Dimension } from "./asking.js" */
/** @import { Entry, LegendItem, Scene } from "./entries.js" */

/**
 * @typedef {LegendItem & { device: string, pass: string, first: Entry }} Column
 */

/**
 * What an entry is called in each dimension.
 * @param {Entry} entry
 * @returns {Record<Dimension, string>}
 */
function namesOf({ series, rev }) {
  const model = getModel();
  return {
    device: series.case.device,
    pass: series.case.pass,
    mode: series.case.mode,
    torch: model.environmentLabel(series.environment),
    machine: series.machine.name,
    revision: rev < 0 ? "newest" : model.shortOf(rev),
  };
}

/**
 * Hue is the device, fill the pass; what else differs gets a shape, and a hue of its own where
 * the device says nothing. In a project without models all that is compared does.
 * @param {Column[]} columns
 * @param {Asked} asked
 */
function dress(columns, asked) {
  const ofModels = getModel().index.layout.subject === "model";
  const others = asked.by.filter((name) => !ofModels || (name !== "device" && name !== "pass"));
  /** @type {string[]} */
  const kinds = [];
  const devices = new Set(columns.map((column) => (ofModels ? column.device : "")));
  for (const column of columns) {
    const names = namesOf(column.first);
    const kind = others.map((name) => names[name]).join(" ");
    if (!kinds.includes(kind)) kinds.push(kind);
    column.shape = kinds.indexOf(kind);
  }
  for (const column of columns) {
    const own = devices.size < 2 && kinds.length > 1 ? ` hue-${column.shape % MODEL_HUES}` : "";
    column.look = markClass(column.device, column.pass) + own;
  }
}

/**
 * @param {Entry[]} entries
 * @param {Asked} asked
 */
function collect(entries, asked) {
  /** @type {Map<string, Map<string, Entry>>} */
  const rows = new Map();
  /** @type {Map<string, Column>} */
  const columns = new Map();
  for (const entry of entries) {
    const names = namesOf(entry);
    const parts = asked.by.map((dimension) => names[dimension]).filter(Boolean);
    const name = parts.join(" · ") || asked.metric.label;
    const row = rowName(entry.series.case, asked.by);
    if (!rows.has(row)) rows.set(row, new Map());
    const { device, pass } = entry.series.case;
    if (!columns.has(name))
      columns.set(name, { name, look: "", shape: 0, device, pass, first: entry });
    rows.get(row)?.set(name, entry);
  }
  const { releases } = getModel();
  /** @param {Column} column */
  const place = ({ first: { series, rev } }) => [
    releases.findIndex((release) => release.at === series.e),
    series.m,
    rev < 0 ? Number.MAX_SAFE_INTEGER : rev,
  ];
  const sorted = [...columns.values()].sort((a, b) => {
    const [x, y] = [place(a), place(b)];
    const differing = x.findIndex((value, i) => value !== y[i]);
    const byPlace = differing < 0 ? 0 : (x[differing] ?? 0) - (y[differing] ?? 0);
    const modes = [a, b].map((column) => column.first.series.case.mode);
    return byColumn(a, b) || byPlace || String(modes[0]).localeCompare(String(modes[1]));
  });
  dress(sorted, asked);
  return { rows, columns: sorted };
}

/**
 * Why a model has no mark in a column; empty where it has no such case.
 * @param {Asked} asked
 * @param {string} label
 * @param {Column} column
 */
function whyMissing(asked, label, column) {
  if (asked.rev >= 0) return "no value";
  const like = column.first.series;
  const series = getModel().series.find(
    (other) =>
      other.m === like.m &&
      other.e === like.e &&
      other.metric === like.metric &&
      other.case.column === like.case.column &&
      rowName(other.case, asked.by) === label,
  );
  return series ? series.status : "";
}

/** At which commit a value was measured, unless it is the newest. @param {Entry} entry */
const commitOf = ({ rev }) => (rev < 0 ? "" : ` at ${getModel().shortOf(rev)}`);

/** At which commits torch releases are compared. @param {Asked} asked @param {Entry[]} entries */
function commitsNote(asked, entries) {
  if (!asked.by.includes("torch") || asked.rev >= 0) return "";
  const commits = [...new Set(entries.map(({ rev }) => rev))].filter((rev) => rev >= 0);
  const named = commits.slice(0, 3).map(getModel().shortOf).join(", ");
  const others = commits.length > 3 ? " and others" : "";
  return ` The releases of a case are compared at one commit: ${named}${others}.`;
}

/**
 * @param {Asked} asked
 * @returns {Promise<Scene>}
 */
export async function valuesScene(asked) {
  const { unit, label: metricLabel, higher_is_better: higher } = asked.metric;
  const entries = await entriesOf(asked, (metric) => metric === asked.metric);
  const { rows, columns } = collect(entries, asked);
  const base = columns.find((column) => column.name === asked.norm);
  const shown = columns.filter((column) => column !== base);
  /** @param {number} value */
  const format = (value) => (base ? formatFactor(value) : formatValue(value, unit));

  const drawn = [...rows].map(([label, cells]) => {
    const divisor = base ? cells.get(base.name)?.value : 1;
    /** @param {Column} column @returns {Slot} */
    const slot = (column) => {
      const entry = cells.get(column.name);
      if (!entry || !divisor) {
        const missing = whyMissing(asked, label, column);
        return missing ? { missing } : null;
      }
      const value = entry.value / divisor;
      const relative = base ? `, ${format(value)} of ${base.name}` : "";
      return {
        value,
        interval: base ? null : entry.interval,
        look: column.look.includes(" hue-")
          ? column.look
          : column.look + modelHue(entry.series.case),
        shape: column.shape,
        text: format(value),
        title: `${label}, ${column.name}${commitOf(entry)}: ${formatValue(entry.value, unit)}${relative}`,
      };
    };
    /** @param {Column} column */
    const cell = (column) => {
      const entry = cells.get(column.name);
      if (!entry) return "–";
      const divided = base && divisor && column !== base;
      const relative = divided ? ` (${format(entry.value / divisor)})` : "";
      return formatValue(entry.value, unit) + relative;
    };
    const values = columns.map((column) => cells.get(column.name)?.value);
    const ratios = base
      ? shown.map((column) => (cells.get(column.name)?.value ?? NaN) / (divisor ?? NaN))
      : [];
    return {
      label,
      marks: shown.map(slot),
      cells: columns.map(cell),
      numbers: [...values, ...ratios],
    };
  });

  const means = shown.map((column, i) => {
    const ratios = drawn.flatMap(({ marks }) => {
      const mark = marks[i];
      return mark && "value" in mark && mark.value > 0 ? [mark.value] : [];
    });
    return `${column.name} ${format(geometricMean(ratios))} of ${ratios.length} series`;
  });
  const direction = `${capital(metricLabel)}: ${higher ? "more" : "less"} is better.`;
  const relation = base
    ? ` Each model relative to its ${base.name}; geometric mean: ${means.join(", ")}.`
    : "";
  const linear = asked.scale === "linear";
  return {
    marks: {
      rows: drawn.map((row) => ({ ...row, marks: row.marks.filter((slot) => slot !== null) })),
      headings: columns.map((column) => column.name),
      numberHeadings: [
        ...columns.map(({ name }) => `${name} (${unit})`),
        ...(base ? shown.map(({ name }) => `${name} / ${base.name} (ratio)`) : []),
      ],
      scale: asked.scale,
      from: linear ? 0 : base ? 1 : null,
      unit: base ? "" : unit,
      tick: (value) => (base ? formatTick(value, "") + "×" : formatTick(value, unit)),
    },
    scatter: null,
    legend: shown,
    names: columns.map((column) => column.name),
    table: null,
    csv: null,
    note: direction + relation + commitsNote(asked, entries),
    empty: "No value passes the filters.",
  };
}
