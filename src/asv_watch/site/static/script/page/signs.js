// The small signs used in every view: verdicts, outcomes, commits, lines of recent values.

import { linkTo } from "../address.js";
import { getModel } from "../data/model.js";
import { shortHash } from "../text/format.js";
import { el, svg } from "./elements.js";

/** @import { Outcome, Verdict } from "../../types.js" */
/** @import { Case, Series } from "../data/model.js" */

/** A filled or hollow square for a column of cases. @param {string} look */
export const keySquare = (look) => el("span", { class: `key ${look}`, "aria-hidden": "true" });

/** @type {Record<Verdict, string>} */
const SIGNS = { better: "✓", worse: "✗", same: "" };

/**
 * A change: coloured and marked only if it was measured.
 * @param {{ text: string, verdict: Verdict, state?: "measured" | "suspected" }} change
 */
export function changeSign({ text, verdict, state = "measured" }) {
  if (state === "suspected") return el("span", { class: "change suspected" }, text);
  const sign = SIGNS[verdict];
  const words = sign
    ? [
        el("span", { "aria-hidden": "true" }, `${sign} `),
        el("span", { class: "visually-hidden" }, `${verdict} `),
      ]
    : null;
  return el("span", { class: `change ${verdict}` }, words, text);
}

/** A muted dash for what does not exist. */
export const nothing = () => el("span", { class: "muted" }, "–");

/** @type {Record<Outcome, [string, string]>} */
const OUTCOMES = {
  failed: ["failed", "✗"],
  "timed out": ["timed-out", "⏱"],
  stale: ["stale", "◷"],
  "never run": ["never", "·"],
  skipped: ["skipped", "–"],
  ok: ["ok", "✓"],
};
/** Those that need a look first. */
export const OUTCOME_NAMES = /** @type {Outcome[]} */ (Object.keys(OUTCOMES));

/**
 * The outcome of a case: a word and a sign in a frame.
 * @param {Outcome} outcome
 */
export function outcomeTag(outcome, text = outcome === "stale" ? "behind" : outcome, reason = "") {
  const [name, sign] = OUTCOMES[outcome];
  return el(
    "span",
    { class: `tag ${name}`, title: reason || null },
    el("span", { "aria-hidden": "true" }, `${sign} `),
    text,
  );
}

/** A commit as a link to its changes. @param {number} at */
export const commitLink = (at) =>
  el(
    "a",
    { href: linkTo("changes", { rev: getModel().shortOf(at) }), title: getModel().commitLine(at) },
    el("code", {}, getModel().shortOf(at)),
  );

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

/** The name of a case as a table has it: its row, and its column in grey. @param {Case} what */
export const caseName = ({ line, field, metric }) => [
  line.name,
  el(
    "span",
    { class: "muted" },
    [line.details, field.name, metric.kind === "time" ? "" : metric.label]
      .filter(Boolean)
      .map((part) => ` · ${part}`),
  ),
];

/**
 * Whether two values at least were measured under the same conditions.
 * @param {Pick<Series, "spark" | "cuts">} series
 */
export const hasCourse = ({ spark, cuts }) =>
  [0, ...cuts].some(
    (start, i) => spark.slice(start, cuts[i]).filter((value) => value !== null).length > 1,
  );

/**
 * The path of a line 120 wide and 24 high; it spans what was not measured, and starts anew where
 * other conditions begin.
 * @param {(number | null)[]} values
 * @param {number[]} cuts
 */
function sparkPath(values, cuts) {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b);
  // One spike in thirty may leave the frame, or it would flatten all the rest; and noise of
  // a percent must not look like a mountain range.
  const spikes = Math.floor(known.length / 30);
  const low = known[spikes] ?? 0;
  const high = known[known.length - 1 - spikes] ?? 0;
  const middle = (low + high) / 2;
  const reach = Math.max((high - low) / 2, Math.abs(middle) * 0.03) || 1;
  const stride = values.length > 1 ? 116 / (values.length - 1) : 0;
  let path = "";
  let command = "M";
  values.forEach((value, i) => {
    if (cuts.includes(i)) command = "M";
    if (value === null) return;
    const height = Math.max(-1, Math.min(1, (value - middle) / reach));
    path += `${command}${(2 + i * stride).toFixed(1)} ${(12 - height * 9).toFixed(1)}`;
    command = "L";
  });
  return path;
}

/** Recent values of a series as a line, the size of a word. @param {Series} series */
export const sparkline = ({ spark, cuts }) =>
  svg(
    "svg",
    { class: "spark", viewBox: "0 0 120 24", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("path", { class: "line", d: sparkPath(spark, cuts) }),
  );
