// Time against memory: a dot for each case that has both.

import { modelHue } from "../../charts/marks.js";
import { byColumn, markClass } from "../../page/signs.js";
import { buildTable } from "../../page/tables.js";
import { formatValue } from "../../text/format.js";
import { entriesOf, rowName } from "./entries.js";

/** @import { Case } from "../../data/cases.js" */
/** @import { Asked } from "./asking.js" */
/** @import { Entry, Scene } from "./entries.js" */

/** @typedef {{ what: Case, seconds: number, bytes: number }} Point */

/**
 * @param {Entry[]} entries
 * @returns {Point[]}
 */
function pointsOf(entries) {
  /** @type {Map<string, { what: Case, seconds?: number, bytes?: number }>} */
  const points = new Map();
  for (const { series, value } of entries) {
    const { case: what } = series;
    const name = `${what.group} ${rowName(what, [])}`;
    const point = points.get(name) ?? { what };
    if (series.metric.unit === "seconds") point.seconds ??= value;
    else point.bytes ??= value;
    points.set(name, point);
  }
  return [...points.values()].flatMap(({ what, seconds, bytes }) =>
    seconds && bytes ? [{ what, seconds, bytes }] : [],
  );
}

/**
 * @param {Asked} asked
 * @returns {Promise<Scene>}
 */
export async function memoryScene(asked) {
  const entries = await entriesOf(
    asked,
    (metric) => metric.unit === "seconds" || metric.unit === "bytes",
  );
  const points = pointsOf(entries);
  /** @param {Point} point */
  const labelOf = (point) => rowName(point.what, ["device", "pass"]);
  const models = [...new Set(points.map(labelOf))];
  const columns = new Map(
    points.map(({ what: { column, device, pass } }) => [column, { column, device, pass }]),
  );
  const numbers = points.map(({ what, seconds, bytes }) => [rowName(what, []), seconds, bytes]);
  const rows = points.map(({ what, seconds, bytes }) => [
    rowName(what, []),
    formatValue(seconds, "seconds"),
    formatValue(bytes, "bytes"),
  ]);
  return {
    marks: null,
    scatter: points.map((point, i) => ({
      x: point.seconds,
      y: point.bytes,
      look: markClass(point.what.device, point.what.pass) + modelHue(point.what),
      shape: models.indexOf(labelOf(point)),
      label: labelOf(point),
      title: `${rows[i]?.[0]}: ${rows[i]?.[1]}, ${rows[i]?.[2]}`,
    })),
    legend: [...columns.values()].sort(byColumn).map(({ column, device, pass }) => ({
      name: column,
      look: markClass(device, pass),
      shape: 0,
    })),
    names: [],
    table: buildTable(
      "Time and memory of each case",
      ["Case", { text: "time", number: true }, { text: "memory", number: true }],
      rows,
    ),
    csv: [["case", "time_seconds", "memory_bytes"], ...numbers],
    note: "Both axes are logarithmic; less is better on both, so the best are at the lower left.",
    empty: "No case has both a time and a memory value here.",
  };
}
