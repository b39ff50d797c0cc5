// The table of a comparison: a row for each case, with both values and the bar of their ratio.

import { barAxis, BROAD, drawBar, sharedScale } from "../../charts/bars.js";
import { el } from "../../page/elements.js";
import { casePage, changeLine } from "../../page/signs.js";
import { columnOf } from "../../page/tables.js";
import { formatChange, formatInterval, formatValue } from "../../text/format.js";

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
export function columnsOf({ a, b, metric, machine }, pairs) {
  const scale = sharedScale(pairs.map(barOf), BROAD);
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
    columnOf("Measured on", ({ where }) => where, {
      wrap: true,
      hidden: pairs.every(({ where }) => where === machine),
    }),
  ];
}
