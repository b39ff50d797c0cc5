// Timeline: values over commits, dates or torch releases; one large chart of the chosen
// series, or a small one of every model.
(function (ts) {
  "use strict";
  const { el, svg } = ts;

  const LASTS = ["10", "50", "200", "1000", "all"];

  /** What one address asks for, with its defaults filled in. */
  function read(state) {
    const { model } = ts;
    const keys = ts.many(state, "s").filter((key) => model.cases.has(key));
    const machine = ts.one(state, "m", model.defaultMachine);
    const grid = ts.many(state, "s").length === 0;
    const x = ["commit", "date", "torch"].find((one) => one === ts.one(state, "x")) ?? "commit";
    return {
      grid,
      keys,
      unknown: ts.many(state, "s").filter((key) => !model.cases.has(key)),
      m: model.machineAt(machine),
      machine,
      environments: (state.params.e ?? [model.defaultEnvironment]).map(model.environmentAt).filter((e) => e >= 0),
      x,
      y: ["linear", "log", "relative"].find((one) => one === ts.one(state, "y")) ?? (grid ? "relative" : "log"),
      last: LASTS.find((one) => one === ts.one(state, "n")) ?? "200",
      relative: ts.one(state, "rel"),
      from: ts.one(state, "from"),
      to: ts.one(state, "to"),
      interval: ts.one(state, "ci", "1") === "1",
      quartiles: ts.one(state, "quartiles", "0") === "1",
      levels: ts.one(state, "steps", "1") === "1",
      metric: ts.shownMetric(state),
    };
  }

  /** What tells these series apart, in as few words as will do. */
  function nameLines(lines) {
    const several = (pick) => new Set(lines.map(pick)).size > 1;
    const parts = [
      several((line) => line.what.row) && ((line) => line.what.row),
      several((line) => line.what.column) && ((line) => line.what.column.replaceAll(" · ", " ")),
      several((line) => line.what.metric.label) && ((line) => line.what.metric.label),
      several((line) => line.one?.e) && ((line) => (line.one ? ts.model.environmentLabel(line.one.environment) : "")),
    ].filter(Boolean);
    for (const line of lines) line.label = parts.length ? parts.map((part) => part(line)).join(" ") : line.what.row;
  }

  async function linesOf(series) {
    const rows = [...new Set(series.map((one) => `${one.case.rowId}${one.e}`))];
    const lines = await Promise.all(
      series.map(async (one) => {
        const runs = await ts.runsOf(one);
        return {
          id: one.at,
          one,
          what: one.case,
          device: one.case.device,
          pass: one.case.pass,
          unit: one.metric.unit,
          shape: rows.indexOf(`${one.case.rowId}${one.e}`),
          points: runs.points,
          others: runs.others,
          levels: runs.levels,
        };
      }),
    );
    nameLines(lines);
    return lines;
  }

  /** One value for each release: the newest figure of the case in an environment with it. */
  function releaseLines(asked) {
    const { model } = ts;
    const rows = [];
    const lines = asked.keys.map((key) => {
      const what = model.cases.get(key);
      if (!rows.includes(what.rowId)) rows.push(what.rowId);
      const points = [];
      model.releases.forEach((release, at) => {
        const one = model.find(key, asked.m, release.at);
        if (one?.last) points.push({ at, value: one.last.v, interval: one.last.lo === null || one.last.lo === undefined ? null : [one.last.lo, one.last.hi], quartiles: null, commit: one.last.c });
      });
      return { id: key, what, device: what.device, pass: what.pass, unit: what.metric.unit, shape: rows.indexOf(what.rowId), points, others: [], levels: [] };
    });
    nameLines(lines);
    return lines;
  }

  const lastAtOrBefore = (points, at) => {
    let found = points[0];
    for (const point of points) {
      if (point.at > at) break;
      found = point;
    }
    return found;
  };

  /** The same lines as ratios to their level at one commit. */
  function relativeLines(lines, at) {
    return lines.map((line) => {
      const base = line.levels.find((level) => level.first <= at && at <= level.last)?.level ?? lastAtOrBefore(line.points, at)?.value;
      if (!base) return { ...line, base: NaN };
      const part = (pair) => pair && pair.map((value) => value / base);
      return {
        ...line,
        base,
        points: line.points.map((point) => ({ ...point, value: point.value / base, interval: part(point.interval), quartiles: part(point.quartiles) })),
        levels: line.levels.map((level) => ({ ...level, level: level.level / base })),
      };
    });
  }

  /** The first and the last: all that a small chart has room for. */
  const endsOf = (ticks) => ticks.filter((_, i) => i === 0 || i === ticks.length - 1);

  /** The x axis: where a commit stands, which commits there are, what is written below. */
  function axis(asked, lines) {
    const { commits } = ts.model;
    if (asked.x === "torch") {
      const names = ts.model.releases.map((release) => ts.model.environmentLabel(release).replace(/^torch /, ""));
      const ticks = names.map((text, at) => ({ at, text }));
      return {
        stops: names.map((_, at) => at),
        place: (at) => at,
        domain: [-0.35, Math.max(0.35, names.length - 0.65)],
        ticks,
        ends: endsOf(ticks),
        name: (at) => ts.model.environmentLabel(ts.model.releases[at]),
      };
    }
    const stops = [...new Set(lines.flatMap((line) => [...line.points, ...line.others].map((point) => point.at)))].sort((a, b) => a - b);
    const rank = new Map(stops.map((at, i) => [at, i]));
    // A tag or an event may stand on a commit that was not measured: it goes between its neighbours.
    const between = (at) => {
      let low = 0;
      let high = stops.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (stops[middle] < at) low = middle + 1;
        else high = middle;
      }
      return low - 0.5;
    };
    const place = asked.x === "date" ? (at) => commits[at].date : (at) => rank.get(at) ?? between(at);
    const from = ts.model.findCommit(asked.from);
    const to = ts.model.findCommit(asked.to);
    let first = stops[Math.max(0, stops.length - (asked.last === "all" ? stops.length : Number(asked.last)))] ?? 0;
    let last = stops.at(-1) ?? 0;
    if (from >= 0 && to >= 0) [first, last] = from < to ? [from, to] : [to, from];
    const shown = stops.filter((at) => at >= first && at <= last);
    const stride = Math.max(1, Math.ceil(shown.length / 7));
    // Within a day its name would tell nothing: the hash does, or the time.
    const text = (at) => {
      if (!shown.length || ts.day(commits[shown[0]].date) !== ts.day(commits[shown.at(-1)].date)) return ts.day(commits[at].date);
      return asked.x === "date" ? ts.time(commits[at].date) : ts.short(commits[at].hash);
    };
    const ticks = shown.map((at) => ({ at, text: text(at) }));
    return {
      stops: shown,
      whole: stops,
      place,
      domain: [place(first), place(last)],
      ticks: ticks.filter((_, i) => i % stride === 0),
      ends: endsOf(ticks),
      first,
      last,
      name: (at) => ts.model.nameOf(at),
    };
  }

  /** What changed around the code of the series in view. */
  const eventsOf = (asked) => ts.model.index.events.filter((one) => one.m === asked.m && (one.e === null || asked.environments.includes(one.e)));

  const pointAt = (line, at) => line.points.find((point) => point.at === at);

  /** How far the fastest quarter of the samples reaches above the figure, relative to it. */
  const reach = (point) => (point?.interval ? (point.interval[1] - point.value) / point.value : NaN);

  // ---------- the large chart ----------

  class Chart {
    constructor() {
      this.svg = svg("svg", { class: "chart", "aria-hidden": "true", focusable: "false" }); // the frame speaks
      this.frame = el("div", { class: "chart-frame", tabindex: "0", role: "application", "aria-roledescription": "chart", "aria-describedby": "timeline-help" }, this.svg);
      this.overlay = svg("g", { class: "overlay" });
      this.cursor = null;
      this.when = el("p", { class: "when" });
      this.values = el("div", {});
      this.frame.addEventListener("pointermove", (event) => this.move(event));
      this.frame.addEventListener("pointerleave", (event) => this.drag || event.pointerType === "touch" || this.settle());
      this.frame.addEventListener("pointerdown", (event) => this.press(event));
      this.frame.addEventListener("pointerup", (event) => this.release(event));
      this.frame.addEventListener("pointercancel", () => this.cancel());
      this.frame.addEventListener("dblclick", () => this.reset());
      this.frame.addEventListener("keydown", (event) => this.type(event));
      new ResizeObserver(() => {
        const width = Math.round(this.frame.clientWidth);
        if (this.scene && width && Math.abs(width - this.width) > 2) this.draw();
      }).observe(this.frame);
    }

    set(scene) {
      this.scene = scene;
      if (this.cursor !== null && !scene.axis.stops.includes(this.cursor)) this.cursor = null;
      this.draw();
    }

    draw() {
      const { asked, axis: across, lines, unit } = this.scene;
      this.width = Math.round(this.frame.clientWidth) || 900;
      const inner = Math.max(280, this.width - 12);
      const height = inner < 560 ? 300 : 430;
      const { model } = ts;
      const commits = asked.x !== "torch";
      this.plot = ts.drawLines(this.svg, lines, {
        width: inner,
        height,
        place: across.place,
        domain: across.domain,
        y: asked.y,
        unit,
        ticks: across.ticks,
        tags: commits ? model.commits.filter((commit) => commit.tags.length).map((commit) => ({ at: commit.at, text: commit.tags.at(-1) })) : [],
        events: commits ? eventsOf(asked).map((event) => ({ at: event.c, text: event.text })) : [],
        bands: new Set([asked.interval && commits && "interval", asked.quartiles && commits && "quartiles"].filter(Boolean)),
        levels: asked.levels && commits,
        whiskers: !commits && asked.interval,
        labels: true,
      });
      this.pixels = across.stops.map((at) => this.plot.x(at));
      this.svg.append(this.overlay);
      this.frame.setAttribute("aria-label", this.scene.summary);
      this.table();
      this.mark();
    }

    /** The legend, which is also where values are read. */
    table() {
      const { asked, lines } = this.scene;
      this.cells = lines.map((line) => ({ value: el("td", { class: "number" }), spread: el("td", { class: "number" }), since: el("td", { class: "number" }) }));
      const several = asked.x !== "torch" && new Set(lines.map((line) => line.one.e)).size > 1;
      const swatch = (line) =>
        svg(
          "svg",
          { class: `chart swatch ${ts.markClass(line.device, line.pass)}`, viewBox: "0 0 30 12", "aria-hidden": "true", focusable: "false" },
          svg("path", { class: "line", d: "M1 6H29" }),
          svg("path", { class: "dot", d: ts.markPath(line.shape, 15, 6) }),
        );
      const drop = (line) =>
        el(
          "button",
          { type: "button", class: "remove", "aria-label": `Remove ${line.what.title}`, onclick: () => ts.go({ s: ts.many(ts.here(), "s").filter((key) => key !== line.what.key) }) },
          "×",
        );
      const heads = ["Series", "Value", "Fastest quarter", asked.y === "relative" ? "Relative" : "Since start", "Last step", ""];
      this.values.replaceChildren(
        ts.scrollBox(
          "Values at the cursor",
          el(
            "table",
            { class: "list" },
            el("caption", { class: "visually-hidden" }, "Values at the cursor"),
            el("thead", {}, el("tr", {}, heads.map((head, i) => (head ? el("th", { scope: "col", class: i > 0 ? "number" : null }, head) : el("td", {}))))),
            el(
              "tbody",
              {},
              lines.map((line, i) => {
                const row = el(
                  "tr",
                  {},
                  el("th", { scope: "row" }, swatch(line), line.what.title, several ? el("span", { class: "muted" }, ` · ${ts.model.environmentLabel(line.one.environment)}`) : null),
                  this.cells[i].value,
                  this.cells[i].spread,
                  this.cells[i].since,
                  el("td", { class: "number" }, line.one?.change ? [ts.delta(line.one.change.ratio, line.one.change.verdict), " ", el("a", { href: this.stepAddress(line) }, ts.short(ts.model.commits[line.one.change.c].hash))] : el("span", { class: "muted" }, line.one ? "steady" : "–")),
                  el("td", {}, drop(line)),
                );
                row.addEventListener("pointerenter", () => this.highlight(line.id));
                row.addEventListener("pointerleave", () => this.highlight(null));
                return row;
              }),
            ),
          ),
        ),
      );
    }

    stepAddress(line) {
      const { change } = line.one;
      const found = (ts.model.stepsOf.get(line.one.at) ?? []).find((step) => step.c === change.c);
      const hash = (at) => ts.short(ts.model.commits[at].hash);
      return ts.address("changes", { rev: hash(change.c), base: found ? hash(found.p) : null, m: line.one.machine.name, e: line.one.environment.id });
    }

    highlight(id) {
      for (const node of this.svg.querySelectorAll("g[data-line]")) node.classList.toggle("dim", id !== null && node.dataset.line !== String(id));
    }

    /** Where values are read when nobody points: the newest. */
    get place() {
      return this.cursor ?? this.scene.axis.stops.at(-1);
    }

    mark() {
      const { axis: across, lines, asked } = this.scene;
      const at = this.place;
      this.overlay.replaceChildren();
      if (at === undefined) {
        this.when.textContent = "";
        return;
      }
      if (this.cursor !== null) {
        const x = Math.round(this.plot.x(at)) + 0.5;
        this.overlay.append(svg("line", { class: "cursor", x1: x, x2: x, y1: this.plot.frame.top, y2: this.plot.frame.bottom }));
      }
      lines.forEach((line, i) => {
        const point = pointAt(line, at);
        const real = point && asked.y === "relative" ? point.value * line.base : point?.value;
        const run = line.others.find((one) => one.at === at);
        this.cells[i].value.textContent = point ? ts.value(real, line.unit) : run ? run.outcome : "–";
        this.cells[i].spread.textContent = point ? ts.reach(reach(point)) : "–";
        const first = line.points.find((one) => across.place(one.at) >= across.domain[0]);
        const ratio = point && (asked.y === "relative" ? point.value : first ? point.value / first.value : NaN);
        this.cells[i].since.textContent = point ? ts.change(ratio) : "–";
        if (point && this.cursor !== null)
          this.overlay.append(svg("path", { class: `dot ${ts.markClass(line.device, line.pass)}`, d: ts.markPath(line.shape, this.plot.x(at), this.plot.y(point.value)) }));
      });
      if (asked.x === "torch") this.when.replaceChildren(el("strong", {}, across.name(at)), " newest figure of each series");
      else {
        const commit = ts.model.commits[at];
        const event = eventsOf(asked).filter((one) => one.c === at).map((one) => one.text);
        this.when.replaceChildren(
          el("a", { href: this.changesAddress(at) }, el("code", {}, ts.short(commit.hash))),
          ` · ${ts.day(commit.date)} · ${commit.subject}`,
          ...commit.tags.map((tag) => el("span", { class: "badge" }, tag)),
          event.length ? ` · ${event.join(", ")}` : "",
        );
      }
    }

    changesAddress(at) {
      const { asked } = this.scene;
      const e = ts.model.index.environments[asked.environments[0]];
      return ts.address("changes", { rev: ts.short(ts.model.commits[at].hash), m: asked.machine, e: e?.id });
    }

    speak() {
      const { axis: across, lines, asked } = this.scene;
      const texts = lines.slice(0, 8).map((line, i) => `${line.label} ${this.cells[i].value.textContent}${asked.y === "relative" ? ", " + this.cells[i].since.textContent : ""}`);
      if (lines.length > 8) texts.push(`and ${lines.length - 8} more`);
      ts.say(`${across.name(this.place)}: ${texts.join("; ")}`);
    }

    nearest(event) {
      const box = this.svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * this.svg.viewBox.baseVal.width;
      let low = 0;
      let high = this.pixels.length - 1;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (this.pixels[middle] < x) low = middle + 1;
        else high = middle;
      }
      return low > 0 && x - this.pixels[low - 1] < this.pixels[low] - x ? low - 1 : low;
    }

    move(event) {
      if (!this.pixels?.length) return;
      const i = this.nearest(event);
      const at = this.scene.axis.stops[i];
      if (this.drag) this.drag.to = i;
      else if (at === this.cursor) return;
      this.cursor = at;
      this.mark();
      if (this.drag && Math.abs(event.clientX - this.drag.x) > 5) {
        const [a, b] = [this.pixels[this.drag.from], this.pixels[i]].sort((one, two) => one - two);
        this.overlay.prepend(svg("rect", { class: "selection", x: a, y: this.plot.frame.top, width: b - a, height: this.plot.frame.bottom - this.plot.frame.top }));
      }
    }

    press(event) {
      if (event.button !== 0 || !this.pixels?.length) return;
      if (event.pointerType !== "touch") this.frame.setPointerCapture(event.pointerId);
      const i = this.nearest(event);
      this.drag = { from: i, to: i, x: event.clientX };
    }

    release(event) {
      const drag = this.drag;
      this.drag = null;
      if (!drag || !this.pixels?.length) return;
      const moved = Math.abs(event.clientX - drag.x) > 5;
      if (moved && drag.from !== drag.to) this.zoomTo(drag.from, drag.to, false);
      else if (!moved && event.pointerType === "mouse") this.enter();
      else this.move(event); // a finger only moves the cursor: the commit's link is below
    }

    cancel() {
      this.drag = null;
      this.mark();
    }

    settle() {
      if (document.activeElement === this.frame) return;
      this.cursor = null;
      if (this.scene) this.mark();
    }

    enter() {
      if (this.scene.asked.x !== "torch" && this.place !== undefined) ts.visit(this.changesAddress(this.place));
    }

    zoomTo(i, j, replace) {
      const { stops } = this.scene.axis;
      if (this.scene.asked.x === "torch" || stops.length < 2) return;
      const [a, b] = [Math.min(i, j), Math.max(i, j)];
      const hash = (at) => ts.short(ts.model.commits[at].hash);
      ts.go({ from: hash(stops[a]), to: hash(stops[b]) }, { replace });
    }

    /** Zooms about the cursor, by the whole list of commits so that zooming out works, too. */
    zoom(factor) {
      const { axis: across } = this.scene;
      if (!across.whole?.length) return;
      const { whole, stops } = across;
      const [first, last] = [whole.indexOf(stops[0]), whole.indexOf(stops.at(-1))];
      const centre = this.cursor === null ? (first + last) / 2 : whole.indexOf(this.cursor);
      const reach = Math.max(1, ((last - first) * factor) / 2);
      this.window(Math.round(centre - reach), Math.round(centre + reach), factor < 1 ? "Zoomed in" : "Zoomed out");
    }

    pan(share) {
      const { axis: across } = this.scene;
      if (!across.whole?.length) return;
      const { whole, stops } = across;
      const [first, last] = [whole.indexOf(stops[0]), whole.indexOf(stops.at(-1))];
      let by = Math.round((last - first) * share) || Math.sign(share);
      by = Math.max(-first, Math.min(whole.length - 1 - last, by));
      this.window(first + by, last + by, share < 0 ? "Earlier" : "Later");
    }

    window(first, last, word) {
      const { whole } = this.scene.axis;
      const [a, b] = [Math.max(0, first), Math.min(whole.length - 1, last)];
      const hash = (at) => ts.short(ts.model.commits[at].hash);
      ts.go({ from: hash(whole[a]), to: hash(whole[b]) }, { replace: true });
      ts.say(`${word}: ${ts.day(ts.model.commits[whole[a]].date)} to ${ts.day(ts.model.commits[whole[b]].date)}, ${ts.plural(b - a + 1, "commit")}.`);
    }

    reset() {
      ts.go({ from: null, to: null });
      ts.say("Whole range.");
    }

    type(event) {
      if (event.ctrlKey || event.altKey || event.metaKey || !this.scene?.axis.stops.length) return;
      const { stops } = this.scene.axis;
      const here = stops.indexOf(this.place);
      const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity }[event.key];
      if (step !== undefined && event.shiftKey && Math.abs(step) === 1) this.pan(step * 0.25);
      else if (step !== undefined) {
        this.cursor = stops[Math.max(0, Math.min(stops.length - 1, this.cursor === null && step === 1 ? 0 : here + step))];
        this.mark();
        this.speak();
      } else if (event.key === "+" || event.key === "=") this.zoom(0.5);
      else if (event.key === "-" || event.key === "_") this.zoom(2);
      else if (event.key === "0" || event.key === "Escape") this.reset();
      else if (event.key === "Enter") this.enter();
      else return;
      event.preventDefault();
    }
  }

  // ---------- a small chart of every model ----------

  /** So many are drawn at once; the others when they come into sight. */
  const AT_ONCE = 9;

  async function drawSmall(picture, series, asked) {
    let lines = await linesOf(series);
    const across = axis(asked, lines);
    if (asked.y === "relative") lines = relativeLines(lines, across.stops[0] ?? 0);
    ts.drawLines(picture, lines, {
      width: 300,
      height: 130,
      small: true,
      place: across.place,
      domain: across.domain,
      y: asked.y,
      unit: asked.metric.unit,
      ticks: across.ends,
    });
  }

  /** Shows the frames at once and draws the first of them; the answer to a click must not wait for data. */
  async function drawGrid(asked, show) {
    const { model } = ts;
    const e = asked.environments[0] ?? 0;
    const members = model.series.filter((one) => one.m === asked.m && one.e === e && one.metric === asked.metric && one.last).sort((a, b) => a.case.order - b.case.order);
    const rows = new Map();
    for (const one of members) {
      if (!rows.has(one.case.rowId)) rows.set(one.case.rowId, []);
      rows.get(one.case.rowId).push(one);
    }
    if (!rows.size) {
      show(el("p", { class: "notice" }, "Nothing has been measured here yet: choose another metric, machine or environment."));
      return;
    }
    const columns = [...new Map(members.map((one) => [one.case.column, one.case])).values()].sort(ts.byColumn);
    const waiting = new Map();
    const { params } = ts.here();
    const items = [...rows.values()].map((series) => {
      series.sort((a, b) => ts.byColumn(a.case, b.case));
      const picture = svg("svg", { class: "chart", viewBox: "0 0 300 130", "aria-hidden": "true", focusable: "false" });
      waiting.set(picture, series);
      const { case: what } = series[0];
      const news = series.filter((one) => one.change && model.newest - one.change.c < model.news).sort((a, b) => b.change.c - a.change.c)[0];
      const words = series.map((one) => `${one.case.column} ${ts.value(one.last.v, one.metric.unit)}`).join(", ");
      return el(
        "li",
        {},
        el(
          "a",
          { href: ts.address("timeline", { ...params, s: series.map((one) => one.key), metric: null, q: null }) },
          el("span", { class: "title" }, el("span", {}, what.model, what.details ? el("span", { class: "muted" }, " " + what.details) : null), news ? ts.delta(news.change.ratio, news.change.verdict) : null),
          el("span", { class: "visually-hidden" }, `newest: ${words}`),
          picture,
        ),
      );
    });
    const draw = (picture) => {
      const series = waiting.get(picture);
      waiting.delete(picture);
      return series && drawSmall(picture, series, asked);
    };
    const first = [...waiting.keys()].slice(0, AT_ONCE);
    const later = [...waiting.keys()].slice(AT_ONCE);
    const watch = new IntersectionObserver(
      (seen) => {
        for (const one of seen)
          if (one.isIntersecting) {
            watch.unobserve(one.target);
            draw(one.target);
          }
      },
      { rootMargin: "300px" },
    );
    for (const picture of later) watch.observe(picture);
    addEventListener("beforeprint", () => later.forEach(draw), { once: true });
    show(
      el("ul", { class: "legend", "aria-label": "Lines" }, columns.map((what) => el("li", {}, swatchFor(what), what.column))),
      el("p", { class: "note" }, `${asked.metric.label}, ${asked.metric.higher_is_better ? "more" : "less"} is better`, asked.y === "relative" ? "; relative to the level at the start of the range." : "."),
      el("ul", { class: "multiples" }, items),
    );
    await Promise.all(first.map(draw));
  }

  const swatchFor = (what) =>
    svg("svg", { class: `chart swatch ${ts.markClass(what.device, what.pass)}`, viewBox: "0 0 30 12", "aria-hidden": "true", focusable: "false" }, svg("path", { class: "line", d: "M1 6H29" }));

  // ---------- files and tables ----------

  function records(scene) {
    const { asked, lines, axis: across } = scene;
    const rows = [];
    for (const line of lines) {
      const scale = asked.y === "relative" ? line.base : 1;
      const runs = [...line.points, ...line.others].filter((run) => across.stops.includes(run.at)).sort((a, b) => a.at - b.at);
      for (const run of runs) rows.push({ line, run, scale });
    }
    return rows;
  }

  function csv(scene) {
    const { commits, releases } = ts.model;
    const head = ["case", "machine", "environment", "revision", "date", "unit", "value", "low_99", "high_99", "quartile_1", "quartile_3", "outcome", "reason"];
    const by = scene.asked.x === "torch";
    return ts.csv([
      head,
      ...records(scene).map(({ line, run, scale }) => {
        const commit = commits[by ? run.commit : run.at];
        const pair = (two) => (two ? [two[0] * scale, two[1] * scale] : ["", ""]);
        return [
          line.what.key, scene.asked.machine, by ? releases[run.at].id : line.one.environment.id, commit.hash, new Date(commit.date * 1000).toISOString(), line.unit,
          run.value === undefined ? "" : run.value * scale, ...pair(run.interval), ...pair(run.quartiles), run.outcome ?? "ok", run.reason ?? "",
        ];
      }),
    ]);
  }

  function valueTable(scene) {
    const { lines, axis: across, asked } = scene;
    const tables = lines.map((line) => new Map(line.points.map((point) => [point.at, point.value * (asked.y === "relative" ? line.base : 1)])));
    const rows = [...across.stops].reverse().map((at) => [
      across.name(at),
      ...lines.map((line, i) => (tables[i].has(at) ? ts.value(tables[i].get(at), line.unit) : line.others.find((run) => run.at === at)?.outcome ?? "–")),
    ]);
    return ts.table("Every value of the chart, newest first", ["Commit", ...lines.map((line) => ({ text: line.label, number: true }))], rows);
  }

  ts.views.timeline = {
    title: "Timeline",
    mount(section) {
      const { index, releases } = ts.model;
      this.controls = ts.controlBox([
        ts.selectField("m", "Machine", { options: () => index.machines.map((one) => ({ value: one.name, label: one.name })), initial: () => ts.model.defaultMachine }),
        ts.choicesField("e", "Environment", { options: () => releases.map((one) => ({ value: one.id, label: ts.model.environmentLabel(one) })), initial: () => [ts.model.defaultEnvironment] }),
        ts.selectField("x", "X axis", { options: () => [["commit", "commits"], ["date", "dates"], ["torch", "torch releases"]].map(([value, label]) => ({ value, label })), initial: () => "commit" }),
        ts.selectField("y", "Y axis", {
          options: () => [["linear", "linear, from zero"], ["log", "logarithmic"], ["relative", "relative"]].map(([value, label]) => ({ value, label })),
          initial: (state) => (ts.many(state ?? ts.here(), "s").length ? "log" : "relative"),
        }),
        ts.revisionField("rel", "Relative to", { words: () => [["start", "the start of the range"], ["baseline", "the fixed baseline"]], initial: () => "start" }),
        ts.selectField("n", "Show the last", { options: () => LASTS.map((value) => ({ value, label: value === "all" ? "all commits" : `${value} commits` })), initial: () => "200", change: (patch) => ts.go({ ...patch, from: null, to: null }) }),
        ts.checkField("ci", "fastest quarter", { initial: true }),
        ts.checkField("quartiles", "quartiles"),
        ts.checkField("steps", "levels", { initial: true }),
      ]);
      this.picker = ts.buildPicker();
      this.chart = new Chart();
      const tool = (text, label, work) => el("button", { type: "button", class: "button", "aria-label": label, title: label, onclick: work }, text);
      this.tools = el(
        "div",
        { class: "actions" },
        tool("←", "Earlier", () => this.chart.pan(-0.25)),
        tool("→", "Later", () => this.chart.pan(0.25)),
        tool("+", "Zoom in", () => this.chart.zoom(0.5)),
        tool("−", "Zoom out", () => this.chart.zoom(2)),
        tool("Whole range", "Whole range", () => this.chart.reset()),
        el("button", { type: "button", class: "button", onclick: () => ts.download("timeline.csv", csv(this.chart.scene)) }, "Download CSV"),
        ts.permalinkButton(() => this.pinned()),
      );
      this.fold = el("details", { class: "fold" }, el("summary", {}, "Values as a table"));
      this.fold.addEventListener("toggle", () => this.tabulate());
      this.notes = el("p", { class: "note" });
      this.help = el("p", { class: "note", id: "timeline-help" });
      this.help.append(
        "Drag to zoom, click a point for its changes. With the keyboard: ",
        el("kbd", {}, "←"), " ", el("kbd", {}, "→"), " read values, ", el("kbd", {}, "Enter"), " opens the changes, ", el("kbd", {}, "+"), " ", el("kbd", {}, "−"), " zoom, ", el("kbd", {}, "Shift"), " with arrows moves, ", el("kbd", {}, "Esc"), " shows the whole range. ",
        "Thick lines are levels between the steps found; ◆ marks a change of the environment, ✗ a failed run.",
      );
      this.large = el("div", { class: "large" }, this.notes, this.chart.frame, el("div", { class: "readout" }, this.chart.when, this.chart.values), this.tools, this.help, this.fold);
      this.grid = el("div", { class: "grid" });
      ts.appOf(section).replaceChildren(this.controls.node, el("div", { class: "timeline" }, this.picker.node, el("div", {}, this.large, this.grid)));
    },
    async update(state) {
      const asked = read(state);
      this.controls.show(state);
      this.picker.show(state);
      for (const box of this.controls.node.querySelectorAll("[name=rel]")) box.closest(".field").hidden = asked.y !== "relative" || asked.grid;
      for (const name of ["ci", "quartiles", "steps"]) this.controls.node.querySelector(`[name=${name}]`).closest("label").hidden = asked.grid;
      if (asked.m < 0) throw new Error(`No machine is called “${asked.machine}”: choose one of the list.`);
      const ticket = (this.ticket = {});
      if (asked.grid) {
        if (asked.x === "torch") asked.x = "commit"; // a line for each release needs chosen series
        this.large.hidden = true;
        this.grid.hidden = false;
        await drawGrid(asked, (...parts) => this.grid.replaceChildren(...parts));
        return;
      }
      let lines;
      let missing = [];
      if (asked.x === "torch") lines = releaseLines(asked);
      else {
        const series = [];
        for (const key of asked.keys)
          for (const e of asked.environments) {
            const one = ts.model.find(key, asked.m, e);
            if (one) series.push(one);
            else missing.push(key);
          }
        lines = await linesOf(series);
        if (this.ticket !== ticket) return;
      }
      if (!lines.length) {
        this.large.hidden = true;
        this.grid.hidden = false;
        const names = asked.unknown.concat(missing).join(", ");
        this.grid.replaceChildren(el("p", { class: "notice" }, `Not measured with this machine and environment: ${names}. Choose series from the list.`));
        return;
      }
      const units = [...new Set(lines.map((line) => line.unit))];
      if (units.length > 1) asked.y = "relative"; // seconds and bytes have no common axis
      const across = axis(asked, lines);
      if (asked.y === "relative") {
        const named = asked.relative === "baseline" ? ts.model.baseline : ts.model.findCommit(asked.relative);
        const base = asked.x === "torch" ? 0 : named >= 0 && asked.relative && asked.relative !== "start" ? named : across.stops[0] ?? 0;
        lines = relativeLines(lines, base);
        this.base = base;
      }
      this.large.hidden = false;
      this.grid.hidden = true;
      this.grid.replaceChildren();
      const metrics = [...new Set(lines.map((line) => line.what.metric))];
      const summary = `${lines.map((line) => line.label).join(", ") || "No series"}: ${metrics.map((metric) => metric.label).join(", ")} over ${across.stops.length} ${asked.x === "torch" ? "torch releases" : "commits"}`;
      this.notes.replaceChildren(
        metrics.map((metric) => `${metric.label.charAt(0).toUpperCase() + metric.label.slice(1)}: ${metric.higher_is_better ? "more" : "less"} is better`).join("; ") + ".",
        units.length > 1 ? " Different units, so relative values are shown." : "",
        asked.y === "relative" && asked.x !== "torch" ? ` Relative to the level at ${ts.model.nameOf(this.base)}.` : "",
        asked.unknown.length ? ` Not known here: ${asked.unknown.join(", ")}.` : "",
        missing.length ? ` Not in this environment: ${missing.join(", ")}.` : "",
        lines.length && !lines.some((line) => line.points.length) ? " Nothing has been measured of these series." : "",
      );
      this.chart.set({ asked, axis: across, lines, unit: units[0], summary });
      this.tabulate();
    },
    tabulate() {
      for (const old of this.fold.querySelectorAll(".scroll")) old.remove();
      if (this.fold.open && this.chart.scene) this.fold.append(ts.scrollBox("Values as a table", valueTable(this.chart.scene)));
    },
    /** The address with the range written out, so that it shows the same when newer commits have come. */
    pinned() {
      const state = ts.here();
      const scene = this.chart.scene;
      if (!scene || scene.asked.x === "torch" || scene.axis.stops.length < 2) return ts.address("timeline", state.params);
      const hash = (at) => ts.short(ts.model.commits[at].hash);
      return ts.address("timeline", {
        ...state.params,
        m: scene.asked.machine,
        e: scene.asked.environments.map((e) => ts.model.index.environments[e].id),
        from: hash(scene.axis.stops[0]),
        to: hash(scene.axis.stops.at(-1)),
      });
    },
  };
})(window.torchspeed);
