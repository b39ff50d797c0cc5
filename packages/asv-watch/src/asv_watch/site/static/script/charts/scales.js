// From ratios to pixels: a logarithmic scale, and the round numbers that stand at its axis.

const STEPS = [1, 2, 5, 10];

/**
 * About `count` values from low to high, spaced by 1, 2 or 5 times a power of ten.
 * @param {number} low
 * @param {number} high
 * @param {number} count
 */
function roundTicks(low, high, count) {
  const rough = (high - low) / count;
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = ten * (STEPS.find((times) => times * ten >= rough * 0.999) ?? 10);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

/** Ticks within a power of ten, from many to few. */
const PATTERNS = [[1, 1.5, 2, 3, 4, 5, 6, 8], [1, 2, 5], [1, 3], [1]];

/**
 * About `count` ticks of a logarithmic axis: round steps in a narrow range; else 1-2-5, 1-3, or some
 * powers of ten alone.
 * @param {number} low
 * @param {number} high
 * @param {number} count
 */
function logTicks(low, high, count) {
  if (high / low <= 3) return roundTicks(low, high, count);
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const powers = Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
  const stride = Math.ceil(powers.length / count);
  const tries = PATTERNS.map((pattern) => powers.flatMap((ten) => pattern.map((x) => x * ten)));
  return (
    [...tries, powers.filter((_, i) => i % stride === 0)]
      .map((ticks) => ticks.filter((tick) => tick >= low * 0.9999 && tick <= high * 1.0001))
      .find((ticks, i) => ticks.length <= count || i === tries.length) ?? []
  );
}

/**
 * A logarithmic scale of positive values.
 * @param {number} low
 * @param {number} high
 * @param {number} from pixel of low
 * @param {number} to pixel of high
 * @returns {AxisScale}
 */
export function logScale(low, high, from, to) {
  const [a, b] = [Math.log(low), Math.log(high)];
  /** @param {number} value */
  const scale = (value) => from + ((Math.log(value) - a) / (b - a)) * (to - from);
  /** @param {number} count */
  const ticks = (count) => logTicks(low, high, count);
  return Object.assign(scale, { ticks });
}
