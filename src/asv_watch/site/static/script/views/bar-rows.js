// Rows of the bar charts: measured changes, and comparisons of releases.

import { getModel } from "../data/model.js";
import { casePage, casePageOf } from "../page/signs.js";

/** @import { BarRow } from "../charts/bars.js" */
/** @import { Change, Compared } from "../../types.js" */
/** @import { Series } from "../data/model.js" */

/** @param {Pick<Compared, "verdict" | "text">} change */
export const signed = ({ verdict, text }) =>
  `${{ better: "✓ ", worse: "✗ ", same: "" }[verdict]}${text}`;

/** The series that a change was found in. @param {Change} change */
export const seriesOf = (change) => /** @type {Series} */ (getModel().series[change.s]);

/** The name of a case in a list of changes. @param {Series} series */
export const nameOf = ({ case: what, metric }) =>
  metric.kind === "time" ? what.title : `${what.title} · ${metric.label}`;

/** @param {Change} change @returns {BarRow[]} */
export function changeRow(change) {
  const ratio = change.ratio ?? change.about;
  if (ratio === null) return [];
  const series = seriesOf(change);
  const measured = change.state === "measured";
  const tip = [
    nameOf(series),
    `${change.text}${change.interval_text ? `, interval ${change.interval_text}` : ""}`,
    change.values?.join(" → ") ?? "",
    `since ${getModel().commitLine(change.c)}`,
    series.machine.name,
  ];
  return [
    {
      label: nameOf(series),
      href: casePage(series),
      marks: [
        {
          value: ratio,
          interval: change.interval,
          look: measured ? change.verdict : "same",
          text: measured ? signed(change) : change.text,
          tip: tip.filter(Boolean).join("\n"),
        },
      ],
    },
  ];
}

/** @param {{ key: string, title: string } & Compared} compared @returns {BarRow} */
export const comparedRow = ({ key, title, ...compared }) => ({
  label: title,
  href: casePageOf(key),
  marks: [
    {
      value: compared.ratio,
      interval: compared.interval,
      look: compared.verdict,
      text: signed(compared),
      tip: `${title}\n${compared.text}, interval ${compared.interval_text}`,
    },
  ],
});
