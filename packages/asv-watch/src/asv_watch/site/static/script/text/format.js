// Numbers that the script works out itself: at axes, under the cursor, of two sides, and means. They
// are written as asv_watch/text/quantities.py writes them, and a test compares the two.

const MINUS = "\u2212";

/**
 * A number with so many digits, and commas between thousands.
 * @param {number} value
 */
export function digits(value, significant = 3) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e15 || size < 1e-6) return value.toExponential(significant - 1);
  return value.toLocaleString("en", {
    minimumSignificantDigits: significant,
    maximumSignificantDigits: significant,
    maximumFractionDigits: 0,
    roundingPriority: "morePrecision",
  });
}

/**
 * A measured value with its unit: 5.62 ms, 1.05 GiB.
 * @param {number | null | undefined} value
 * @param {Pick<Metric, "scale">} metric
 */
export function formatValue(value, { scale }) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value) || 1;
  const step = scale.find(([factor]) => size >= factor * 0.9995) ?? scale.at(-1);
  const [factor, name] = step ?? [1, ""];
  return `${digits(value / factor)} ${name}`.trim();
}

/** @param {number} ratio @param {number} decimals */
function percent(ratio, decimals) {
  const text = Math.abs((ratio - 1) * 100).toFixed(decimals);
  const sign = Number(text) === 0 ? "±" : ratio < 1 ? MINUS : "+";
  return `${sign}${text} %`;
}

/**
 * A ratio as a signed change, or in words from doubling and halving on.
 * @param {number} ratio
 * @param {string} [kind] of what is measured
 */
export function formatChange(ratio, kind = "time") {
  if (!Number.isFinite(ratio)) return "–";
  if (ratio > 0.5 && ratio < 2) return percent(ratio, 1);
  return `${digits(ratio, 2)} times as ${kind === "time" ? "long" : "much"}`;
}

/**
 * The ends of a ratio's interval, always per cent; a ratio of CPU time names it.
 * @param {[number, number]} ends
 * @param {"" | "process"} [clock]
 */
export function formatInterval(ends, clock = "") {
  const named = clock === "process" ? ", CPU time" : "";
  return `${ends.map((end) => percent(end, 1).replace(" %", "")).join(" to ")} %${named}`;
}

/** A ratio at an axis: −10 %, 0 %, 2×. @param {number} ratio */
export function formatRatioTick(ratio) {
  if (Math.abs(ratio - 1) < 1e-9) return "0 %";
  if (ratio <= 0.5 || ratio >= 2) return `${Number(ratio.toPrecision(2))}×`;
  const size = (ratio - 1) * 100;
  return percent(ratio, Math.abs(size - Math.round(size)) < 0.01 ? 0 : 1);
}

/** A whole number with commas. @param {number} value */
export const formatCount = (value) => value.toLocaleString("en");

/**
 * "1 commit", "12 commits", "3 series".
 * @param {number} count
 * @param {string} noun
 */
export const plural = (count, noun) =>
  `${formatCount(count)} ${noun}${count === 1 || noun.endsWith("series") ? "" : "s"}`;

/** A date, as in 2025-10-30, of seconds since 1970 (UTC). @param {number} seconds */
export const formatDay = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10);

/** The short form of a hash. @param {string} hash */
export const shortHash = (hash) => hash.slice(0, 8);

/** The text with a capital first letter. @param {string} text */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
