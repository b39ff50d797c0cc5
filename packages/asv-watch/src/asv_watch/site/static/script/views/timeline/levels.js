// Lines relative to the newest level: the data say how.

/** The stretch that a commit belongs to. @param {SeriesLine["stretches"]} stretches @param {CommitIndex} stop */
const stretchOf = (stretches, stop) =>
  stretches.findLast(([first]) => first <= stop) ?? stretches[0] ?? [0, 1, 0];

/**
 * The same lines as ratios. Where commits were compared, the line moves at measured changes only,
 * and runs are dots; else it goes through the runs.
 * @param {SeriesLine[]} lines
 * @returns {SeriesLine[]}
 */
export const asLevels = (lines) =>
  lines.map((line) => {
    const { stretches, points } = line;
    const steps = stretches.map(([stop, value]) => ({ stop, value }));
    const relative = points.flatMap((point) => {
      const value = point.value * stretchOf(stretches, point.stop)[2];
      return value > 0 ? [{ ...point, value, interval: null }] : [];
    });
    return { ...line, points: relative, ...(line.compared.length ? { steps } : {}) };
  });

/**
 * Lines of values, without the measured changes that separate runs do not show: the ratios
 * show those.
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
