// The chart of values over commits, dates or torch releases: lines with their bands, levels,
// tags, environment events and failures. It draws; who calls decides what.
(function (ts) {
  "use strict";
  const { svg } = ts;

  const SHAPES = [
    (x, y) => `M${x - 3.5} ${y}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0Z`,
    (x, y) => `M${x - 3.2} ${y - 3.2}h6.4v6.4h-6.4Z`,
    (x, y) => `M${x} ${y - 4.4}l4.2 7.6h-8.4Z`,
    (x, y) => `M${x} ${y - 4.6}l4.6 4.6l-4.6 4.6l-4.6 -4.6Z`,
    (x, y) => `M${x} ${y + 4.4}l4.2 -7.6h-8.4Z`,
    (x, y) => `M${x - 4} ${y - 1.4}h2.6v-2.6h2.8v2.6h2.6v2.8h-2.6v2.6h-2.8v-2.6h-2.6Z`,
  ];
  /** The path of a mark: six shapes, in turn, tell lines of one hue and dash apart. */
  ts.markPath = (shape, x, y) => SHAPES[shape % SHAPES.length](Number(x.toFixed(1)), Number(y.toFixed(1)));

  const fix = (pixel) => pixel.toFixed(1);

  function linePath(points, x, y, breaks) {
    let path = "";
    let from = -Infinity;
    points.forEach((point) => {
      const broken = path === "" || breaks.some((at) => at > from && at < point.at);
      path += `${broken ? "M" : "L"}${fix(x(point))} ${fix(y(point))}`;
      from = point.at;
    });
    return path;
  }

  function bandPath(points, x, low, high) {
    if (points.length < 2) return "";
    let path = "M";
    for (const point of points) path += `${fix(x(point))} ${fix(high(point))}L`;
    for (let i = points.length - 1; i >= 0; i--) path += `${fix(x(points[i]))} ${fix(low(points[i]))}${i ? "L" : "Z"}`;
    return path;
  }

  /** Points of a band, thinned: of every pixel column the widest reach. */
  function bandPoints(points, key, x, width) {
    const spread = points.filter((point) => point[key]);
    if (spread.length <= width) return spread.map((point) => ({ x: x(point), low: point[key][0], high: point[key][1] }));
    const columns = new Map();
    for (const point of spread) {
      const column = Math.round(x(point));
      const there = columns.get(column);
      if (!there) columns.set(column, { x: column, low: point[key][0], high: point[key][1] });
      else {
        there.low = Math.min(there.low, point[key][0]);
        there.high = Math.max(there.high, point[key][1]);
      }
    }
    return [...columns.values()];
  }

  /**
   * Draws into an <svg>.
   * lines: [{device, pass, shape, label, points: [{at, value, interval, quartiles}], others, levels}], values ready for the y axis.
   * options: {width, height, place(at) → x in domain units, domain: [first, last], y: "linear"|"log"|"relative", unit,
   *   ticks: [{at, text}], tags: [{at, text}], events: [{at, text}], bands: Set, levels: bool, labels: bool, small: bool}
   * Returns {x(at), y(value), frame}.
   */
  ts.drawLines = function (root, lines, options) {
    const { width, height, domain, small = false } = options;
    const withLabels = options.labels && width > 620;
    const left = small ? 52 : 66;
    const longest = Math.max(0, ...lines.map((line) => line.label?.length ?? 0));
    const right = withLabels ? Math.min(210, longest * 7.4 + 22) : small ? 6 : 14;
    const top = small ? 8 : 30;
    const bottom = small ? 18 : 46;
    const frame = { left, top, right: width - right, bottom: height - bottom };
    const inner = frame.right - frame.left;

    const span = domain[1] - domain[0];
    const x = span > 0 ? (at) => frame.left + ((options.place(at) - domain[0]) / span) * inner : () => frame.left + inner / 2;
    const within = (point) => {
      const place = options.place(point.at);
      return place >= domain[0] - 1e-9 && place <= domain[1] + 1e-9;
    };

    // Bands do not set the range: a wild interval of one point must not flatten every line.
    let low = Infinity;
    let high = -Infinity;
    const seen = lines.map((line) => ({ ...line, points: line.points.filter(within), others: (line.others ?? []).filter(within) }));
    for (const line of seen) {
      for (const point of line.points) {
        if (point.value < low) low = point.value;
        if (point.value > high) high = point.value;
      }
    }
    if (low > high) [low, high] = options.y === "relative" ? [0.95, 1.05] : [1e-3, 1e-2];
    let y;
    const format = options.y === "relative" ? (value) => (value === 1 ? "0%" : ts.change(value).replace(".0%", "%")) : (value) => ts.tick(value, options.unit);
    if (options.y === "log" && low > 0) {
      const pad = Math.max(Math.log(high / low) * 0.06, 0.02);
      y = ts.logScale(low * Math.exp(-pad), high * Math.exp(pad), frame.bottom, frame.top, options.unit);
    } else if (options.y === "relative") {
      [low, high] = [Math.min(low, 0.97), Math.max(high, 1.03)];
      const scale = high / low > 4 && low > 0 ? ts.logScale : ts.linearScale;
      const pad = scale === ts.logScale ? (high / low) ** 0.06 : 1;
      const room = scale === ts.logScale ? 0 : (high - low) * 0.07;
      y = scale(low / pad - room, high * pad + room, frame.bottom, frame.top);
    } else {
      // A linear axis of positive values starts at zero, so that heights may be compared.
      y = ts.linearScale(Math.min(0, low), high * 1.06, frame.bottom, frame.top, options.unit);
    }

    const parts = [];
    const tickCount = Math.max(2, Math.round((frame.bottom - frame.top) / (small ? 34 : 52)));
    for (const tick of y.ticks(tickCount)) {
      const at = Math.round(y(tick)) + 0.5;
      if (at < frame.top - 1 || at > frame.bottom + 1) continue;
      parts.push(svg("line", { class: options.y === "relative" && Math.abs(tick - 1) < 1e-9 ? "one" : "gridline", x1: frame.left, x2: frame.right, y1: at, y2: at }));
      parts.push(svg("text", { x: frame.left - 8, y: at + 4, "text-anchor": "end" }, format(tick)));
    }
    parts.push(svg("line", { class: "axis", x1: frame.left, x2: frame.right, y1: frame.bottom + 0.5, y2: frame.bottom + 0.5 }));
    let lastEnd = -Infinity;
    for (const tick of options.ticks ?? []) {
      const at = x(tick.at);
      const half = tick.text.length * 3.4;
      const middle = Math.max(frame.left + half - (small ? 0 : 30), Math.min(at, frame.right - half + (small ? 0 : 12)));
      if (middle - half < lastEnd + 12) continue;
      lastEnd = middle + half;
      parts.push(svg("text", { x: fix(middle), y: frame.bottom + (small ? 14 : 20), "text-anchor": "middle" }, tick.text));
      parts.push(svg("line", { class: "axis", x1: fix(at), x2: fix(at), y1: frame.bottom, y2: frame.bottom + 4 }));
    }
    lastEnd = -Infinity;
    for (const tag of options.tags ?? []) {
      if (!within(tag)) continue;
      const at = x(tag.at);
      parts.push(svg("line", { class: "tagline", x1: fix(at), x2: fix(at), y1: frame.top - 6, y2: frame.bottom }));
      const half = tag.text.length * 3.4;
      if (at - half < lastEnd + 6) continue;
      lastEnd = at + half;
      parts.push(svg("text", { x: fix(at), y: frame.top - 12, "text-anchor": "middle" }, tag.text));
    }
    for (const event of options.events ?? []) {
      if (!within(event)) continue;
      const at = x(event.at);
      parts.push(svg("line", { class: "eventline", x1: fix(at), x2: fix(at), y1: frame.top, y2: frame.bottom + 26 }));
      parts.push(svg("path", { class: "event", d: ts.markPath(3, at, frame.bottom + 32) }, svg("title", {}, event.text)));
    }

    const layers = { bands: [], levels: [], lines: [], marks: [] };
    const ends = [];
    for (const line of seen) {
      const classes = `${ts.markClass(line.device, line.pass)} series`;
      const px = (point) => x(point.at);
      const py = (point) => y(point.value);
      for (const band of ["interval", "quartiles"]) {
        if (!options.bands?.has(band)) continue;
        const clip = (value) => Math.max(frame.top, Math.min(frame.bottom, y(Math.max(value, y.domain[0]))));
        const points = bandPoints(line.points, band, px, inner);
        const d = bandPath(points, (p) => p.x, (p) => clip(p.low), (p) => clip(p.high));
        if (d) layers.bands.push(svg("path", { class: `${classes} ${band}`, d }));
      }
      if (options.levels) {
        for (const level of line.levels ?? []) {
          const first = Math.max(options.place(level.first), domain[0]);
          const last = Math.min(options.place(level.last), domain[1]);
          if (last < first) continue;
          const at = (place) => (span > 0 ? frame.left + ((place - domain[0]) / span) * inner : frame.left + inner / 2);
          layers.levels.push(svg("path", { class: `${classes} level`, d: `M${fix(at(first) - (first === last ? 4 : 0))} ${fix(y(level.level))}H${fix(at(last) + (first === last ? 4 : 0))}` }));
        }
      }
      const breaks = line.others.filter((run) => run.outcome !== "skipped").map((run) => run.at);
      const kept = ts.thin(line.points, px, (point) => point.value, inner).map((i) => line.points[i]);
      const group = svg("g", { class: classes, "data-line": line.id });
      group.append(svg("path", { class: "line", d: linePath(kept, px, py, breaks) }));
      if (small && line.points.length === 1) group.append(svg("path", { class: "dot", d: ts.markPath(0, px(line.points[0]), py(line.points[0])) }));
      if (!small) {
        for (const run of line.others) {
          if (run.outcome === "skipped") continue;
          const at = x(run.at);
          group.append(svg("path", { class: "fault", d: `M${fix(at - 3.5)} ${frame.bottom - 9}l7 7m0 -7l-7 7` }, svg("title", {}, `${run.outcome}: ${run.reason}`)));
        }
        // Marks at every point while they stay apart, else at some, for their shape.
        const stride = line.points.length * 9 <= inner ? 1 : Math.ceil((line.points.length * 90) / inner);
        let d = "";
        for (let i = Math.floor((stride - 1) / 2); i < line.points.length; i += stride) d += ts.markPath(line.shape ?? 0, px(line.points[i]), py(line.points[i]));
        if (d) group.append(svg("path", { class: "dot", d }));
        if (options.whiskers) {
          let whiskers = "";
          for (const point of line.points) if (point.interval) whiskers += `M${fix(px(point))} ${fix(y(Math.max(point.interval[0], y.domain[0])))}V${fix(y(point.interval[1]))}`;
          if (whiskers) group.append(svg("path", { class: "whisker", d: whiskers }));
        }
      }
      layers.lines.push(group);
      const final = line.points.at(-1);
      if (withLabels && final) ends.push({ line, classes, at: py(final) });
    }
    parts.push(...layers.bands, ...layers.levels, ...layers.lines);
    if (withLabels) {
      const places = ts.spreadLabels(ends.map((end) => end.at), 15, frame.top + 4, frame.bottom - 2);
      ends.forEach((end, i) => {
        const text = end.line.label.length > 25 ? end.line.label.slice(0, 24) + "…" : end.line.label;
        parts.push(svg("text", { class: `${end.classes} end`, x: frame.right + 10, y: fix(places[i] + 4) }, text));
      });
    }
    root.setAttribute("viewBox", `0 0 ${width} ${height}`);
    root.replaceChildren(...parts);
    return { x, y, frame };
  };
})(window.torchspeed);
