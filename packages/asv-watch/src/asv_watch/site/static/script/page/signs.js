// The small signs used in every view (verdicts, outcomes, commits), and the legends of charts.

import { linkTo } from "../address.js";
import { lineSwatch, SIGNS } from "../charts/marks.js";
import { getModel } from "../data/model.js";
import { shortHash } from "../text/format.js";
import { button, el, muted } from "./elements.js";

/**
 * A change: coloured and marked only if it was measured, and pale until two days show a small one.
 * @param {{ text: string, verdict: Verdict, state?: Change["state"], days?: string,
 *   pale?: boolean }} change
 */
export function changeSign({ text, verdict, state = "measured", days = "", pale = false }) {
  if (state === "suspected") return el("span", { class: "change suspected" }, text);
  const sign = SIGNS[verdict];
  const words = sign
    ? [
        el("span", { "aria-hidden": "true" }, sign),
        el("span", { class: "visually-hidden" }, `${verdict} `),
      ]
    : null;
  const look = `change ${verdict}${pale ? " pale" : ""}`;
  return el("span", { class: look, title: pale ? days : null }, words, text);
}

/** @type {Record<Outcome, string>} */
const OUTCOME_SIGNS = {
  failed: "✗",
  "timed out": "⏱",
  stale: "◷",
  "never run": "·",
  skipped: "–",
  ok: "✓",
};
/** Those that need a look first. */
export const OUTCOMES = /** @type {Outcome[]} */ (Object.keys(OUTCOME_SIGNS));

/** The outcome of a case: a word and a sign in a frame. @param {Outcome} outcome */
export function outcomeTag(outcome, reason = "") {
  const attributes = { class: `tag ${outcome.replace(" ", "-")}`, title: reason || null };
  const sign = el("span", { "aria-hidden": "true" }, `${OUTCOME_SIGNS[outcome]} `);
  return el("span", attributes, sign, outcome === "stale" ? "behind" : outcome);
}

/** A commit as a link to its changes. @param {number} commitIndex */
export function commitLink(commitIndex) {
  const { shortOf, commitLine } = getModel();
  const rev = shortOf(commitIndex);
  const attributes = { href: linkTo("changes", { rev }), title: commitLine(commitIndex) };
  return el("a", attributes, el("code", {}, rev));
}

/** A commit as a link to the project's repository, if that has an address. @param {string} hash */
export function repositoryLink(hash) {
  const base = getModel().index.project.commit_url;
  const code = el("code", {}, shortHash(hash));
  return /^https?:\/\//.test(base)
    ? el("a", { href: base + hash, rel: "noreferrer" }, code)
    : code;
}

/** The page of a series. @param {Series} series */
export const casePage = ({ case: { key }, machine, environment }) =>
  linkTo("case", { s: key, m: machine.name, e: environment.id });

/** The page of a case by its name; nothing for a case without one. @param {string} key */
export const casePageOf = (key) => (key ? linkTo("case", { s: key }) : null);

/** The series that a change was found in. @param {Change} change */
export const seriesOf = (change) => /** @type {Series} */ (getModel().series[change.s]);

/** The name of a case in a list of changes. @param {Series} series */
export const nameOf = ({ case: what, metric }) =>
  metric.kind === "time" ? what.title : `${what.title} · ${metric.label}`;

/** All that a search finds a case by. @param {Case} what */
export const wordsOf = ({ title, line, metric, key, words }) =>
  [title, line.group, metric.label, key, words].join(" ");

/** The name of a case as a table has it: its row, and its column in grey. @param {Case} what */
export function caseName({ line, field, metric }) {
  const parts = [line.details, field.name, metric.kind === "time" ? "" : metric.label];
  return [line.name, muted(...parts.filter(Boolean).map((part) => ` · ${part}`))];
}

/** Opens the list of signs, which the page itself holds. */
export const signsHelp = () =>
  button("What signs mean", { class: "plain", popovertarget: "signs" });

/**
 * The lines of a chart with their names, and what other signs mean.
 * @param {{ look: string, shape?: number, name: Child }[]} lines
 */
export function legend(lines) {
  const items = lines.map(({ look, shape, name }) => el("li", {}, lineSwatch(look, shape), name));
  const list = items.length ? el("ul", { "aria-label": "Lines" }, items) : null;
  return el("div", { class: "legend" }, list, signsHelp());
}

/** The legend of charts that have a line for each column of the cases. @param {Case[]} cases */
export function columnLegend(cases) {
  const columns = new Map(cases.map((what) => [what.column, what]));
  const named = [...columns.values()].filter(({ field }) => field.name);
  named.sort((a, b) => a.column - b.column);
  return legend(named.map(({ field }) => ({ look: field.look, name: field.name })));
}
