// What a line chart draws of each series: the line, its marks, intervals and measured changes.

import { svg } from "../page/elements.js";
import { fix, labelRow, markPath, SIGNS } from "./marks.js";

/** A skipped run interrupts nothing. @param {{ outcome: Outcome }} run */
export const interrupts = (run) => run.outcome !== "skipped";

/**
 * The line itself, interrupted where a run failed or other conditions began; a value alone is a
 * short dash.
 * @param {Line} line
 * @param {Plot} plot
 */
function linePath({ points, segments, others }, { x, y, frame }) {
  const breaks = [...segments, ...others.filter(interrupts).map((run) => run.stop)];
  /** Whether the line begins anew at a point, or ends before it. @param {number} i */
  const begins = (i) => {
    const [before, here] = [points[i - 1], points[i]];
    return !before || !here || breaks.some((stop) => stop > before.stop && stop <= here.stop);
  };
  return points
    .map(({ stop, value }, i) => {
      const top = fix(Math.max(frame.top, Math.min(frame.bottom, y(value))));
      if (!begins(i)) return `L${fix(x(stop))} ${top}`;
      return begins(i + 1) ? `M${fix(x(stop) - 3)} ${top}h6` : `M${fix(x(stop))} ${top}`;
    })
    .join("");
}

/** The line of a series that was compared: a level moves only where a change was measured. @param {Line} line @param {Plot} plot */
function stepPath({ steps = [], points }, { x, y, frame }) {
  /** @param {number} value */
  const top = (value) => fix(Math.max(frame.top, Math.min(frame.bottom, y(value))));
  const end = points.at(-1)?.stop;
  const [left, right] = [frame.left, end === undefined ? frame.right : x(end)];
  const before = steps.findLast(({ stop }) => x(stop) <= left) ?? steps[0];
  const inside = steps.filter(({ stop }) => x(stop) > left && x(stop) <= right);
  const start = points[0] ? Math.max(left, x(points[0].stop)) : left;
  const parts = inside.map(({ stop, value }) => `H${fix(x(stop))}V${top(value)}`);
  return before ? `M${fix(start)} ${top(before.value)}${parts.join("")}H${fix(right)}` : "";
}

/** @param {Line} line @param {boolean} small @param {number} inner width in pixels */
const isCrowded = ({ points }, small, inner) => small || points.length * 9 > inner;

/**
 * The intervals that a line shows: those of comparisons. That of a run says nothing about others.
 * @param {Line} line
 */
export const drawnIntervals = ({ points, steps }) =>
  points.flatMap(({ stop, interval, compared }) =>
    interval && compared && !steps ? [{ stop, ends: interval }] : [],
  );

/**
 * Measured steps with runs as faint dots; or, where nothing was compared, a line through the runs
 * with a mark at every point while they stay apart, else at some. Failures have a mark.
 * @param {Line} line
 * @param {Plot} plot
 * @param {boolean} small
 */
export function drawLine(line, plot, small) {
  const { x, y, inner, frame } = plot;
  const { points, steps } = line;
  const group = svg("g", { class: `${line.look} series`, "data-line": line.id });
  for (const run of line.others.filter(interrupts)) {
    const d = `M${fix(x(run.stop) - 3.5)} ${fix(frame.bottom - 9)}l7 7m0 -7l-7 7`;
    group.append(svg("path", { class: "fault", d, "data-tip": `${run.outcome}: ${run.reason}` }));
  }
  if (steps) {
    const seen = points.filter(({ value }) => y(value) >= frame.top && y(value) <= frame.bottom);
    const dots = seen.map(({ stop, value }) => `M${fix(x(stop))} ${fix(y(value))}h0`).join("");
    group.append(svg("path", { class: "runs", d: dots }));
    group.append(svg("path", { class: "line", d: stepPath(line, plot) }));
    return group;
  }
  group.append(svg("path", { class: "line", d: linePath(line, plot) }));
  const crowded = isCrowded(line, small, inner);
  const whiskers = drawnIntervals(line).map(
    ({ stop, ends: [low, high] }) => `M${fix(x(stop))} ${fix(y(low))}V${fix(y(high))}`,
  );
  if (whiskers.length) group.append(svg("path", { class: "whisker", d: whiskers.join("") }));
  const stride = crowded ? Math.ceil((points.length * 90) / inner) : 1;
  const first = Math.floor((stride - 1) / 2);
  const marked = points.filter((_, i) => i >= first && (i - first) % stride === 0);
  const d = marked.map(({ stop, value }) => markPath(line.shape, x(stop), y(value))).join("");
  if (d && !small) group.append(svg("path", { class: "dot", d }));
  return group;
}

/**
 * Each measured change: its size above the lines, and a thin line down to the step.
 * @param {Line[]} lines
 * @param {number} top of the labels
 * @param {Plot} plot
 */
export function drawChanges(lines, top, { x, y, frame }) {
  const changes = lines.flatMap((line) => line.changes.map((change) => ({ line, change })));
  changes.sort((a, b) => a.change.c - b.change.c);
  const labels = changes.map(({ change: { c, text, verdict } }) => ({
    x: x(c),
    text: `${SIGNS[verdict]}${text}`,
    look: `moved ${verdict}`,
  }));
  const paths = changes.flatMap(({ line: { steps, points }, change: { c, verdict } }) => {
    const step = steps?.findLast(({ stop }) => stop <= c) ?? points.find(({ stop }) => stop >= c);
    if (!step) return [];
    const d = `M${fix(x(steps ? step.stop : c))} ${fix(frame.top)}V${fix(y(step.value))}`;
    return [svg("path", { class: `moved ${verdict}`, d })];
  });
  return [...paths, ...labelRow(labels, top + 10, frame)];
}
