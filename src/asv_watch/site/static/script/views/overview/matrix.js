// The table of the newest values.

import { getModel, isComparable } from "../../data/model.js";
import { el, notice } from "../../page/elements.js";
import {
  casePage,
  changeSign,
  hasCourse,
  keySquare,
  nothing,
  outcomeTag,
  signsHelp,
  sparkline,
} from "../../page/signs.js";
import { ofGroup } from "../../page/fields.js";
import { moreButton, scrollBox } from "../../page/tables.js";
import { capital, formatChange, formatDay, plural } from "../../text/format.js";
import { rowsOfCases } from "./rows.js";

/** @import { Row } from "./rows.js" */

/** Rows that are drawn at once: the rest follows at a click. */
const ROWS_AT_ONCE = 60;

/**
 * The machine with the longest history, for values of a machine that has none.
 * @param {Place} place
 */
function historyBeside(place) {
  const { longest, commitsAt } = getModel();
  const here = commitsAt(place)?.commits ?? 0;
  return here < 2 && longest && longest.commits > 1 ? longest : null;
}

/** @param {Series} series @param {{ m: number, e: number } | null} beside */
function besideText({ case: what, last }, beside) {
  const other = beside ? getModel().find(what, beside)?.last : null;
  return last && other ? formatChange(last.v / other.v, what.metric.kind) : "";
}

/** What stands beside a value. @param {Series} series @param {{ m: number, e: number } | null} beside */
function stateOf(series, beside) {
  const { status, change, reason, behind, last } = series;
  if (status === "stale") return outcomeTag(status, `${behind} behind`);
  if (status !== "ok") return outcomeTag(status, status, reason);
  const ratio = besideText(series, beside);
  if (ratio) return el("span", { class: "change" }, ratio);
  const current = change && last && isComparable(series, change.c, last.c) ? change : null;
  return current ? changeSign(current) : null;
}

/** @param {Series | undefined} series @param {{ m: number, e: number } | null} beside */
function drawCell(series, beside) {
  if (!series) return el("td", { class: "none" }, nothing());
  const state = stateOf(series, beside);
  const { case: what, last, change } = series;
  const value = last?.text ?? "–";
  const tip = [
    nameAndSuite(series),
    value,
    change ? `${change.state} change ${change.text} since ${getModel().commitLine(change.c)}` : "",
  ];
  return el(
    "td",
    {},
    el(
      "a",
      {
        class: `cell ${what.field.look}`,
        href: casePage(series),
        // In a list of links, as screen readers offer it, a number alone would say nothing.
        "aria-label": `${value} ${state?.textContent ?? ""}, ${what.title}`,
        "data-tip": tip.filter(Boolean).join("\n"),
      },
      el("span", { class: "value" }, value),
      hasCourse(series) ? sparkline(series) : null,
      state,
    ),
  );
}

/** @param {Series} series */
const nameAndSuite = ({ case: { title, line } }) => [title, line.group].filter(Boolean).join(", ");

/** Whether there is anything to show of a series besides that it exists. @param {Series} series */
const hasRun = ({ last, status }) => last !== null || !["skipped", "never run"].includes(status);

/**
 * @param {Place} place
 * @param {string} group heading of a suite, empty for the main ones, * for all
 */
export function drawMatrix(place, group) {
  const { seriesAt, subject } = getModel();
  const live = ofGroup(seriesAt(place).filter(hasRun), group, (series) => series.case);
  const chosen = rowsOfCases(live);
  const { rows, columns } = chosen;
  const beside = historyBeside(place);
  const label = place.metric.label;
  if (!rows.length)
    return {
      node: notice(`No ${label} is measured here: choose another machine.`),
      table: chosen,
    };

  const heads = columns.map(({ look, name }) =>
    el("th", { scope: "col" }, keySquare(look), name || capital(label)),
  );
  let family = "";
  /** @param {Row} row */
  const drawRow = ({ line, cells }) => {
    const starts = line.group !== family;
    family = line.group;
    const head = { scope: "rowgroup", colspan: columns.length + 1 };
    const name = [
      el("span", {}, line.name),
      line.details ? el("span", { class: "muted" }, ` ${line.details}`) : null,
    ];
    return [
      starts ? el("tr", { class: "family" }, el("th", head, headingOf(rows, line.group))) : [],
      el(
        "tr",
        {},
        el("th", { scope: "row" }, name),
        columns.map((column) => drawCell(cells.get(column), beside)),
      ),
    ].flat();
  };
  const body = el("tbody", {}, rows.slice(0, ROWS_AT_ONCE).flatMap(drawRow));
  const table = el(
    "table",
    { class: "matrix" },
    el("caption", { class: "visually-hidden" }, `Newest ${label} of every ${subject}`),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, capital(subject)), heads)),
    body,
  );
  const others = rows.slice(ROWS_AT_ONCE);
  return {
    node: el(
      "div",
      {},
      beside && live.some((series) => besideText(series, beside))
        ? firstRunNote(place, beside)
        : null,
      scrollBox(`Newest ${label}`, table),
      moreButton(body, others, drawRow, rows.length),
      el("p", { class: "note" }, noteText(place)),
      signsHelp("change", "cell"),
    ),
    table: chosen,
  };
}

/** The heading of a suite, without its modules where it has one row. @param {Row[]} rows @param {string} group */
function headingOf(rows, group) {
  const alike = rows.filter(({ line }) => line.group === group);
  return alike.length > 1 ? group : (group.split(" · ").at(-1) ?? group);
}

/** @param {Place} place */
function noteText(place) {
  const run = getModel().commitsAt(place);
  const commit = run ? getModel().commits[run.c] : null;
  const when = commit ? `Measured up to ${formatDay(commit.date)}. ` : "";
  return `${when}Choose a value to see all about its case.`;
}

/** @param {Place} place @param {{ m: number, e: number, commits: number }} beside */
function firstRunNote(place, beside) {
  const { machines, environments } = getModel().index;
  const here = machines[place.m]?.name;
  const there = place.m === beside.m ? environments[beside.e]?.short : machines[beside.m]?.name;
  return notice(
    `This is the first run on ${here} in this environment. The percentages compare it with ` +
      `${there}, which measured ${plural(beside.commits, "commit")}.`,
  );
}
