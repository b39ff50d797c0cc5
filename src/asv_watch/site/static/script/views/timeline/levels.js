// Lines relative to the newest level, or to that of a chosen commit: the data say how.

/** The stretch that a commit belongs to. @param {SeriesLine["stretches"]} stretches @param {CommitIndex} stop */
const stretchOf = (stretches, stop) =>
  stretches.findLast(([first]) => first <= stop) ?? stretches[0] ?? [0, 1, 0];

/**
 * The same lines as ratios. Where commits were compared, the line moves at measured changes only,
 * and runs are dots; else it goes through the runs.
 * @param {SeriesLine[]} lines
 * @param {CommitIndex} base commit that was chosen, or -1
 * @returns {SeriesLine[]}
 */
export const asLevels = (lines, base) =>
  lines.map((line) => {
    const { stretches, points } = line;
    const by = base < 0 ? 1 : stretchOf(stretches, base)[1];
    const steps = stretches.map(([stop, level]) => ({ stop, value: level / by }));
    const relative = points.flatMap((point) => {
      const value = (point.value * stretchOf(stretches, point.stop)[2]) / by;
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
