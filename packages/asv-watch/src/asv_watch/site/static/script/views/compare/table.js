// The table of a comparison: a row for each case, with both values and the bar of their ratio.

import { barAxis, drawBar, sharedScale } from "../../charts/bars.js";
import { el } from "../../page/elements.js";
import { casePage, changeLine, changeSign } from "../../page/signs.js";
import { columnOf } from "../../page/tables.js";
import { formatChange, formatInterval, formatValue, geometricMean } from "../../text/format.js";

/** @param {Pair} pair @returns {Bar} */
const barOf = ({ ratio, compared }) => ({
  ratio,
  interval: compared?.interval ?? null,
  verdict: compared?.verdict ?? "same",
});

/**
 * @param {PairNames} names
 * @param {Pair[]} pairs all that share the scale of the bars
 * @returns {Column<Pair>[]}
 */
export function columnsOf({ a, b, metric }, pairs) {
  const scale = sharedScale(pairs.map(barOf));
  /** @param {string} text @param {"a" | "b"} side @returns {Column<Pair>} */
  const valueColumn = (text, side) =>
    columnOf(text, (pair) => pair[side].value, {
      number: true,
      draw: (pair) => formatValue(pair[side].value, metric),
    });
  /** @param {Pair} pair */
  const intervalOf = ({ compared }) =>
    compared ? formatInterval(compared.interval, compared.clock) : "";
  return [
    columnOf("Case", ({ label }) => label, {
      draw: ({ series, label }) => el("a", { href: casePage(series) }, label),
    }),
    valueColumn(a, "a"),
    valueColumn(b, "b"),
    columnOf("Change", ({ ratio }) => ratio, {
      axis: barAxis(scale),
      draw(pair) {
        const bar = barOf(pair);
        const text = formatChange(pair.ratio, metric.kind);
        return changeLine(drawBar(bar, scale), { ...bar, text }, intervalOf(pair));
      },
    }),
    columnOf("99 % interval", intervalOf, { hidden: true }),
  ];
}

/**
 * How many cases differ in each direction, by how much, and their mean.
 * @param {Pair[]} pairs
 * @param {Metric} metric
 */
export function directions(pairs, { kind }) {
  return /** @type {Verdict[]} */ (["worse", "better"]).flatMap((verdict) => {
    const ratios = pairs.flatMap(({ ratio, compared }) =>
      compared?.verdict === verdict ? [ratio] : [],
    );
    if (!ratios.length) return [];
    const range = formatInterval([Math.min(...ratios), Math.max(...ratios)]);
    const size =
      ratios.length > 1
        ? `${range}, mean ${formatChange(geometricMean(ratios), kind)}`
        : formatChange(ratios[0] ?? 1, kind);
    return [changeSign({ verdict, text: `${ratios.length} ${verdict}: ${size}` }), " "];
  });
}
