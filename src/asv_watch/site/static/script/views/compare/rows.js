// What the picture and the table of a comparison say of each case.

import { el } from "../../page/elements.js";
import { casePage, changeSign } from "../../page/signs.js";
import { formatChange, formatValue } from "../../text/format.js";
import { signed } from "../bar-rows.js";
import { columnOf } from "../../page/tables.js";

/** @import { BarRow, Mark } from "../../charts/bars.js" */
/** @import { Metric } from "../../../types.js" */
/** @import { Column } from "../../page/tables.js" */
/** @import { Pair } from "./pairs.js" */

/** @typedef {{ a: string, b: string, metric: Metric, published: boolean }} Names */

/**
 * The interval of a ratio that the spread within both runs gives.
 * @param {Pair} pair
 * @returns {[number, number] | null}
 */
function spreadOf({ a, b }) {
  if (!a.interval || !b.interval || a.interval[0] <= 0) return null;
  return [b.interval[0] / a.interval[1], b.interval[1] / a.interval[0]];
}

/** @param {Pair} pair @param {Names} names @returns {BarRow} */
export function ratioRow(pair, names) {
  const { series, label, ratio, change } = pair;
  const values = [pair.a, pair.b].map(({ value }) => formatValue(value, names.metric)).join(" → ");
  const text = change ? change.text : formatChange(ratio, names.metric.kind);
  /** @type {Mark} */
  const mark = {
    value: change?.ratio ?? ratio,
    interval: change?.interval ?? spreadOf(pair),
    look: change ? change.verdict : "same",
    text: change ? signed(change) : text,
    tip: [label, `${names.a} → ${names.b}: ${text}`, values].join("\n"),
  };
  return { label, href: casePage(series), marks: [mark] };
}

/** @param {Pair} pair @param {Names} names @returns {BarRow} */
export function valueRow({ series, label, a, b }, names) {
  /** @param {typeof a} side @param {number} i @returns {Mark} */
  const mark = (side, i) => {
    const name = i ? names.b : names.a;
    const text = formatValue(side.value, names.metric);
    return {
      ...side,
      look: `side-${i}`,
      text: `${text} ${name}`,
      published: names.published && i === 0,
      tip: `${label}\n${name}: ${text}`,
    };
  };
  return { label, href: casePage(series), marks: [a, b].map(mark) };
}

/** @param {Names} names @returns {Column<Pair>[]} */
export function columnsOf({ a, b, metric, published }) {
  const source = columnOf("Source", (/** @type {Pair} */ { note }) => note, { wrap: true });
  return [
    columnOf("Case", ({ label }) => label, {
      draw: ({ series, label }) => el("a", { href: casePage(series) }, label),
    }),
    columnOf(a, (pair) => pair.a.value, {
      number: true,
      draw: (pair) => formatValue(pair.a.value, metric),
    }),
    columnOf(b, (pair) => pair.b.value, {
      number: true,
      draw: (pair) => formatValue(pair.b.value, metric),
    }),
    columnOf("Change", ({ ratio }) => ratio, {
      number: true,
      draw: ({ ratio, change }) =>
        change ? changeSign(change) : formatChange(ratio, metric.kind),
    }),
    ...(published ? [source] : []),
  ];
}
