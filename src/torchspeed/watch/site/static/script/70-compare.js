// Comparison: models side by side, by whatever tells their series apart, and the ratios
// that follow from it.
(function (ts) {
  "use strict";
  const { el, svg } = ts;

  const SHOWS = [
    ["values", "values"],
    ["devices", "speed-up of other devices over CPU"],
    ["passes", "backward over forward"],
    ["modes", "speed-up over eager"],
    ["memory", "time against memory"],
    ["published", "published figures beside ours"],
  ];
  const DIMENSIONS = [["device", "device"], ["pass", "pass"], ["mode", "mode"], ["torch", "torch release"], ["machine", "machine"], ["revision", "revision"]];

  function available() {
    const { model } = ts;
    const has = {
      device: model.devices.length > 1,
      pass: model.passes.length > 1,
      mode: model.modes.length > 1,
      torch: model.releases.length > 1,
      machine: model.index.machines.length > 1,
      revision: model.commits.length > 1,
    };
    return DIMENSIONS.filter(([name]) => has[name]);
  }

  function read(state) {
    const { model } = ts;
    const machine = ts.one(state, "m", model.defaultMachine);
    const environment = ts.one(state, "e", model.defaultEnvironment);
    const revision = (key) => {
      const text = ts.one(state, key);
      if (!text) return -1;
      const at = text === "baseline" ? model.baseline : model.findCommit(text);
      if (at < 0) throw new Error(`No measured commit begins with “${text}”: choose one of the list.`);
      return at;
    };
    const m = model.machineAt(machine);
    const e = model.environmentAt(environment);
    if (m < 0) throw new Error(`No machine is called “${machine}”: choose one of the list.`);
    if (e < 0) throw new Error(`No environment is called “${environment}”: choose one of the list.`);
    const show = SHOWS.find(([name]) => name === ts.one(state, "show"))?.[0] ?? "values";
    const wanted = state.params.by ?? ["device", "pass"];
    const by = available().map(([name]) => name).filter((name) => wanted.includes(name));
    return {
      show,
      by: show === "values" ? by : [],
      m,
      e,
      rev: revision("rev"),
      other: show === "values" && by.includes("revision") ? (ts.one(state, "other") ? revision("other") : model.baseline) : -1,
      metric: model.index.metrics.find((metric) => metric.id === ts.one(state, "metric")) ?? model.index.metrics[0],
      device: ts.one(state, "device"),
      pass: ts.one(state, "pass"),
      words: ts.one(state, "q").toLowerCase().split(/\s+/).filter(Boolean),
      norm: ts.one(state, "norm"),
      scale: ts.one(state, "scale") === "linear" ? "linear" : "log",
      order: ts.one(state, "order") === "suite" ? "suite" : "value",
    };
  }

  /** The figures that pass the filters: [{one, value, interval, rev}], of each revision asked for. */
  async function figures(asked, ofMetric) {
    const { model } = ts;
    const wanted = model.series.filter((one) => {
      if (!asked.by.includes("machine") && one.m !== asked.m) return false;
      if (!asked.by.includes("torch") && one.e !== asked.e) return false;
      if (!ofMetric(one.metric)) return false;
      if (asked.device && one.case.device !== asked.device) return false;
      if (asked.pass && one.case.pass !== asked.pass) return false;
      const text = `${one.key} ${one.case.title} ${one.case.group}`.toLowerCase();
      return asked.words.every((word) => text.includes(word));
    });
    const near = async (at) => (at < 0 ? at : ts.measuredNear(at, wanted.map((one) => one.at)));
    const places = await Promise.all((asked.by.includes("revision") ? [asked.other, asked.rev] : [asked.rev]).map(near));
    const look = await ts.figuresAt(places.filter((at) => at >= 0));
    return wanted.flatMap((one) =>
      places.flatMap((at) => {
        if (at >= 0) {
          const figure = look(one.at, at);
          return figure ? [{ one, rev: at, ...figure }] : [];
        }
        const { last } = one;
        if (!last) return [];
        return [{ one, rev: -1, value: last.v, interval: last.lo === null || last.lo === undefined ? null : [last.lo, last.hi] }];
      }),
    );
  }

  /** The name of a row: everything that tells a case apart but for these labels. */
  function rowName(what, without) {
    const rest = Object.entries(what.labels)
      .filter(([name]) => name !== "model" && !without.includes(name))
      .map(([name, value]) => (name === "device" || name === "pass" ? value : ts.setting(name, value)));
    return [what.model, ...rest].join(" ");
  }

  const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

  const sharp = (figure) => ({
    device: figure.one.case.device,
    pass: figure.one.case.pass,
    mode: figure.one.case.mode,
    torch: ts.model.environmentLabel(figure.one.environment),
    machine: figure.one.machine.name,
    revision: figure.rev < 0 ? "newest" : ts.short(ts.model.commits[figure.rev].hash),
  });

  function collect(list, rowOf, columnOf) {
    const rows = new Map();
    const columns = new Map();
    for (const figure of list) {
      const row = rowOf(figure);
      const column = columnOf(figure);
      if (!rows.has(row)) rows.set(row, new Map());
      if (!columns.has(column)) columns.set(column, figure);
      rows.get(row).set(column, figure);
    }
    return { rows, columns: [...columns].map(([name, figure]) => ({ name, device: figure.one.case.device, pass: figure.one.case.pass, figure })) };
  }

  // Each "show" gives {rows: [{label, marks, cells}], columns: [{name, device, pass, shape}], from, unit, format, scale, note, lead}.

  async function values(asked) {
    const list = await figures(asked, (metric) => metric === asked.metric);
    const { rows, columns } = collect(
      list,
      (figure) => rowName(figure.one.case, asked.by),
      (figure) => asked.by.map((name) => sharp(figure)[name]).filter(Boolean).join(" · ") || asked.metric.label,
    );
    const place = (column) => {
      const { one, rev } = column.figure;
      return [ts.model.releases.findIndex((release) => release.at === one.e), one.m, rev < 0 ? Infinity : rev, one.case.mode];
    };
    columns.sort((a, b) => {
      const [x, y] = [place(a), place(b)];
      return ts.byColumn(a, b) || x[0] - y[0] || x[1] - y[1] || (x[2] === y[2] ? 0 : x[2] - y[2]) || String(x[3]).localeCompare(String(y[3]));
    });
    // Hue is the device, fill the pass; what else differs gets a shape.
    const kinds = [];
    for (const column of columns) {
      const sign = sharp(column.figure);
      const kind = asked.by.filter((name) => !["device", "pass"].includes(name)).map((name) => sign[name]).join(" ");
      if (!kinds.includes(kind)) kinds.push(kind);
      column.shape = kinds.indexOf(kind);
    }
    const { unit } = asked.metric;
    const base = columns.find((column) => column.name === asked.norm);
    const relative = base !== undefined;
    const format = relative ? ts.factor : (value) => ts.value(value, unit);
    const tick = (value) => (relative ? ts.tick(value, "") + "×" : ts.tick(value, unit));
    const shown = columns.filter((column) => column !== base);
    /** Why a model has no mark in a column. */
    const absent = (label, column) => {
      const like = column.figure.one;
      const one = ts.model.series.find((other) => other.m === like.m && other.e === like.e && other.metric === like.metric && other.case.column === like.case.column && rowName(other.case, asked.by) === label);
      return one ? one.status : "no such case";
    };
    const result = [...rows].map(([label, cells]) => {
      const divisor = relative ? cells.get(base.name)?.value : 1;
      const mark = (column) => {
        const figure = cells.get(column.name);
        if (!figure || !divisor) return { missing: asked.rev < 0 ? absent(label, column) : "no figure" };
        const value = figure.value / divisor;
        return {
          value,
          interval: relative ? null : figure.interval,
          device: column.device,
          pass: column.pass,
          shape: column.shape,
          text: format(value),
          title: `${label}, ${column.name}: ${ts.value(figure.value, unit)}${relative ? `, ${format(value)} of ${base.name}` : ""}`,
        };
      };
      return { label, marks: shown.map(mark), cells: columns.map((column) => {
        const figure = cells.get(column.name);
        return figure ? ts.value(figure.value, unit) + (relative && divisor && column !== base ? ` (${format(figure.value / divisor)})` : "") : "–";
      }) };
    });
    const means = relative
      ? shown.map((column) => {
          const ratios = result.map((row) => row.marks[shown.indexOf(column)].value).filter((value) => value > 0);
          return `${column.name} ${format(ts.geometricMean(ratios))} of ${ratios.length}`;
        })
      : [];
    return {
      rows: result,
      columns: shown,
      headings: columns.map((column) => column.name),
      names: columns.map((column) => column.name),
      scale: asked.scale,
      from: relative ? (asked.scale === "linear" ? 0 : 1) : asked.scale === "linear" ? 0 : null,
      unit: relative ? "" : unit,
      tick,
      note: `${capital(asked.metric.label)}: ${asked.metric.higher_is_better ? "more" : "less"} is better.${relative ? ` Each model relative to its ${base.name}; geometric mean: ${means.join(", ")} series.` : ""}`,
    };
  }

  /** Ratios of pairs of series that differ in one label only. */
  async function ratios(asked, label, baseValue, turn, words) {
    const list = await figures({ ...asked, by: [], device: label === "device" ? "" : asked.device, pass: label === "pass" ? "" : asked.pass }, (metric) => metric === asked.metric);
    const pairs = new Map();
    for (const figure of list) {
      const { case: what } = figure.one;
      if (!what.labels[label]) continue;
      const key = rowName(what, [label]);
      if (!pairs.has(key)) pairs.set(key, new Map());
      pairs.get(key).set(what.labels[label], figure);
    }
    const rows = new Map();
    const columns = new Map();
    for (const members of pairs.values()) {
      const base = members.get(baseValue);
      if (!base) continue;
      for (const [value, figure] of members) {
        if (value === baseValue) continue;
        const { case: what } = figure.one;
        const ratio = turn !== figure.one.metric.higher_is_better ? base.value / figure.value : figure.value / base.value;
        const row = rowName(what, [label, "device", "pass"]);
        const column = [value, what.device !== value && what.device, what.pass !== value && what.pass].filter(Boolean).join(" · ");
        if (!rows.has(row)) rows.set(row, new Map());
        if (!columns.has(column)) columns.set(column, { name: column, device: what.device, pass: label === "pass" ? "forward" : what.pass });
        rows.get(row).set(column, { ratio, base, figure });
      }
    }
    const order = [...columns.values()].sort(ts.byColumn);
    const { unit } = asked.metric;
    const means = order.map((column) => {
      const all = [...rows.values()].map((cells) => cells.get(column.name)?.ratio).filter((value) => value > 0);
      return `${column.name} ${ts.factor(ts.geometricMean(all))} of ${ts.plural(all.length, "pair")}`;
    });
    return {
      rows: [...rows].map(([name, cells]) => ({
        label: name,
        marks: order.map((column) => {
          const cell = cells.get(column.name);
          if (!cell) return null;
          return { value: cell.ratio, device: column.device, pass: column.pass, text: ts.factor(cell.ratio), title: `${name}, ${column.name}: ${ts.factor(cell.ratio)} (${ts.value(cell.base.value, unit)} and ${ts.value(cell.figure.value, unit)})` };
        }),
        cells: order.map((column) => (cells.has(column.name) ? ts.factor(cells.get(column.name).ratio) : "–")),
      })),
      columns: order,
      headings: order.map((column) => column.name),
      scale: asked.scale,
      from: asked.scale === "linear" ? 0 : 1,
      unit: "",
      tick: (value) => ts.tick(value, "") + "×",
      note: `${capital(asked.metric.label)}: ${words} Geometric mean: ${means.join(", ") || "no pair was measured"}.`,
    };
  }

  async function published(asked) {
    // Each stands beside the case that its source names, whatever the filters say of that.
    const list = await figures({ ...asked, by: [], device: "", pass: "", words: [] }, () => true);
    const rows = new Map();
    const title = (theirs) => [theirs.model, theirs.device, theirs.pass, theirs.batch ? `batch ${theirs.batch}` : ""].filter(Boolean).join(" · ");
    const words = asked.words;
    for (const theirs of ts.model.index.published) {
      const name = title(theirs);
      if (asked.device && theirs.device !== asked.device) continue;
      if (asked.pass && theirs.pass && theirs.pass !== asked.pass) continue;
      if (!words.every((word) => `${name} ${theirs.source}`.toLowerCase().includes(word))) continue;
      if (!rows.has(name)) rows.set(name, { theirs: [], ours: list.find((figure) => figure.one.case.key === theirs.case) ?? null });
      rows.get(name).theirs.push(theirs);
    }
    const unit = ts.model.index.published[0]?.unit ?? "seconds";
    const lines = [...rows].flatMap(([name, row]) =>
      row.theirs.map((theirs) => [
        name,
        row.ours ? ts.value(row.ours.value, row.ours.one.metric.unit) : "–",
        ts.value(theirs.value, theirs.unit),
        row.ours ? ts.factor(theirs.value / row.ours.value) : "–",
        [theirs.source, theirs.note ? el("span", { class: "muted" }, ` ${theirs.note}`) : null],
      ]),
    );
    return {
      rows: [...rows].map(([name, row]) => ({
        label: name,
        marks: [
          row.ours ? { value: row.ours.value, interval: row.ours.interval, device: row.ours.one.case.device, pass: row.ours.one.case.pass, text: `${ts.value(row.ours.value, unit)} ours`, title: `${name}: ours` } : null,
          ...row.theirs.map((theirs) => ({ value: theirs.value, published: true, text: `${ts.value(theirs.value, theirs.unit)} ${theirs.source.split(/[:(]/)[0].trim().slice(0, 24)}`, title: `${theirs.source}. ${theirs.note ?? ""}` })),
        ],
      })),
      columns: [],
      table: ts.table("Published figures beside ours", ["Case", { text: "ours", number: true }, { text: "published", number: true }, { text: "published / ours", number: true }, { text: "Source", wrap: true }], lines),
      scale: "log",
      from: null,
      unit,
      tick: (value) => ts.tick(value, unit),
      note: "Diamonds are figures that others published, on other machines and mostly with other work behind the same name: read the notes in the table before comparing.",
      empty: "No published figure passes the filters.",
    };
  }

  async function memory(asked) {
    const list = await figures({ ...asked, by: [] }, (metric) => metric.unit === "seconds" || metric.unit === "bytes");
    const points = new Map();
    for (const figure of list) {
      const { case: what } = figure.one;
      const name = [what.group, rowName(what, [])].join(" · ");
      if (!points.has(name)) points.set(name, { what });
      points.get(name)[figure.one.metric.unit] ??= figure;
    }
    const both = [...points.values()].filter((point) => point.seconds && point.bytes);
    const models = [...new Set(both.map((point) => rowName(point.what, ["device", "pass"])))];
    return {
      scatter: both.map((point) => {
        const label = rowName(point.what, ["device", "pass"]);
        return {
          x: point.seconds.value,
          y: point.bytes.value,
          device: point.what.device,
          pass: point.what.pass,
          shape: models.indexOf(label),
          label,
          title: `${rowName(point.what, [])}: ${ts.value(point.seconds.value, "seconds")}, ${ts.value(point.bytes.value, "bytes")}`,
        };
      }),
      columns: [...new Map(both.map((point) => [point.what.column, { name: point.what.column, device: point.what.device, pass: point.what.pass }])).values()].sort(ts.byColumn),
      table: ts.table(
        "Time and memory of each case",
        ["Case", { text: "time", number: true }, { text: "memory", number: true }],
        both.map((point) => [rowName(point.what, []), ts.value(point.seconds.value, "seconds"), ts.value(point.bytes.value, "bytes")]),
      ),
      note: "Both axes are logarithmic; less is better on both, so the best stand at the lower left.",
      empty: "No case has both a time and a memory figure here.",
    };
  }

  const BUILD = {
    values,
    devices: (asked) => ratios(asked, "device", "cpu", true, "how many times as fast as on the CPU; above 1× the device wins."),
    passes: (asked) => ratios(asked, "pass", "forward", false, "backward (which includes forward) as a multiple of forward."),
    modes: (asked) => ratios(asked, "mode", "eager", true, "how many times as fast as eager; above 1× the mode wins."),
    memory,
    published,
  };

  function csv(scene) {
    const cells = [...scene.node.querySelectorAll("table.list tr")].map((row) => [...row.children].map((cell) => cell.textContent));
    return ts.csv(cells);
  }

  ts.views.compare = {
    title: "Comparison",
    mount(section) {
      const { index, releases } = ts.model;
      const pairs = (list) => list.map(([value, label]) => ({ value, label }));
      const all = (values, word) => [{ value: "", label: `all ${word}` }, ...values.map((value) => ({ value, label: value }))];
      const shows = () =>
        SHOWS.filter(([name]) => name === "values" || (name === "devices" && ts.model.devices.length > 1) || (name === "passes" && ts.model.passes.length > 1) || (name === "modes" && ts.model.modes.includes("eager")) || (name === "memory" && index.metrics.some((metric) => metric.unit === "bytes")) || (name === "published" && index.published.length));
      this.fields = {
        show: ts.selectField("show", "Show", { options: () => pairs(shows()), initial: () => "values" }),
        metric: ts.selectField("metric", "Metric", { options: () => index.metrics.map((one) => ({ value: one.id, label: one.label })), initial: () => index.metrics[0].id }),
        by: ts.choicesField("by", "Side by side", { options: () => pairs(available()), initial: () => ["device", "pass"] }),
        m: ts.selectField("m", "Machine", { options: () => index.machines.map((one) => ({ value: one.name, label: one.name })), initial: () => ts.model.defaultMachine }),
        e: ts.selectField("e", "Environment", { options: () => releases.map((one) => ({ value: one.id, label: one.label })), initial: () => ts.model.defaultEnvironment }),
        rev: ts.revisionField("rev", "At revision", { words: () => [["baseline", "the fixed baseline"]], initial: () => "" }),
        other: ts.revisionField("other", "Beside revision", { words: () => [["baseline", "the fixed baseline"]], initial: () => "baseline" }),
        device: ts.selectField("device", "Device", { options: () => all(ts.model.devices, "devices") }),
        pass: ts.selectField("pass", "Pass", { options: () => all(ts.model.passes, "passes") }),
        norm: ts.selectField("norm", "Relative to", { options: () => [{ value: "", label: "nothing (absolute)" }, ...(this.names ?? []).map((value) => ({ value, label: value }))] }),
        scale: ts.selectField("scale", "Scale", { options: () => pairs([["log", "logarithmic"], ["linear", "linear, bars from zero"]]), initial: () => "log" }),
        order: ts.selectField("order", "Order", { options: () => pairs([["value", "largest first"], ["suite", "as in the suites"]]), initial: () => "value" }),
        q: ts.searchField("q", "Filter", "model, suite, …"),
      };
      this.fields.rev.node.querySelector("input").placeholder = "newest figures";
      this.controls = ts.controlBox(Object.values(this.fields));
      this.note = el("p", { class: "note" });
      this.legend = el("ul", { class: "legend", "aria-label": "Marks" });
      this.picture = svg("svg", { class: "chart still", role: "img" });
      this.frame = el("div", { class: "chart-frame" }, this.picture);
      this.table = el("div", {});
      this.actions = el(
        "div",
        { class: "actions" },
        el("button", { type: "button", class: "button", onclick: () => ts.download("comparison.csv", csv({ node: this.table })) }, "Download CSV"),
        ts.permalinkButton(() => this.pinned()),
      );
      this.out = el("div", {}, this.note, this.legend, this.frame, this.actions, this.table);
      this.empty = el("p", { class: "notice", hidden: true });
      ts.appOf(section).replaceChildren(this.controls.node, this.empty, this.out);
      new ResizeObserver(() => {
        const width = Math.round(this.frame.clientWidth);
        if (this.scene && width && Math.abs(width - this.width) > 2) this.draw();
      }).observe(this.frame);
    },
    async update(state) {
      const asked = read(state);
      const ticket = (this.ticket = {});
      const scene = await BUILD[asked.show](asked);
      if (this.ticket !== ticket) return;
      this.names = scene.names ?? [];
      this.controls.show(state);
      const uses = {
        by: asked.show === "values",
        metric: !["memory", "published"].includes(asked.show),
        norm: asked.show === "values",
        scale: !["memory", "published"].includes(asked.show),
        order: asked.show !== "memory",
        other: asked.by.includes("revision"),
        e: !asked.by.includes("torch"),
        m: !asked.by.includes("machine"),
      };
      for (const [key, used] of Object.entries(uses)) if (!used || key === "other") this.fields[key].node.hidden = !used;
      if (scene.rows && asked.order === "value") {
        const size = (row) => Math.max(...row.marks.filter((mark) => mark?.value && !mark.published).map((mark) => mark.value), -1);
        scene.rows.sort((a, b) => size(b) - size(a));
      }
      const count = (scene.rows ?? scene.scatter).length;
      this.empty.hidden = count > 0;
      this.empty.textContent = count ? "" : scene.empty ?? "No figure passes the filters.";
      this.out.hidden = count === 0;
      this.asked = asked;
      this.scene = scene;
      if (!count) return;
      const when = asked.rev < 0 ? "Newest figure of each series" : ts.model.nameOf(asked.rev);
      this.note.textContent = `${scene.note} ${when}.`;
      this.legend.replaceChildren(
        ...scene.columns.map((column) =>
          el(
            "li",
            {},
            svg(
              "svg",
              { class: `chart swatch small ${ts.markClass(column.device, column.pass)}`, viewBox: "0 0 12 12", "aria-hidden": "true", focusable: "false" },
              scene.from === null || scene.scatter ? svg("path", { class: "dot", d: ts.markPath(column.shape ?? 0, 6, 6) }) : svg("rect", { class: `bar ${ts.markClass(column.device, column.pass)}`, x: 1, y: 1.5, width: 10, height: 9 }),
            ),
            column.name,
          ),
        ),
      );
      this.draw();
      this.table.replaceChildren(
        ts.scrollBox(
          "The chart's values",
          scene.table ?? ts.table("The chart's values", ["Model", ...scene.headings.map((text) => ({ text, number: true }))], scene.rows.map((row) => [row.label, ...row.cells])),
        ),
      );
      ts.say(`${ts.plural(count, scene.scatter ? "point" : "model")}.`);
    },
    draw() {
      const { scene } = this;
      this.width = Math.round(this.frame.clientWidth) || 900;
      const width = Math.max(280, this.width - 12);
      const label = `${this.note.textContent} The table below holds every value.`;
      this.picture.setAttribute("aria-label", label);
      if (scene.scatter) ts.drawScatter(this.picture, scene.scatter, { width, xUnit: "seconds", yUnit: "bytes", xLabel: "time →", yLabel: "↑ memory" });
      else ts.drawMarks(this.picture, scene.rows, { width, scale: scene.scale, from: scene.from, unit: scene.unit, tick: scene.tick });
    },
    pinned() {
      const state = ts.here();
      const { asked } = this;
      const newest = Math.max(...ts.model.series.filter((one) => one.m === asked.m && one.e === asked.e && one.last).map((one) => one.last.c));
      return ts.address("compare", {
        ...state.params,
        m: ts.model.index.machines[asked.m].name,
        e: ts.model.index.environments[asked.e].id,
        rev: ts.short(ts.model.commits[asked.rev < 0 ? newest : asked.rev].hash),
      });
    },
  };
})(window.torchspeed);
