// The rule that decides whether two values differ. It is the rule of docs/site-data.md and of
// asv_watch.judge, and a test compares the verdicts of both.

/** @import { Index, Verdict } from "../../types.js" */

/**
 * A measured value and, where known, the interval that its samples give.
 * @typedef {{ value: number, interval: [number, number] | null }} Measured
 *
 * @typedef {object} Judgement
 * @property {number} ratio new / old
 * @property {number} visible the smallest relative change that would have counted; NaN if unknown
 * @property {number} inNoise |ln ratio| as a multiple of the noise of both; NaN if unknown
 * @property {Verdict} verdict
 */

/**
 * @param {Measured} a
 * @param {Measured} b
 */
const apart = (a, b) =>
  !a.interval || !b.interval || a.interval[0] > b.interval[1] || b.interval[0] > a.interval[1];

/**
 * How far the intervals of both reach towards each other, as |ln|.
 * @param {Measured} base
 * @param {Measured} now
 */
function intervalReach(base, now) {
  if (!base.interval || !now.interval) return 0;
  const [b, n] = [base.interval, now.interval];
  const upwards = Math.abs(Math.log(b[1] / base.value)) + Math.abs(Math.log(n[0] / now.value));
  const downwards = Math.abs(Math.log(b[0] / base.value)) + Math.abs(Math.log(n[1] / now.value));
  const reach = Math.max(upwards, downwards);
  return Number.isFinite(reach) ? reach : 0;
}

/**
 * Compares a value with a base value that was measured under the same conditions. A change counts if it is at least the
 * smallest effect of interest and beyond the noise, and if the intervals, where both are known,
 * do not overlap. Where a noise is unknown nothing counts.
 * @param {Index["rules"]} rules
 * @param {Measured} base
 * @param {Measured} now
 * @param {(number | null | undefined)[]} noises relative noise of the two; null where unknown
 * @param {boolean} higherIsBetter
 * @returns {Judgement}
 */
export function judgeRatio(rules, base, now, noises, higherIsBetter) {
  const { min_effect: least, noise_factor: factor } = rules;
  const ratio = now.value / base.value;
  const size = Math.abs(Math.log(ratio));
  const known = noises.filter((noise) => noise !== null && noise !== undefined);
  const noise = known.length === noises.length ? Math.hypot(...known) : NaN;
  const judged = Number.isFinite(noise);
  const significant =
    judged &&
    Number.isFinite(size) &&
    size >= Math.log1p(least) &&
    apart(base, now) &&
    !(size <= factor * noise);
  const better = ratio > 1 === higherIsBetter;
  const limit = Math.max(Math.log1p(least), factor * noise, intervalReach(base, now));
  return {
    ratio,
    visible: judged ? Math.expm1(limit) : NaN,
    inNoise: noise > 0 ? size / noise : NaN,
    verdict: significant ? (better ? "better" : "worse") : "same",
  };
}
