// The small signs used in every view: devices and passes, verdicts, outcomes, commits.

import { getModel } from "../data/model.js";
import { formatChange, shortHash } from "../text/format.js";
import { el } from "./elements.js";

/** @import { Outcome, Verdict } from "../../types.js" */

const KNOWN_DEVICES = new Set(["cpu", "cuda", "mps", "xpu"]);
const KNOWN_PASSES = new Set(["forward", "backward"]);

/**
 * Classes that give a mark its hue (device) and its dash or fill (pass).
 * @param {string} device
 * @param {string} pass
 */
export function markClass(device, pass) {
  const hue = KNOWN_DEVICES.has(device) ? device : "other";
  return `dev-${hue} pass-${KNOWN_PASSES.has(pass) ? pass : "none"}`;
}

/**
 * A filled or hollow square for a device and pass.
 * @param {string} device
 * @param {string} pass
 */
export const keySquare = (device, pass) =>
  el("span", { class: `key ${markClass(device, pass)}`, "aria-hidden": "true" });

const PASS_ORDER = ["forward", "backward"];

/**
 * Orders things with a device and a pass: devices as the suites list them, forward first.
 * @param {{ device: string, pass: string }} a
 * @param {{ device: string, pass: string }} b
 */
export function byColumn(a, b) {
  const { devices } = getModel();
  return (
    devices.indexOf(a.device) - devices.indexOf(b.device) ||
    PASS_ORDER.indexOf(a.pass) - PASS_ORDER.indexOf(b.pass)
  );
}

/** @type {Record<Verdict, string>} */
const SIGNS = { better: "✓", worse: "✗", same: "" };
/** @type {Record<Verdict, string>} */
const WORDS = { better: "better", worse: "worse", same: "not significant" };

/**
 * A signed change, coloured and marked only if it is significant.
 * @param {number} ratio
 * @param {Verdict} verdict
 */
export function changeSign(ratio, verdict) {
  const sign = SIGNS[verdict];
  return el(
    "span",
    { class: `change ${verdict}`, title: WORDS[verdict] },
    sign
      ? [
          el("span", { "aria-hidden": "true" }, sign + " "),
          el("span", { class: "visually-hidden" }, WORDS[verdict] + " "),
        ]
      : null,
    formatChange(ratio),
  );
}

/** A muted dash for a number that does not exist. */
export const noNumber = () => el("span", { class: "muted" }, "–");

/** @type {Record<Outcome, [string, string]>} */
const OUTCOMES = {
  ok: ["ok", "✓"],
  stale: ["stale", "◷"],
  failed: ["failed", "✗"],
  "timed out": ["timed-out", "⏱"],
  skipped: ["skipped", "–"],
  "never run": ["never", "·"],
};
export const OUTCOME_NAMES = /** @type {Outcome[]} */ (Object.keys(OUTCOMES));

/**
 * The outcome of a case: a word and a sign in a frame.
 * @param {Outcome} outcome
 * @param {string} [text]
 */
export function outcomeTag(outcome, text = outcome, reason = "") {
  const [name, sign] = OUTCOMES[outcome];
  return el(
    "span",
    { class: `tag ${name}`, title: reason || null },
    el("span", { "aria-hidden": "true" }, sign + " "),
    text,
  );
}

/**
 * A commit as a link to where its text can be read, or its short hash where there is none.
 * @param {number} at
 */
export function commitLink(at) {
  const model = getModel();
  const hash = model.commits[at]?.hash ?? "";
  const base = model.index.project.commit_url;
  const code = el("code", {}, shortHash(hash));
  if (!/^https?:\/\//.test(base)) return code;
  const title = "This commit at the code's host";
  return el("a", { href: base + hash, rel: "noreferrer", title }, code);
}
