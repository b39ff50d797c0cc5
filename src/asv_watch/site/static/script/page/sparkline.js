// A line of recent values, the size of a word.

import { svg } from "./elements.js";

/**
 * Whether two values at least were measured under the same conditions.
 * @param {(number | null)[]} values
 * @param {number[]} cuts places at which other conditions begin
 */
export const hasCourse = (values, cuts) =>
  [0, ...cuts].some(
    (start, i) => values.slice(start, cuts[i]).filter((value) => value !== null).length > 1,
  );

/**
 * The path of a sparkline 120 wide and 24 high; the line spans what was not measured, and starts
 * anew where other conditions begin.
 * @param {(number | null)[]} values
 * @param {number[]} cuts
 */
export function sparkPath(values, cuts) {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b);
  if (known.length < 2) return ""; // a lone value has no course
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
    const y = (12 - height * 9).toFixed(1);
    path += `${command}${(2 + i * stride).toFixed(1)} ${y}`;
    command = "L";
  });
  return path;
}

/**
 * @param {(number | null)[]} values
 * @param {number[]} cuts
 */
export const sparkline = (values, cuts, verdict = "") =>
  svg(
    "svg",
    {
      class: `spark ${verdict}`,
      viewBox: "0 0 120 24",
      preserveAspectRatio: "none",
      "aria-hidden": "true",
      focusable: "false",
    },
    svg("path", { class: "line", d: sparkPath(values, cuts) }),
  );
