// What a line chart draws of each series: the line, its marks, intervals and measured changes.

import { svg } from "../page/elements.js";
import { fix, markPath, SIGNS } from "./marks.js";

/** A skipped run interrupts nothing. @param {{ outcome: Outcome }} run */
export const interrupts = (run) => run.outcome !== "skipped";

/**
 * The line itself, interrupted where a run failed; a value alone is a short dash. What joins values
 * of different conditions that were not compared is a path of its own.
 * @param {Line} line
 * @param {Plot} plot
 */
function linePaths({ points, segments, others }, { x, y, frame }) {
  const failed = others.filter(interrupts).map((run) => run.at);
  /** Whether one of some places lies between a point and the one before it. @param {number[]} places @param {number} i */
  const parted = (places, i) =>
    places.some((at) => at > (points[i - 1]?.at ?? 0) && at <= (points[i]?.at ?? 0));
  let [solid, dotted, before] = ["", "", ""];
  points.forEach(({ at, value, compared }, i) => {
    const top = fix(Math.max(frame.top, Math.min(frame.bottom, y(value))));
    const here = `${fix(x(at))} ${top}`;
    const ends = i === points.length - 1 || parted(failed, i + 1);
    if (!i || parted(failed, i)) solid += ends ? `M${fix(x(at) - 3)} ${top}h6` : `M${here}`;
    else if (parted(segments, i) && !(compared && points[i - 1]?.compared)) {
      dotted += `M${before}L${here}`;
      solid += `M${here}`;
    } else solid += `L${here}`;
    before = here;
  });
  return [
    svg("path", { class: "line", d: solid }),
    dotted ? svg("path", { class: "line assumed", d: dotted }) : "",
  ];
}

/**
 * The line with a mark at every point while they stay apart, else at some, for their shape, and at
 * each failure. A small chart marks compared points alone.
 * @param {Line} line
 * @param {Plot} plot
 * @param {boolean} small
 */
export function drawLine(line, plot, small) {
  const { x, y, inner, frame } = plot;
  const { points } = line;
  const group = svg("g", { class: `${line.look} series`, "data-line": line.id });
  group.append(...linePaths(line, plot));
  for (const run of line.others.filter(interrupts)) {
    const d = `M${fix(x(run.at) - 3.5)} ${fix(frame.bottom - 9)}l7 7m0 -7l-7 7`;
    group.append(svg("path", { class: "fault", d, "data-tip": `${run.outcome}: ${run.reason}` }));
  }
  const crowded = small || points.length * 9 > inner;
  /** @param {number} value */
  const clip = (value) => fix(Math.max(frame.top, Math.min(frame.bottom, y(value))));
  const whiskers = points.flatMap(({ at, interval, compared }) =>
    interval && (compared || !crowded)
      ? [`M${fix(x(at))} ${clip(interval[0])}V${clip(interval[1])}`]
      : [],
  );
  if (whiskers.length) group.append(svg("path", { class: "whisker", d: whiskers.join("") }));
  const stride = crowded ? Math.ceil((points.length * 90) / inner) : 1;
  const first = Math.floor((stride - 1) / 2);
  const marked = points.filter((_, i) => i >= first && (i - first) % stride === 0);
  const d = marked.map(({ at, value }) => markPath(line.shape, x(at), y(value))).join("");
  if (d && !small) group.append(svg("path", { class: "dot", d }));
  return group;
}

/**
 * Each measured change at the first value after it, with its size and a line back to the commit it
 * was compared with. Sizes do not cover each other.
 * @param {Line[]} lines
 * @param {Plot} plot
 */
export function drawChanges(lines, { x, y, frame }) {
  /** @type {{ middle: number, base: number, half: number }[]} */
  const taken = [];
  const changes = lines.flatMap((line) => line.changes.map((change) => ({ line, change })));
  return changes.flatMap(({ line, change }) => {
    const point = line.points.find(({ at }) => at >= change.c);
    if (!point) return [];
    const [left, top] = [x(point.at), y(point.value)];
    const above = top > frame.top + 26;
    const half = change.text.length * 3.6 + 8;
    const middle = Math.max(frame.left + half, Math.min(left, frame.right - half));
    const start = Math.max(frame.left, x(change.p));
    const [from, to] = above ? [top - 6, top - 13] : [top + 6, top + 13];
    let base = above ? top - 16 : top + 24;
    /** @param {{ middle: number, base: number, half: number }} other */
    const covers = (other) =>
      Math.abs(other.middle - middle) < other.half + half && Math.abs(other.base - base) < 13;
    while (taken.some(covers)) base += above ? -13 : 13;
    taken.push({ middle, base, half });
    return [
      svg("path", {
        class: `moved ${change.verdict}`,
        d: `M${fix(left)} ${fix(from)}V${fix(to)}M${fix(left)} ${fix(to)}H${fix(start)}`,
      }),
      svg(
        "text",
        {
          class: `moved ${change.verdict}`,
          x: fix(middle),
          y: fix(base),
          "text-anchor": "middle",
        },
        `${SIGNS[change.verdict]}${change.text}`,
      ),
    ];
  });
}
