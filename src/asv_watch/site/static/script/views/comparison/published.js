// Values that others published, beside ours.

import { modelHue } from "../../charts/marks.js";
import { getModel } from "../../data/model.js";
import { el } from "../../page/elements.js";
import { markClass } from "../../page/signs.js";
import { buildTable } from "../../page/tables.js";
import { formatFactor, formatTick, formatValue } from "../../text/format.js";
import { entriesOf } from "./entries.js";

/** @import { PublishedValue } from "../../../types.js" */
/** @import { Slot } from "../../charts/bars.js" */
/** @import { Asked } from "./asking.js" */
/** @import { Entry, Scene } from "./entries.js" */

/** @typedef {{ name: string, theirs: PublishedValue[], ours: Entry | null }} Row */

/** @param {PublishedValue} theirs */
const titleOf = ({ model, device, pass, batch }) =>
  [model, device, pass, batch ? `batch ${batch}` : ""].filter(Boolean).join(" · ");

/**
 * The published values that pass the filters, by case.
 * @param {Asked} asked
 * @returns {Promise<Row[]>}
 */
async function rowsOf(asked) {
  // Each stands beside the case that its source names, whatever the filters say of that.
  const open = { ...asked, device: "", pass: "", words: [] };
  const entries = await entriesOf(open, () => true);
  /** @type {Map<string, Row>} */
  const rows = new Map();
  for (const theirs of getModel().index.published) {
    const name = titleOf(theirs);
    const text = `${name} ${theirs.source}`.toLowerCase();
    if (asked.device && theirs.device !== asked.device) continue;
    if (asked.pass && theirs.pass && theirs.pass !== asked.pass) continue;
    if (!asked.words.every((word) => text.includes(word))) continue;
    const ours = entries.find((entry) => entry.series.case.key === theirs.case) ?? null;
    const row = rows.get(name) ?? { name, theirs: [], ours };
    row.theirs.push(theirs);
    rows.set(name, row);
  }
  return [...rows.values()];
}

/**
 * @param {Row} row
 * @param {string} unit
 * @returns {Slot[]}
 */
function slotsOf({ name, theirs, ours }, unit) {
  const own = ours
    ? {
        value: ours.value,
        interval: ours.interval,
        look:
          markClass(ours.series.case.device, ours.series.case.pass) + modelHue(ours.series.case),
        text: `${formatValue(ours.value, unit)} ours`,
        title: `${name}: ours`,
      }
    : null;
  return [
    own,
    ...theirs.map((value) => ({
      value: value.value,
      published: true,
      look: "published",
      text: `${formatValue(value.value, value.unit)} ${shortSource(value.source)}`,
      title: `${value.source}. ${value.note}`,
    })),
  ];
}

/** @param {string} source */
const shortSource = (source) => (source.split(/[:(]/)[0] ?? "").trim().slice(0, 24);

/**
 * @param {Asked} asked
 * @returns {Promise<Scene>}
 */
export async function publishedScene(asked) {
  const rows = await rowsOf(asked);
  const unit = getModel().index.published[0]?.unit ?? "seconds";
  const lines = rows.flatMap(({ name, theirs, ours }) =>
    theirs.map((value) => [
      name,
      ours ? formatValue(ours.value, ours.series.metric.unit) : "–",
      formatValue(value.value, value.unit),
      formatFactor(ours ? value.value / ours.value : NaN),
      [value.source, value.note ? el("span", { class: "muted" }, ` ${value.note}`) : null],
    ]),
  );
  const numbers = rows.flatMap(({ name, theirs, ours }) =>
    theirs.map((value) => [
      name,
      value.unit,
      ours?.value,
      value.value,
      ours ? value.value / ours.value : null,
      value.source,
      value.note,
    ]),
  );
  const table = buildTable(
    "Published values beside ours",
    [
      "Case",
      { text: "ours", number: true },
      { text: "published", number: true },
      { text: "published / ours", number: true },
      { text: "Source", wrap: true },
    ],
    lines,
  );
  return {
    marks: {
      rows: rows.map((row) => ({
        label: row.name,
        marks: slotsOf(row, unit),
        cells: [],
        numbers: [],
      })),
      headings: [],
      numberHeadings: [],
      scale: "log",
      from: null,
      unit,
      tick: (value) => formatTick(value, unit),
    },
    scatter: null,
    legend: [],
    names: [],
    table,
    csv: [
      ["case", "unit", "ours", "published", "published_over_ours", "source", "note"],
      ...numbers,
    ],
    note:
      "Diamonds are values that others published, measured on other machines and mostly with " +
      "other work behind the same name: read the notes in the table before comparing.",
    empty: "No published value passes the filters.",
  };
}
