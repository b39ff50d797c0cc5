// Charts of one figure per mark: dots on lines on a logarithmic axis, bars from zero or from 1×,
// and one figure against another.
(function (ts) {
  "use strict";
  const { svg } = ts;

  const LINE = 15;
  const GAP = 12;
  const fix = (pixel) => pixel.toFixed(1);
  const textWidth = (text, size = 12) => text.length * size * 0.6;

  /**
   * Rows of marks.
   * rows: [{label, marks: [{value, interval, device, pass, shape, text, published, title}, {missing: why}, or null]}].
   * options: {width, scale: "log"|"linear", from: 0|1|null (bars from there; null draws dots), unit, tick(value)}.
   */
  ts.drawMarks = function (root, rows, options) {
    const narrow = options.width < 560;
    const longest = Math.max(...rows.map((row) => textWidth(row.label, 13)), 40);
    const left = Math.min(longest + 16, options.width * (narrow ? 0.34 : 0.26));
    const room = Math.max(...rows.flatMap((row) => row.marks.map((mark) => (mark?.text ? textWidth(mark.text) : 0))), 30) + 12;
    const values = rows.flatMap((row) => row.marks.filter((mark) => mark && !mark.missing).map((mark) => mark.value));
    let low = Math.min(...values);
    let high = Math.max(...values);
    if (!values.length) [low, high] = [1, 10];
    const right = options.width - 10 - room;
    let x;
    if (options.scale === "linear") x = ts.linearScale(0, high, left, right, options.unit);
    else {
      if (options.from === 1) [low, high] = [Math.min(low, 1), Math.max(high, 1)];
      const pad = options.from === 1 ? 1.04 : Math.max(1.15, (high / low) ** 0.04);
      x = ts.logScale(low / pad, high * pad, left + (options.from === 1 && low < 1 ? room : 0), right, options.unit);
    }

    const parts = [];
    const marks = [];
    let y = 26;
    const tops = [];
    for (const row of rows) {
      tops.push(y);
      const middle = y + (row.marks.length * LINE) / 2 + 4;
      const fits = Math.floor((left - 14) / 7.6);
      // A long name goes on two lines, the model above its details.
      const long = row.label.length > fits && row.marks.length > 1;
      const cut = !long ? -1 : row.label.includes(" ") ? row.label.indexOf(" ") : row.label.lastIndexOf("_", fits - 1);
      const lines = cut < 0 ? [row.label] : [row.label.slice(0, cut + 1).trim(), row.label.slice(cut + 1)];
      lines.forEach((line, i) => {
        const text = line.length > fits ? line.slice(0, fits - 1) + "…" : line;
        const at = middle + (lines.length > 1 ? i * 14 - 7 : 0);
        marks.push(svg("text", { class: i ? null : "strong", x: fix(left - 12), y: fix(at), "text-anchor": "end" }, svg("title", {}, row.label), text));
      });
      row.marks.forEach((mark, i) => {
        const at = y + i * LINE + LINE / 2;
        if (!mark) return;
        if (mark.missing) {
          marks.push(svg("text", { x: fix(left + 4), y: fix(at + 4) }, mark.missing));
          return;
        }
        const place = x(mark.value);
        const classes = mark.published ? "published" : ts.markClass(mark.device, mark.pass);
        const group = svg("g", { class: classes });
        let end = place;
        if (mark.title) group.append(svg("title", {}, mark.title));
        if (options.from === null) {
          group.append(svg("line", { class: "stem", x1: fix(left), x2: fix(place), y1: fix(at), y2: fix(at) }));
          if (mark.interval) {
            const [a, b] = mark.interval.map((value) => x(Math.max(value, x.domain[0])));
            if (b - a > 8) {
              group.append(svg("line", { class: "whisker", x1: fix(a), x2: fix(b), y1: fix(at), y2: fix(at) }));
              end = Math.max(place, b - 3);
            }
          }
          group.append(svg("path", { class: `dot ${classes}`, d: ts.markPath(mark.published ? 3 : mark.shape ?? 0, place, at) }));
        } else {
          const zero = options.from === 1 ? x(1) : x(0);
          group.append(svg("rect", { class: `bar ${classes}`, x: fix(Math.min(zero, place)), y: fix(at - 4.5), width: fix(Math.abs(place - zero)), height: 9 }));
        }
        const before = options.from === 1 && place < x(1);
        group.append(svg("text", { class: "strong", x: fix(before ? place - 7 : end + 8), y: fix(at + 4), "text-anchor": before ? "end" : "start" }, mark.text));
        marks.push(group);
      });
      y += row.marks.length * LINE + GAP;
    }
    const bottom = y - GAP / 2;
    let lastEnd = -Infinity;
    for (const tick of x.ticks(Math.max(2, Math.round((right - left) / (narrow ? 80 : 95))))) {
      const at = Math.round(x(tick)) + 0.5;
      const text = options.tick(tick);
      const half = textWidth(text) / 2;
      parts.push(svg("line", { class: options.from === 1 && Math.abs(tick - 1) < 1e-9 ? "one" : "gridline", x1: at, x2: at, y1: 20, y2: bottom }));
      if (at - half < lastEnd + 6) continue;
      lastEnd = at + half;
      parts.push(svg("text", { x: at, y: 13, "text-anchor": "middle" }, text));
    }
    if (options.from !== null) {
      const at = Math.round(x(options.from)) + 0.5;
      parts.push(svg("line", { class: "one", x1: at, x2: at, y1: 20, y2: bottom }));
    }
    for (const top of tops.slice(1)) parts.push(svg("line", { class: "gridline", x1: 0, x2: options.width, y1: top - GAP / 2, y2: top - GAP / 2 }));
    root.setAttribute("viewBox", `0 0 ${options.width} ${Math.ceil(bottom + 4)}`);
    root.replaceChildren(...parts, ...marks);
  };

  /** One figure against another, both logarithmic: points [{x, y, device, pass, shape, label, title}]. */
  ts.drawScatter = function (root, points, options) {
    const { width } = options;
    const height = Math.round(Math.min(560, Math.max(320, width * 0.55)));
    const frame = { left: 76, right: width - 16, top: 30, bottom: height - 48 };
    const reach = (pick) => {
      const values = points.map(pick);
      return [Math.min(...values) / 1.25, Math.max(...values) * 1.25];
    };
    const x = ts.logScale(...(points.length ? reach((point) => point.x) : [1e-3, 1]), frame.left, frame.right, options.xUnit);
    const y = ts.logScale(...(points.length ? reach((point) => point.y) : [1e6, 1e9]), frame.bottom, frame.top, options.yUnit);
    const parts = [];
    for (const tick of x.ticks(Math.round((frame.right - frame.left) / 90))) {
      const at = Math.round(x(tick)) + 0.5;
      parts.push(svg("line", { class: "gridline", x1: at, x2: at, y1: frame.top, y2: frame.bottom }));
      parts.push(svg("text", { x: at, y: frame.bottom + 18, "text-anchor": "middle" }, ts.tick(tick, options.xUnit)));
    }
    for (const tick of y.ticks(7)) {
      const at = Math.round(y(tick)) + 0.5;
      parts.push(svg("line", { class: "gridline", x1: frame.left, x2: frame.right, y1: at, y2: at }));
      parts.push(svg("text", { x: frame.left - 8, y: at + 4, "text-anchor": "end" }, ts.tick(tick, options.yUnit)));
    }
    parts.push(svg("text", { class: "strong", x: frame.right, y: height - 8, "text-anchor": "end" }, options.xLabel));
    parts.push(svg("text", { class: "strong", x: 4, y: 14 }, options.yLabel));
    const taken = points.map((point) => [x(point.x) - 5, y(point.y) - 5, x(point.x) + 5, y(point.y) + 5]);
    const texts = [];
    for (const point of [...points].sort((a, b) => a.y - b.y)) {
      const [px, py] = [x(point.x), y(point.y)];
      const group = svg("g", { class: ts.markClass(point.device, point.pass) }, svg("title", {}, point.title), svg("path", { class: "dot", d: ts.markPath(point.shape, px, py) }));
      parts.push(group);
      // A name stands beside its point only where it hides no other.
      const size = textWidth(point.label, 11.5);
      const start = px + 9 + size > frame.right ? px - 9 - size : px + 9;
      const box = [start, py - 7, start + size, py + 7];
      const free = taken.every((other) => box[0] > other[2] || box[2] < other[0] || box[1] > other[3] || box[3] < other[1]);
      if (!free) continue;
      taken.push(box);
      texts.push(svg("text", { class: "strong", x: fix(start), y: fix(py + 4) }, point.label));
    }
    root.setAttribute("viewBox", `0 0 ${width} ${height}`);
    root.replaceChildren(...parts, ...texts);
  };
})(window.torchspeed);
