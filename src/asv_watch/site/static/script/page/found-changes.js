// Rows of changes that were found in series, for every view that lists them.

import { addressOf } from "../address.js";
import { getModel } from "../data/model.js";
import { formatDay, shortHash } from "../text/format.js";
import { el } from "./elements.js";
import { foundChange } from "./signs.js";

/** @import { Change, CommitRange } from "../../types.js" */
/** @import { Series } from "../data/model.js" */

/** The series that a change was found in. @param {Change} change */
export const seriesOf = (change) => /** @type {Series} */ (getModel().series[change.s]);

/** The comparison of the commits on both sides of a change. @param {Change} change */
export function comparisonAddress(change) {
  const model = getModel();
  const { machine, environment } = seriesOf(change);
  return addressOf("changes", {
    rev: model.shortOf(change.c),
    base: model.shortOf(change.p),
    m: machine.name,
    e: environment.id,
  });
}

/** What a change rests on. @param {Change} change */
const evidenceOf = ({ interval_text: interval, through }) =>
  interval ? `${interval}${through && ` through the ${through}`}` : "separate runs";

/** The commits that a change may come from, with a diff or a command. @param {CommitRange} range */
export function drawRange(range) {
  const model = getModel();
  const items = range.commits.map(([hash, date, subject, touches]) =>
    el(
      "li",
      { class: touches ? null : "muted" },
      el("code", {}, shortHash(hash)),
      ` ${formatDay(date)} ${subject}`,
      touches ? el("span", { class: "badge" }, "touches what is measured") : null,
    ),
  );
  const more = range.more ? el("li", { class: "muted" }, `… and ${range.more} more`) : null;
  const diff = /^https?:\/\//.test(range.diff)
    ? el("a", { href: range.diff, rel: "noreferrer" }, "Diff")
    : null;
  return el(
    "div",
    { class: "range" },
    el("p", {}, `After ${model.shortOf(range.p)}, up to ${model.shortOf(range.c)}. `, diff),
    el("ul", { class: "commits" }, items, more),
    el("pre", {}, range.command),
  );
}

/** A short form of the commits that opens into all of them. @param {Change} change */
function rangeFold(change) {
  const model = getModel();
  const range = model.index.ranges[change.range];
  if (!range) return "–";
  const count = range.commits.length + range.more;
  const title = `${model.shortOf(change.p)}..${model.shortOf(change.c)} (${count})`;
  const fold = el("details", {}, el("summary", {}, el("code", {}, title)));
  fold.addEventListener("toggle", () => {
    if (fold.open && fold.children.length < 2) fold.append(drawRange(range));
  });
  return fold;
}

/** What is known of the cause, and what a person wrote. @param {Change} change */
function causeOf(change) {
  const note = change.note === null ? null : getModel().index.notes[change.note];
  const { made_by: madeBy, explanation } = change;
  return [
    change.cause,
    madeBy ? [", found by bisection: ", el("code", {}, shortHash(madeBy[1]))] : null,
    explanation ? el("div", { class: "explanation" }, `${explanation}.`) : null,
    note ? [" · ", el("em", {}, `${note.kind}: ${note.text}`)] : null,
  ];
}

/** The columns of `changeRow`; those with an id can be sorted by. */
export const CHANGE_COLUMNS = [
  { id: "case", text: "Case" },
  { id: "change", text: "Change", number: true },
  { id: "state", text: "State" },
  { id: "evidence", text: "Evidence" },
  { id: "commit", text: "Since" },
  { id: "cause", text: "Likely cause" },
];
/** Columns after those that can be sorted by. */
export const OTHER_CHANGE_COLUMNS = ["Before → after", "Where", "Commits in question"];

/** One change as a row that names its case. @param {Change} change */
export const changeRow = (change) => drawChange(change, true);

/** One change as a row of a table about its case. @param {Change} change */
export const ownChangeRow = (change) => drawChange(change, false);

/**
 * @param {Change} change
 * @param {boolean} named whether the case and the place are named
 */
function drawChange(change, named) {
  const model = getModel();
  const { key, case: what, machine, environment, metric } = seriesOf(change);
  const page = addressOf("case", { s: key, m: machine.name, e: environment.id });
  const date = formatDay(model.commits[change.c]?.date ?? 0);
  const hash = el("code", {}, model.shortOf(change.c));
  const label = model.environmentLabel(environment);
  return el(
    "tr",
    {},
    named
      ? el(
          "th",
          { scope: "row" },
          el("a", { href: page }, what.title),
          el("span", { class: "muted" }, ` · ${metric.label}`),
        )
      : null,
    el("td", { class: "number" }, foundChange(change, false)),
    el("td", {}, change.state),
    el("td", { class: "text" }, evidenceOf(change)),
    el("td", { class: "text" }, el("a", { href: comparisonAddress(change) }, hash), ` ${date}`),
    el("td", { class: "text" }, causeOf(change)),
    el("td", { class: "text" }, change.values?.join(" → ") ?? "–"),
    named
      ? el("td", { class: "text" }, machine.name, el("span", { class: "muted" }, ` · ${label}`))
      : null,
    el("td", {}, rangeFold(change)),
  );
}
