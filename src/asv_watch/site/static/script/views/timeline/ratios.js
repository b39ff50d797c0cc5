// Lines as ratios: comparisons give the size of changes, separate runs what lies between them.

/** First values of which the median is a base where nothing was compared. */
const BASE_VALUES = 5;

/** @param {Point[]} points */
function medianOf(points) {
  const values = points.map(({ value }) => value).sort((a, b) => a - b);
  return values[values.length >> 1] ?? NaN;
}

/**
 * The run of a commit, or the median of it and its neighbours under the same conditions, so that
 * one run that is far off does not move the line on both sides of it.
 * @param {Point[]} runs oldest first
 * @param {number[]} segments
 * @param {number} at
 */
function steadyRun(runs, segments, at) {
  const place = runs.findIndex((run) => run.at === at);
  const own = runs[place];
  if (!own) return null;
  const segmentOf = (/** @type {Point} */ run) => segments.findLast((first) => first <= run.at);
  const near = runs
    .slice(Math.max(place - 1, 0), place + 2)
    .filter((run) => segmentOf(run) === segmentOf(own));
  return near.length === 3 ? medianOf(near) : own.value;
}

/**
 * The course of a line. A compared commit has its measured ratio. A run is drawn relative to the
 * compared run before it. Where other conditions begin, the line goes on where it ended.
 * @param {SeriesLine} line
 * @returns {Point[]}
 */
function joinedPoints({ values, joined, segments }) {
  const compared = new Map(joined.map((ratio) => [ratio.at, ratio]));
  const places = [...new Set([...values.keys(), ...compared.keys()])].sort((a, b) => a - b);
  const runs = [...values.values()].sort((a, b) => a.at - b.at);
  /** What the ratios of a part are multiplied by. @type {Map<number, number>} */
  const factors = new Map();
  let level = 1;
  /** The value at the level, until other conditions begin. @type {number | null} */
  let base = null;
  /** @type {Point[]} */
  const course = [];
  for (const at of places) {
    const ratio = compared.get(at);
    const run = ratio ? steadyRun(runs, segments, at) : (values.get(at)?.value ?? null);
    const start = segments.findLast((first) => first <= at) ?? -Infinity;
    const last = course.at(-1);
    if (last && last.at < start) [level, base] = [last.value, null];
    base ??= run;
    const expected = run && base ? (level * run) / base : level;
    if (!ratio) {
      course.push({ at, value: expected, interval: null });
      continue;
    }
    const factor = factors.get(ratio.part) ?? expected / ratio.value;
    factors.set(ratio.part, factor);
    level = ratio.value * factor;
    base = run;
    const [low, high] = ratio.interval ?? [ratio.value, ratio.value];
    course.push({
      at,
      value: level,
      interval: [low * factor, high * factor],
      compared: true,
      machine: ratio.machine,
    });
  }
  return course;
}

/** Kept, because every visit draws the same ones. @type {WeakMap<Point[], Point[]>} */
const courses = new WeakMap();

/**
 * The same lines as ratios: to a chosen commit, else to the commit that the others were compared
 * with, else to the first values in view.
 * @param {SeriesLine[]} lines
 * @param {CommitIndex} from first commit in view
 * @param {CommitIndex} base commit that was chosen, or -1
 * @returns {SeriesLine[]}
 */
export function asRatios(lines, from, base) {
  return lines.map((line) => {
    const points = courses.get(line.points) ?? joinedPoints(line);
    courses.set(line.points, points);
    const root = line.joined.find(({ part, value }) => part === 0 && value === 1)?.at;
    const chosen = points.find(({ at }) => at === (base < 0 ? root : base))?.value;
    const inView = points.filter(({ at }) => at >= from);
    const by = chosen ?? medianOf(inView.slice(0, BASE_VALUES));
    return {
      ...line,
      points: points.map(({ interval, value, ...point }) => ({
        ...point,
        value: value / by,
        interval: interval && [interval[0] / by, interval[1] / by],
      })),
    };
  });
}

/**
 * Lines of values, without the measured changes that separate runs do not show: those are told
 * by the ratios.
 * @param {SeriesLine[]} lines
 * @returns {SeriesLine[]}
 */
export const asValues = (lines) =>
  lines.map((line) => ({
    ...line,
    changes: line.changes.filter(({ p, c, ratio }) => {
      const [before, after] = [line.values.get(p)?.value, line.values.get(c)?.value];
      return before && after && ratio && after > before === ratio > 1;
    }),
  }));
