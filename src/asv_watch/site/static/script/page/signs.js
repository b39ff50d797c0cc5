// The small signs used in every view: devices and passes, verdicts, outcomes, commits.

import { getModel } from "../data/model.js";
import { formatChange, shortHash } from "../text/format.js";
import { el } from "./elements.js";

/** @import { Change, Outcome, Verdict } from "../../types.js" */

const KNOWN_DEVICES = new Set(["cpu", "cuda", "mps", "xpu"]);
const KNOWN_PASSES = new Set(["forward", "backward"]);

/**
 * Classes that give a mark its hue (device) and its dash or fill (pass). Where everything was
 * measured on one device it has no hue.
 * @param {string} device
 * @param {string} pass
 */
export function markClass(device, pass) {
  const hue = KNOWN_DEVICES.has(device) && !getModel().oneDevice ? device : "other";
  return `dev-${hue} pass-${KNOWN_PASSES.has(pass) ? pass : "none"}`;
}

/**
 * A filled or hollow square for a device and pass.
 * @param {string} device
 * @param {string} pass
 * @param {string} [hue] class of a hue other than that of the device
 */
export const keySquare = (device, pass, hue = "") =>
  el("span", { class: `key ${markClass(device, pass)}${hue}`, "aria-hidden": "true" });

const PASS_ORDER = ["forward", "backward"];

/**
 * Orders things with a device and a pass: devices as the suites list them, forward first.
 * @param {{ device: string, pass: string }} a
 * @param {{ device: string, pass: string }} b
 */
export function byColumn(a, b) {
  const { devices, subject } = getModel();
  // Benchmarks that lack the parameter whose values are columns come after those that have it.
  const last = subject === "model" ? 0 : Number(a.device === "") - Number(b.device === "");
  return (
    last ||
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

/** Whether a change is recent enough for colour. @param {Change} change */
export const isNews = ({ c }) => getModel().newest - c < getModel().news;

/**
 * A change of a series: coloured if it is measured and news, and with its state if it is suspected.
 * @param {Change} change
 * @param {boolean} [withState] whether the state is written beside it
 */
export function foundChange(change, withState = true) {
  const { text, verdict, state, interval_text: interval } = change;
  const measured = state === "measured";
  const fresh = isNews(change) && measured;
  const shown = fresh ? verdict : "same";
  const sign = SIGNS[shown];
  const node = el(
    "span",
    { class: `change ${shown} ${state}${fresh ? "" : " old"}` },
    sign
      ? [
          el("span", { "aria-hidden": "true" }, sign + " "),
          el("span", { class: "visually-hidden" }, WORDS[shown] + " "),
        ]
      : null,
    text,
  );
  node.title = `${text}${interval && ` (${interval})`}, since ${getModel().commitLine(change.c)}`;
  if (withState && !measured) node.append(el("span", { class: "state" }, ` ${state}`));
  return node;
}

/** In place of a ratio of values that were measured under different conditions. */
export const otherConditions = () =>
  el(
    "span",
    { class: "muted", title: "The two values were measured with different recipes or conditions" },
    "not comparable",
  );

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
  const title = "This commit in the project's repository";
  return el("a", { href: base + hash, rel: "noreferrer", title }, code);
}
