// From values to pixels: scales and the round numbers that stand at an axis.

const STEPS = [1, 2, 5, 10];

/**
 * About `count` values from low to high, spaced by 1, 2 or 5 times a power of ten of the unit
 * in which they are written: MiB is 2^20.
 * @param {number} low
 * @param {number} high
 * @param {number} count
 * @param {string} unit
 */
function roundTicks(low, high, count, unit) {
  const size = Math.max(1, Math.abs(low), Math.abs(high));
  const power = Math.min(3, Math.floor(Math.log(size) / Math.log(1024)));
  const factor = unit === "bytes" ? 1024 ** power : 1;
  const rough = (high - low) / factor / Math.max(1, count) || 1;
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = factor * ten * (STEPS.find((times) => times * ten >= rough * 0.999) ?? 10);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

/**
 * A linear scale.
 * @param {number} low
 * @param {number} high
 * @param {number} from pixel of low
 * @param {number} to pixel of high
 * @returns {AxisScale}
 */
export function linearScale(low, high, from, to, unit = "") {
  if (!(high > low)) {
    const half = Math.abs(low || 1) * 0.5;
    [low, high] = [low - half, low + half];
  }
  /** @param {number} value */
  const scale = (value) => from + ((value - low) / (high - low)) * (to - from);
  /** @param {number} count */
  const ticks = (count) => roundTicks(low, high, count, unit);
  return Object.assign(scale, { ticks, domain: /** @type {[number, number]} */ ([low, high]) });
}

/** Ticks within a power of ten, from many to few. */
const PATTERNS = [[1, 1.5, 2, 3, 4, 5, 6, 8], [1, 2, 5], [1, 3], [1]];

/**
 * At most `count` ticks of a logarithmic axis: 1-2-5, then 1-3, then powers alone, then every
 * second power, and so on.
 * @param {number} low
 * @param {number} high
 * @param {number} count
 * @param {string} unit
 */
function logTicks(low, high, count, unit) {
  const base = unit === "bytes" ? 2 : 10;
  /** @type {number[]} */
  const powers = [];
  const last = Math.ceil(Math.log(high) / Math.log(base));
  for (let p = Math.floor(Math.log(low) / Math.log(base)); p <= last; p++) powers.push(p);
  /** @param {number[]} list */
  const inside = (list) => list.filter((tick) => tick >= low * 0.9999 && tick <= high * 1.0001);
  for (const pattern of base === 2 ? [[1]] : PATTERNS) {
    const ticks = inside(powers.flatMap((p) => pattern.map((factor) => factor * base ** p)));
    if (ticks.length > count) continue;
    // In a narrow range round steps of a linear axis read better than two lonely ticks.
    if (ticks.length >= 3 || high / low > 3) return ticks;
    return roundTicks(low, high, count, unit).filter((tick) => tick > 0);
  }
  for (let stride = 2; ; stride++) {
    const ticks = inside(powers.filter((p) => p % stride === 0).map((p) => base ** p));
    if (ticks.length <= count) return ticks;
  }
}

/**
 * A logarithmic scale of positive values.
 * @param {number} low
 * @param {number} high
 * @param {number} from pixel of low
 * @param {number} to pixel of high
 * @returns {AxisScale}
 */
export function logScale(low, high, from, to, unit = "") {
  if (!(high > low)) [low, high] = [low / 1.5, low * 1.5];
  const [a, b] = [Math.log(low), Math.log(high)];
  /** @param {number} value */
  const scale = (value) => from + ((Math.log(value) - a) / (b - a)) * (to - from);
  /** @param {number} count */
  const ticks = (count) => logTicks(low, high, count, unit);
  return Object.assign(scale, { ticks, domain: /** @type {[number, number]} */ ([low, high]) });
}
