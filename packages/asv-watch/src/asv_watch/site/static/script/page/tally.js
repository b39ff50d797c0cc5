// What some ratios say together: how many are worse and how many better, their mean and range.

import { formatChange, formatInterval, geometricMean } from "../text/format.js";
import { muted } from "./elements.js";
import { changeSign } from "./signs.js";

/** @typedef {{ ratio: number, verdict: Verdict }} Counted */

/** @param {number[]} values */
function medianOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const [low = NaN, high = low] = sorted.slice((sorted.length - 1) >> 1, (sorted.length >> 1) + 1);
  return Math.sqrt(low * high);
}

/** @param {number[]} ratios @param {string} kind */
const sizeOf = (ratios, kind) =>
  ratios.length > 1
    ? `${formatInterval([Math.min(...ratios), Math.max(...ratios)])}, ` +
      `mean ${formatChange(geometricMean(ratios), kind)}`
    : formatChange(ratios[0] ?? 1, kind);

/**
 * Those that are worse, those that are better, and the mean and median of some of them.
 * @param {Counted[]} all
 * @param {string} kind of what is measured
 * @param {Counted[]} [meant] those that the mean is of; without it there is none
 */
export function tally(all, kind, meant = []) {
  const directions = /** @type {Verdict[]} */ (["worse", "better"]).flatMap((verdict) => {
    const ratios = all.flatMap((one) => (one.verdict === verdict ? [one.ratio] : []));
    if (!ratios.length) return [];
    return [
      changeSign({ verdict, text: `${ratios.length} ${verdict}: ${sizeOf(ratios, kind)}` }),
      " ",
    ];
  });
  const ratios = meant.map(({ ratio }) => ratio);
  if (!ratios.length) return directions;
  const left = all.length - meant.length;
  const mean = `mean ${formatChange(geometricMean(ratios), kind)}`;
  const median = `median ${formatChange(medianOf(ratios), kind)}`;
  const without = left ? `, without ${left} of other suites` : "";
  return [...directions, muted(`all ${ratios.length}: ${mean}, ${median}${without}`)];
}
