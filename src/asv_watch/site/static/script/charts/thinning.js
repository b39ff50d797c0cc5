// Fewer points and labels than there are: what pixels can show.

/**
 * Thins points, sorted by x, to what pixels can show: of all in one pixel column the first,
 * lowest, highest and last, so that no spike is lost.
 * @template T
 * @param {T[]} points
 * @param {(point: T) => number} x pixel
 * @param {(point: T) => number} y any measure of height
 * @param {number} width in pixels
 * @returns {T[]}
 */
export function thinPoints(points, x, y, width) {
  if (points.length <= width * 2) return points;
  /** @type {T[]} */
  const kept = [];
  /** @type {T[]} */
  let column = [];
  const flush = () => {
    if (!column.length) return;
    let [low, high] = [0, 0];
    const heights = column.map(y);
    heights.forEach((height, i) => {
      if (height < (heights[low] ?? height)) low = i;
      if (height > (heights[high] ?? height)) high = i;
    });
    const places = [0, Math.min(low, high), Math.max(low, high), column.length - 1];
    for (const i of new Set(places)) kept.push(/** @type {T} */ (column[i]));
    column = [];
  };
  let pixel = NaN;
  for (const point of points) {
    const here = Math.floor(x(point));
    if (here !== pixel) flush();
    pixel = here;
    column.push(point);
  }
  flush();
  return kept;
}

/**
 * Moves labels apart, keeping their order, so that each has `room` pixels.
 * @param {number[]} places
 * @param {number} room
 * @param {number} top
 * @param {number} bottom
 */
export function spreadLabels(places, room, top, bottom) {
  const order = places.map((place, i) => ({ place, i })).sort((a, b) => a.place - b.place);
  const result = places.map(() => 0);
  let last = top - room;
  for (const label of order) {
    label.place = Math.max(label.place, last + room);
    last = label.place;
  }
  let limit = bottom;
  for (const label of order.reverse()) {
    label.place = Math.min(label.place, limit);
    limit = label.place - room;
    result[label.i] = label.place;
  }
  return result;
}
