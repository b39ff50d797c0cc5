// From values to pixels: scales and the round numbers that stand at an axis.
(function (ts) {
  "use strict";

  const STEPS = [1, 2, 2.5, 5, 10];

  /** Round values from low to high, about `count` of them, spaced by 1, 2, 2.5 or 5 times a power of ten. */
  function roundTicks(low, high, count) {
    const rough = (high - low) / Math.max(1, count) || 1;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * STEPS.find((one) => one * power >= rough * 0.999);
    const ticks = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) ticks.push(i * step);
    return ticks;
  }

  /** The unit that values of this size are written in, as a factor: ms is 1e-3, MiB is 2^20. */
  function unitOf(value, unit) {
    if (unit === "bytes") return 1024 ** Math.max(0, Math.min(3, Math.floor(Math.log(value || 1) / Math.log(1024))));
    return 1;
  }

  /** A linear scale; ticks are round in the unit in which they are written. */
  ts.linearScale = function (low, high, from, to, unit = "") {
    if (!(high > low)) [low, high] = [low - Math.abs(low || 1) * 0.5, low + Math.abs(low || 1) * 0.5];
    const scale = (value) => from + ((value - low) / (high - low)) * (to - from);
    scale.ticks = (count) => {
      const factor = unitOf(Math.max(Math.abs(low), Math.abs(high)), unit);
      return roundTicks(low / factor, high / factor, count).map((tick) => tick * factor);
    };
    scale.invert = (pixel) => low + ((pixel - from) / (to - from)) * (high - low);
    scale.domain = [low, high];
    return scale;
  };

  /** A logarithmic scale of positive values. */
  ts.logScale = function (low, high, from, to, unit = "") {
    if (!(high > low)) [low, high] = [low / 1.5, low * 1.5];
    const [a, b] = [Math.log(low), Math.log(high)];
    const scale = (value) => from + ((Math.log(value) - a) / (b - a)) * (to - from);
    scale.ticks = (count) => {
      const base = unit === "bytes" ? 2 : 10;
      // Fewer and fewer ticks per power until they fit: 1-2-5, then 1-3, then powers alone, then every second power.
      const factor = base === 2 ? 1 : unitOf(low, unit);
      const patterns = base === 2 ? [[1]] : [[1, 1.5, 2, 3, 4, 5, 6, 8], [1, 2, 5], [1, 3], [1]];
      const powers = [];
      for (let p = Math.floor(a / Math.log(base)); p <= Math.ceil(b / Math.log(base)); p++) powers.push(p);
      const inside = (list) => list.filter((tick) => tick >= low * 0.9999 && tick <= high * 1.0001);
      for (const pattern of patterns) {
        const ticks = inside(powers.flatMap((p) => pattern.map((one) => factor * one * base ** p)));
        if (ticks.length <= count) {
          // In a narrow range round steps of a linear axis read better than two lonely ticks.
          return ticks.length >= 3 || high / low > 3 ? ticks : roundTicks(low, high, count).filter((tick) => tick > 0);
        }
      }
      let stride = 2;
      for (;;) {
        const ticks = inside(powers.filter((p) => p % stride === 0).map((p) => base ** p));
        if (ticks.length <= count) return ticks;
        stride += 1;
      }
    };
    scale.invert = (pixel) => Math.exp(a + ((pixel - from) / (to - from)) * (b - a));
    scale.domain = [low, high];
    return scale;
  };

  /**
   * Thins points, sorted by x, to what pixels can show: of all in one pixel column the first, lowest,
   * highest and last, so that no spike is lost. Returns places in `points`.
   */
  ts.thin = function (points, x, y, width) {
    const count = points.length;
    if (count <= width * 2) return points.map((_, i) => i);
    const kept = [];
    let start = 0;
    while (start < count) {
      const column = Math.floor(x(points[start]));
      let end = start;
      let low = start;
      let high = start;
      while (end < count && Math.floor(x(points[end])) === column) {
        if (y(points[end]) < y(points[low])) low = end;
        if (y(points[end]) > y(points[high])) high = end;
        end += 1;
      }
      for (const i of [...new Set([start, Math.min(low, high), Math.max(low, high), end - 1])]) kept.push(i);
      start = end;
    }
    return kept;
  };

  /** Moves labels apart, keeping their order, so that each has `room` pixels between `top` and `bottom`. */
  ts.spreadLabels = function (places, room, top, bottom) {
    const order = places.map((place, i) => ({ place, i })).sort((a, b) => a.place - b.place);
    const result = new Array(places.length);
    let last = top - room;
    for (const one of order) {
      one.place = Math.max(one.place, last + room);
      last = one.place;
    }
    let limit = bottom;
    for (const one of order.reverse()) {
      one.place = Math.min(one.place, limit);
      limit = one.place - room;
      result[one.i] = one.place;
    }
    return result;
  };
})(window.torchspeed);
