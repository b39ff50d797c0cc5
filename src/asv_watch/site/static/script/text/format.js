// Numbers, times and names as a person reads them.

const MINUS = "\u2212";
const THIN = "\u202f"; // narrow space that does not break
const SPACE = "\u00a0";

/** @typedef {[number, string][]} Steps from large to small */

/** @type {Steps} */
const SECONDS = [
  [1, "s"],
  [1e-3, "ms"],
  [1e-6, "µs"],
  [1e-9, "ns"],
];
/** @type {Steps} */
const PREFIXES = [
  [1e15, "P"],
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
];
/** @type {Steps} */
const WORDS = [
  [1e12, "trillion"],
  [1e9, "billion"],
];
/** @type {Steps} */
const BYTES = [
  [2 ** 30, "GiB"],
  [2 ** 20, "MiB"],
  [2 ** 10, "KiB"],
  [1, "B"],
];

/** Three significant digits without an exponent. @param {number} value */
const significant = (value) => {
  const size = Math.abs(Number(value.toPrecision(3))); // 0.9997 has the digits of 1
  if (size > 0 && size < 0.01)
    return value.toFixed(Math.min(12, 2 - Math.floor(Math.log10(size))));
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
};

/** @param {string} text */
const grouped = (text) => {
  const [whole = "", part] = text.split(".");
  const spaced = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, THIN) : whole;
  return part === undefined ? spaced : `${spaced}.${part}`;
};

/** @param {number} value */
const number = (value) => {
  const text = significant(Math.abs(value));
  return (value < 0 && Number(text) !== 0 ? MINUS : "") + grouped(text);
};

/**
 * @param {number} value
 * @param {Steps} steps
 */
const scaled = (value, steps) => {
  if (value === 0) return "0" + SPACE + (steps === SECONDS ? "s" : steps === BYTES ? "B" : "");
  const size = Math.abs(value);
  // 0.9995 of a step already rounds up to it: 999.7 µs is 1.00 ms.
  const largest = steps.find(([least]) => size >= least * 0.9995) ?? steps.at(-1);
  const [step, name] = /** @type {[number, string]} */ (largest);
  return number(value / step) + SPACE + name;
};

/**
 * A measured value with its unit: 5.62 ms, 1.05 GiB, 233 180 samples/s.
 * @param {number | null | undefined} value
 * @param {string} unit
 */
export function formatValue(value, unit) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (unit === "seconds" || unit === "s") return scaled(value, SECONDS);
  if (unit === "bytes") return scaled(value, BYTES);
  if (unit === "%" || unit === "percent") return number(value) + THIN + "%";
  if (unit === "FLOP" || unit === "FLOP/s") return scaled(value, PREFIXES) + unit;
  const [step, word] = WORDS.find(([least]) => Math.abs(value) >= least) ?? [1, ""];
  const text = value === 0 ? "0" : number(value / step) + (word && SPACE + word);
  return unit && unit !== "unit" && unit !== "ratio" ? text + SPACE + unit : text;
}

/**
 * A value at an axis, without idle zeros: 1 ms, not 1.00 ms.
 * @param {number} value
 * @param {string} unit
 */
export const formatTick = (value, unit) =>
  formatValue(value, unit)
    .replace(/(\.\d*?)0+(?=\D|$)/, "$1")
    .replace(/\.(?=\D|$)/, "");

/** A ratio less one as a signed percentage; from tenfold on as a factor. @param {number} ratio */
export function formatChange(ratio) {
  if (!Number.isFinite(ratio)) return "–";
  if (ratio >= 10) return `${number(ratio)}×`;
  const percent = (ratio - 1) * 100;
  const text = Math.abs(percent).toFixed(Math.abs(percent) >= 100 ? 0 : 1);
  if (Number(text) === 0) return "±0.0%";
  return `${percent < 0 ? MINUS : "+"}${text}%`;
}

/** A factor: 3.2×, 0.85×. @param {number} ratio */
export const formatFactor = (ratio) => (Number.isFinite(ratio) ? number(ratio) + "×" : "–");

/** @param {number} share */
const percentOf = (share) => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)}%`;

/** How far something reaches upwards: +1.2%. @param {number} share */
export const formatReach = (share) => (Number.isFinite(share) ? `+${percentOf(share)}` : "–");

/** A relative spread: ±1.2%. @param {number} share */
export const formatSpread = (share) => (Number.isFinite(share) ? `±${percentOf(share)}` : "–");

/** A whole number with thin separators. @param {number} value */
export const formatCount = (value) => grouped(String(value));

/**
 * "1 commit", "12 commits", "3 series".
 * @param {number} count
 * @param {string} noun
 */
export const plural = (count, noun) =>
  `${formatCount(count)} ${noun}${count === 1 || noun.endsWith("series") ? "" : "s"}`;

/** A date, as in 2025-10-30, of seconds since 1970 (UTC). @param {number} seconds */
export const formatDay = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10);

/** The time of day, as in 14:05 (UTC). @param {number} seconds */
export const formatTime = (seconds) => new Date(seconds * 1000).toISOString().slice(11, 16);

/** The short form of a hash. @param {string} hash */
export const shortHash = (hash) => hash.slice(0, 8);

/** The text with a capital first letter. @param {string} text */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** The geometric mean of positive numbers; NaN of none. @param {number[]} values */
export function geometricMean(values) {
  if (!values.length) return NaN;
  let sum = 0;
  for (const value of values) sum += Math.log(value);
  return Math.exp(sum / values.length);
}
