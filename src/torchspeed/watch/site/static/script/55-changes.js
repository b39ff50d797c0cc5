// Changes: every series at one revision against another, or in one environment against another.
(function (ts) {
  "use strict";
  const { el } = ts;

  const COLUMNS = [
    { id: "name", text: "Benchmark" },
    { id: "device", text: "Device" },
    { id: "pass", text: "Pass" },
    { id: "base", text: "Base", number: true },
    { id: "now", text: "Now", number: true },
    { id: "change", text: "Change", number: true },
    { id: "noise", text: "In noise", number: true, title: "The change as a multiple of the scatter of the series" },
    { id: "trend", text: "Trend", number: true },
  ];

  /** The whole answer to one address: rows, summary, neighbours. */
  async function compare(state) {
    const { model } = ts;
    const machine = ts.one(state, "m", model.defaultMachine);
    const environment = ts.one(state, "e", model.defaultEnvironment);
    const baseEnvironment = ts.one(state, "be", environment);
    const m = model.machineAt(machine);
    const e = model.environmentAt(environment);
    const be = model.environmentAt(baseEnvironment);
    if (m < 0) throw new Error(`No machine is called “${machine}”: choose one of the list.`);
    if (e < 0 || be < 0) throw new Error(`No environment is called “${e < 0 ? environment : baseEnvironment}”: choose one of the list.`);
    const mine = model.series.filter((one) => one.m === m && one.e === e);
    const theirs = model.series.filter((one) => one.m === m && one.e === be);
    const places = mine.map((one) => one.at);
    const across = be !== e;

    const newest = Math.max(-1, ...mine.map((one) => one.last?.c ?? -1));
    const wanted = ts.one(state, "rev");
    let rev = wanted ? model.findCommit(wanted) : newest;
    if (rev < 0) {
      if (wanted) throw new Error(`No measured commit begins with “${wanted}”: choose one of the list.`);
      throw new Error("Nothing has been measured with this machine and environment yet: choose another.");
    }
    const moved = []; // asked for, but not measured here: the nearest that was stands in
    const measured = async (at, series) => {
      const near = await ts.measuredNear(at, series.map((one) => one.at));
      if (near >= 0 && near !== at) moved.push([at, near]);
      return near >= 0 ? near : at;
    };
    rev = await measured(rev, mine);
    const against = ts.one(state, "base", across ? "same" : "previous");
    let base;
    if (against === "previous") base = await ts.nearestMeasured(rev - 1, -1, theirs.map((one) => one.at));
    else if (against === "same") base = rev;
    else if (against === "baseline") base = await measured(model.baseline, theirs);
    else {
      base = model.findCommit(against);
      if (base < 0) throw new Error(`No measured commit begins with “${against}”: choose one of the list.`);
      base = await measured(base, theirs);
    }

    const window = Number(ts.one(state, "n", "10"));
    const first = Math.max(0, rev - window);
    const history = Array.from({ length: rev - first + 1 }, (_, i) => first + i);
    const read = await ts.figuresAt([rev, base, ...history]);
    const keys = new Map();
    for (const one of mine) keys.set(one.key, { now: one });
    for (const one of theirs) keys.set(one.key, { ...keys.get(one.key), base: one });

    const rows = [];
    for (const [key, pair] of keys) {
      const one = pair.now ?? pair.base;
      const now = pair.now ? read(pair.now.at, rev) : null;
      const then = pair.base && base >= 0 ? read(pair.base.at, base) : null;
      const row = { key, one, what: one.case, metric: one.metric, now, then, ratio: NaN, visible: NaN, inNoise: NaN, verdict: "same", trend: NaN, trendVerdict: "same" };
      const more = one.metric.higher_is_better;
      if (now && then) Object.assign(row, ts.judge(then, now, [pair.base.noise, pair.now.noise], more));
      row.cost = more ? 1 / row.ratio : row.ratio;
      row.history = pair.now ? history.map((at) => read(pair.now.at, at)?.value ?? null) : [];
      const before = row.history.slice(0, -1).filter((value) => value !== null).sort((a, b) => a - b);
      if (now && before.length >= Math.min(3, window)) {
        const middle = before.length >> 1;
        const level = before.length % 2 ? before[middle] : (before[middle - 1] + before[middle]) / 2;
        const trend = ts.judge({ value: level, interval: null }, now, [pair.now.noise, 0], more);
        row.trend = trend.ratio;
        row.trendVerdict = trend.verdict;
      }
      rows.push(row);
    }
    return { m, e, be, rev, base, across, window, rows, newest, places, against, moved };
  }

  const sorters = {
    name: (row) => row.what.row + row.metric.label,
    device: (row) => row.what.device,
    pass: (row) => row.what.pass,
    base: (row) => row.then?.value ?? NaN,
    now: (row) => row.now?.value ?? NaN,
    // Significant first, then by size: what a reader looks for.
    change: (row) => (Number.isFinite(row.cost) ? (row.verdict === "same" ? 0 : 1e3) + Math.abs(Math.log(row.cost)) : NaN),
    noise: (row) => row.inNoise,
    trend: (row) => (Number.isFinite(row.trend) ? (row.trendVerdict === "same" ? 0 : 1e3) + Math.abs(Math.log(row.trend)) : NaN),
  };

  function sorted(rows, order) {
    const down = order.startsWith("-");
    const value = sorters[down ? order.slice(1) : order] ?? sorters.change;
    const sign = down ? -1 : 1;
    return [...rows].sort((a, b) => {
      const x = value(a);
      const y = value(b);
      if (typeof x === "string") return sign * x.localeCompare(y, "en", { numeric: true });
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y); // unknown always last
      return sign * (x - y) || a.what.order - b.what.order;
    });
  }

  function chosen(rows, state) {
    const words = ts.one(state, "q").toLowerCase().split(/\s+/).filter(Boolean);
    const device = ts.one(state, "device");
    const pass = ts.one(state, "pass");
    const metric = ts.one(state, "metric");
    return rows.filter((row) => {
      if (!row.now && !row.then) return false;
      if (device && row.what.device !== device) return false;
      if (pass && row.what.pass !== pass) return false;
      if (metric && row.metric.id !== metric) return false;
      const text = `${row.key} ${row.what.title} ${row.metric.label} ${row.what.group}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }

  /** Count, range and geometric mean of the costs; below 1 is better whatever the metric. */
  function summary(rows) {
    const compared = rows.filter((row) => Number.isFinite(row.cost));
    const line = (name, verdict) => {
      const costs = compared.filter((row) => verdict === null || row.verdict === verdict).map((row) => row.cost);
      return { name, verdict, count: costs.length, low: Math.min(...costs), high: Math.max(...costs), mean: ts.geometricMean(costs) };
    };
    return {
      lines: [line("regressed", "worse"), line("improved", "better"), line("not significant", "same"), line("all compared", null)],
      missing: rows.length - compared.length,
    };
  }

  const RANGE = (line) => (line.count ? (line.count === 1 ? ts.change(line.low) : `${ts.change(line.low)} … ${ts.change(line.high)}`) : "–");

  function summaryTable(sum) {
    const signs = { worse: "✗ ", better: "✓ " };
    return ts.table(
      "Summary of the changes, as cost: less is better, rates are turned over",
      ["verdict", { text: "series", number: true }, { text: "range of cost", number: true }, { text: "geometric mean", number: true }],
      [
        ...sum.lines.map((line) => [
          el("span", { class: line.count && signs[line.verdict] ? `${line.verdict}-text` : null }, (signs[line.verdict] ?? "") + line.name),
          ts.count(line.count),
          RANGE(line),
          line.count ? ts.change(line.mean) : "–",
        ]),
        ["measured on one side only", ts.count(sum.missing), "–", "–"],
      ],
      { className: "list compact" },
    );
  }

  /** How large a change would have had to be: what it means that the others show none. */
  function sensitivity(rows) {
    const compared = rows.filter((row) => Number.isFinite(row.ratio));
    const sizes = compared.map((row) => row.visible).filter(Number.isFinite).sort((a, b) => a - b);
    const unjudged = compared.filter((row) => !Number.isFinite(row.visible));
    const same = unjudged.filter((row) => row.ratio === 1).length;
    const percent = (share) => `${(share * 100).toPrecision(2).replace(/\.0$/, "")}%`;
    const at = (share) => percent(sizes[Math.min(sizes.length - 1, Math.floor(sizes.length * share))]);
    const texts = [
      sizes.length &&
        `Of the ${ts.count(sizes.length)} figures whose spread is known, half would have shown a change of ${at(0.5)}, nine in ten one of ${at(0.9)}: smaller ones cannot be told from chance between two runs.`,
      same && `${ts.count(same)} without a known spread are the same to the last digit.`,
      unjudged.length > same && `Nothing can be said of ${ts.count(unjudged.length - same)}: they differ, and their spread is not known before ${ts.model.rules.confirmed} figures.`,
    ].filter(Boolean);
    return texts.length ? el("p", { class: "note", id: "sensitivity" }, texts.join(" ")) : null;
  }

  /** The command that measures the two again, sample by sample in turn: no chance between runs. */
  function closer(result) {
    if (result.base < 0) return null;
    const { commits, index } = ts.model;
    const side = (at, e) => `${ts.short(commits[at].hash)}${index.environments[e].torch ? "@" + index.environments[e].torch : ""}`;
    const command = `make compare BEFORE=${side(result.base, result.be)} AFTER=${side(result.rev, result.e)}`;
    return el("p", { class: "note", id: "closer" }, "To see smaller ones, measure the two side by side: ", el("code", {}, command));
  }

  function heading(result) {
    const { model } = ts;
    const environments = model.index.environments;
    const name = (at, e) => `${ts.short(model.commits[at].hash)}${result.across ? " " + model.environmentLabel(environments[e]) : ""}`;
    return { now: name(result.rev, result.e), base: result.base < 0 ? "nothing before" : name(result.base, result.be) };
  }

  function markdown(result, rows, sum) {
    const { model } = ts;
    const names = heading(result);
    const lines = [
      `### ${ts.markdown(names.now)} against ${ts.markdown(names.base)}`,
      "",
      `${ts.markdown(model.commits[result.rev].subject)} (${ts.day(model.commits[result.rev].date)}), machine ${ts.markdown(model.index.machines[result.m].name)}, ${ts.markdown(model.index.environments[result.e].label)}`,
      "",
      "| | series | range of cost | geometric mean |",
      "|---|---:|---:|---:|",
      ...sum.lines.map((line) => `| ${line.name} | ${line.count} | ${RANGE(line)} | ${line.count ? ts.change(line.mean) : "–"} |`),
      "",
      `| benchmark | device | pass | metric | ${ts.markdown(names.base)} | ${ts.markdown(names.now)} | change | |`,
      "|---|---|---|---|---:|---:|---:|---|",
      ...rows.map((row) => {
        const { unit, label } = row.metric;
        const sign = { better: "✓ better", worse: "✗ worse", same: "" }[row.verdict];
        const cells = [row.what.row, row.what.device, row.what.pass, label, ts.value(row.then?.value, unit), ts.value(row.now?.value, unit), ts.change(row.ratio), sign];
        return `| ${cells.map(ts.markdown).join(" | ")} |`;
      }),
    ];
    return lines.join("\n") + "\n";
  }

  function csv(result, rows) {
    const commits = ts.model.commits;
    const head = ["case", "model", "device", "pass", "metric", "unit", "base_revision", "base", "revision", "value", "ratio", "verdict", "change_in_noise", "trend_ratio"];
    const finite = (value) => (Number.isFinite(value) ? value : "");
    return ts.csv([
      head,
      ...rows.map((row) => [
        row.key, row.what.row, row.what.device, row.what.pass, row.metric.label, row.metric.unit,
        result.base < 0 ? "" : commits[result.base].hash, row.then?.value ?? "", commits[result.rev].hash, row.now?.value ?? "",
        finite(row.ratio), row.verdict === "same" ? "not significant" : row.verdict, finite(row.inNoise), finite(row.trend),
      ]),
    ]);
  }

  function section(metric, rows, result, state) {
    const order = ts.one(state, "sort", "-change");
    const names = heading(result);
    const timeline = (row) =>
      ts.address("timeline", { s: row.key, m: row.one.machine.name, e: ts.model.index.environments[result.e].id });
    const compared = rows.filter((row) => Number.isFinite(row.ratio));
    const heads = COLUMNS.map((column) => {
      const active = order.replace("-", "") === column.id;
      const text = { base: names.base, now: names.now, trend: `Trend (${result.window})` }[column.id] ?? column.text;
      const next = active ? (order.startsWith("-") ? column.id : `-${column.id}`) : column.number ? `-${column.id}` : column.id;
      const button = el("button", { type: "button", title: column.title ?? null, "data-sort": column.id }, text);
      button.addEventListener("click", () => ts.go({ sort: next === "-change" ? null : next }));
      return el("th", { scope: "col", class: column.number ? "number" : null, "aria-sort": active ? (order.startsWith("-") ? "descending" : "ascending") : null }, button);
    });
    const line = (row) =>
      el(
        "tr",
        {},
        el("th", { scope: "row" }, el("a", { href: timeline(row) }, row.what.model), row.what.details ? el("span", { class: "muted" }, " " + row.what.details) : null),
        el("td", {}, row.what.device ? [ts.key(row.what.device, row.what.pass), row.what.device] : "–"),
        el("td", {}, row.what.pass || "–"),
        el("td", { class: "number" }, ts.value(row.then?.value, metric.unit)),
        el("td", { class: "number" }, ts.value(row.now?.value, metric.unit)),
        el("td", { class: "number" }, Number.isFinite(row.ratio) ? ts.delta(row.ratio, row.verdict) : el("span", { class: "muted" }, "–")),
        el("td", { class: "number" }, Number.isFinite(row.inNoise) ? `${row.inNoise.toFixed(1)}×` : "–"),
        el("td", { class: "number" }, Number.isFinite(row.trend) ? ts.delta(row.trend, row.trendVerdict) : el("span", { class: "muted" }, "–")),
        el("td", { "aria-hidden": "true" }, ts.sparkline(row.history, row.verdict)),
      );
    const body = el("tbody", {}, rows.slice(0, ts.PAGE).map(line));
    const mean = ts.geometricMean(compared.map((row) => row.ratio));
    const title = `${metric.label}, ${metric.higher_is_better ? "more" : "less"} is better`;
    return el(
      "section",
      { class: "unit" },
      el("h2", {}, metric.label, el("span", { class: "muted" }, ` · ${metric.higher_is_better ? "more" : "less"} is better`,
        compared.length ? ` · geometric mean ${ts.change(mean)} of ${ts.plural(compared.length, "series").replace(/seriess$/, "series")}` : "")),
      ts.scrollBox(
        title,
        el("table", { class: "list" }, el("caption", { class: "visually-hidden" }, title), el("thead", {}, el("tr", {}, heads, el("td", { "aria-hidden": "true" }))), body),
      ),
      ts.moreButton(body, rows, line),
    );
  }

  function commitBar(result, state, neighbours) {
    const { model } = ts;
    const commit = model.commits[result.rev];
    const link = (at, text) =>
      at >= 0 ? el("a", { href: ts.address("changes", { ...state.params, rev: ts.short(model.commits[at].hash) }) }, text) : el("span", { class: "muted" }, text);
    return el(
      "div",
      { class: "commit-bar" },
      link(neighbours.older, "← older"),
      el("span", { class: "subject" }, ts.commitLink(result.rev), ` · ${ts.day(commit.date)} · ${commit.subject} `, commit.tags.map((tag) => el("span", { class: "badge" }, tag))),
      link(neighbours.newer, "newer →"),
    );
  }

  function between(result) {
    const { model } = ts;
    if (result.base < 0) return null;
    const first = Math.min(result.base, result.rev);
    const last = Math.max(result.base, result.rev);
    const concerns = (event) => event.kind !== "environment" && event.m === result.m && (event.e === null || event.e === result.e || event.e === result.be);
    const events = model.index.events.filter((event) => concerns(event) && event.c > first && event.c <= last);
    const count = last - first;
    const commits = model.commits[last].position - model.commits[first].position;
    const measured = commits > count ? `, ${ts.count(count)} of them measured` : "";
    const list = el("details", { class: "fold" }, el("summary", {}, commits === 1 ? "The one commit after the base" : `The ${ts.count(commits)} commits after the base${measured}`));
    list.addEventListener("toggle", () => {
      if (!list.open || list.children.length > 1) return;
      const shown = model.commits.slice(Math.max(first + 1, last - 199), last + 1).reverse();
      list.append(el("ol", { class: "commits", reversed: true }, shown.map((commit) => el("li", {}, ts.commitLink(commit.at), ` ${ts.day(commit.date)} ${commit.subject}`))));
      if (count > shown.length) list.append(el("p", { class: "note" }, `… and ${ts.count(count - shown.length)} older.`));
    });
    return [
      events.length
        ? el("p", { class: "notice" }, "The environment changed in between: ", events.map((event) => `${event.text} (${ts.short(model.commits[event.c].hash)})`).join("; "), ". A change of every series may come from there.")
        : null,
      count > 0 ? list : null,
    ];
  }

  ts.views.changes = {
    title: "Changes",
    mount(section) {
      const { index, releases } = ts.model;
      const all = (values, word) => [{ value: "", label: `all ${word}` }, ...values.map((value) => ({ value, label: value }))];
      const environments = () => releases.map((one) => ({ value: one.id, label: one.label }));
      const baseWords = () => [["previous", "the measured commit before"], ["baseline", "the fixed baseline"], ["same", "the same commit"]];
      this.controls = ts.controlBox([
        ts.revisionField("rev", "Results for revision", { initial: () => (this.result ? ts.short(ts.model.commits[this.result.rev].hash) : "") }),
        ts.revisionField("base", "Compared with", { words: baseWords, initial: () => this.result?.against ?? "previous" }),
        ts.selectField("m", "Machine", { options: () => index.machines.map((one) => ({ value: one.name, label: one.name })), initial: () => ts.model.defaultMachine }),
        ts.selectField("e", "Environment", { options: environments, initial: () => ts.model.defaultEnvironment }),
        ts.selectField("be", "Base environment", { options: environments, initial: () => ts.one(ts.here(), "e", ts.model.defaultEnvironment) }),
        ts.selectField("n", "Trend over", { options: () => ["5", "10", "20", "50", "100"].map((value) => ({ value, label: `${value} commits` })), initial: () => "10" }),
        ts.selectField("metric", "Metric", { options: () => [{ value: "", label: "all metrics" }, ...index.metrics.map((one) => ({ value: one.id, label: one.label }))] }),
        ts.selectField("device", "Device", { options: () => all(ts.model.devices, "devices") }),
        ts.selectField("pass", "Pass", { options: () => all(ts.model.passes, "passes") }),
        ts.searchField("q", "Filter", "model, suite, …"),
        ts.checkField("sig", "only significant"),
      ]);
      this.shortcuts = el("p", { class: "note shortcuts" });
      this.out = el("div", { class: "out" });
      ts.appOf(section).replaceChildren(this.controls.node, this.shortcuts, this.out);
    },
    async update(state) {
      this.controls.show(state);
      let result;
      try {
        result = await compare(state);
      } catch (error) {
        this.out.replaceChildren(el("p", { class: "notice trouble", role: "alert" }, error.message));
        return;
      }
      const neighbours = {
        older: await ts.nearestMeasured(result.rev - 1, -1, result.places),
        newer: await ts.nearestMeasured(result.rev + 1, 1, result.places),
      };
      if (state.view !== ts.here().view) return; // the reader went elsewhere meanwhile
      this.result = result;
      this.controls.show(state);
      this.draw(state, result, neighbours);
    },
    draw(state, result, neighbours) {
      const { model } = ts;
      const every = chosen(result.rows, state);
      const sum = summary(every);
      const wanted = ts.one(state, "sig") === "1" ? every.filter((row) => row.verdict !== "same") : every;
      const rows = sorted(wanted, ts.one(state, "sort", "-change"));
      const groups = new Map();
      for (const row of rows) {
        if (!groups.has(row.metric)) groups.set(row.metric, []);
        groups.get(row.metric).push(row);
      }
      const [worse, better] = sum.lines;
      const names = heading(result);
      const pinned = () =>
        ts.address("changes", {
          ...state.params,
          rev: ts.short(model.commits[result.rev].hash),
          base: result.base < 0 ? null : ts.short(model.commits[result.base].hash),
          m: model.index.machines[result.m].name,
          e: model.index.environments[result.e].id,
          be: result.across ? model.index.environments[result.be].id : null,
        });
      const text = el("textarea", { class: "export", readonly: true, "aria-label": "The changes as Markdown" });
      const asText = el("details", { class: "fold" }, el("summary", {}, "Markdown as text"), text);
      asText.addEventListener("toggle", () => asText.open && (text.value = markdown(result, rows, sum)));

      this.shortcuts.replaceChildren(...shortcuts(state, result));
      const parts = [
        commitBar(result, state, neighbours),
        result.moved.map(([at, near]) =>
          el("p", { class: "notice" }, `${ts.short(model.commits[at].hash)} was not measured here: the nearest commit that was, ${ts.short(model.commits[near].hash)}, stands in for it.`),
        ),
        result.base < 0 && every.length ? el("p", { class: "notice" }, NOTHING_BEFORE) : null,
        between(result),
        ts.scrollBox("Summary of the changes", summaryTable(sum)),
        sensitivity(every),
        closer(result),
        el(
          "div",
          { class: "actions" },
          ts.doneButton("Copy as Markdown", "Markdown copied", () => ts.copy(markdown(result, rows, sum), "Markdown")),
          el("button", { type: "button", class: "button", onclick: () => ts.download(`changes-${names.now.split(" ")[0]}.csv`, csv(result, rows)) }, "Download CSV"),
          ts.permalinkButton(pinned),
        ),
        asText,
        rows.length
          ? [...model.index.metrics].filter((metric) => groups.has(metric)).map((metric) => section(metric, groups.get(metric), result, state))
          : el("p", { class: "notice" }, emptyText(result, state)),
      ];
      // A sort button that was pressed is drawn anew: the keyboard stays where it was.
      const pressed = document.activeElement?.dataset?.sort;
      const nth = pressed ? [...this.out.querySelectorAll(`[data-sort="${pressed}"]`)].indexOf(document.activeElement) : -1;
      this.out.replaceChildren(...parts.flat(2).filter(Boolean));
      if (nth >= 0) this.out.querySelectorAll(`[data-sort="${pressed}"]`)[nth]?.focus();
      ts.say(`${ts.count(rows.length)} series, ${worse.count} regressed, ${better.count} improved.`);
    },
  };

  const NOTHING_BEFORE = "Nothing was measured before this commit in this environment, so there is nothing to compare with: choose another base, or another base environment.";

  function emptyText(result, state) {
    if (result.base < 0) return NOTHING_BEFORE;
    if (ts.one(state, "sig") === "1") return "No series that passes the filters changed significantly between the two.";
    return "No series passes the filters.";
  }

  /** Questions that are asked most, as links. */
  function shortcuts(state, result) {
    const { model } = ts;
    const keep = { m: state.params.m, e: state.params.e };
    const links = [
      ["changes found lately", "#latest-changes"],
      ["newest against the one before", ts.address("changes", keep)],
      ["newest against the baseline", ts.address("changes", { ...keep, base: "baseline" })],
    ].filter(([, href]) => href.startsWith("#/") || document.querySelector(href));
    const releases = model.releases.filter((one) => one.torch);
    for (let i = releases.length - 1; i > 0; i--) {
      const [newer, older] = [releases[i], releases[i - 1]];
      links.push([
        `${model.environmentLabel(newer)} against ${model.environmentLabel(older).replace(/^torch /, "")}`,
        ts.address("changes", { m: state.params.m, e: newer.id === model.defaultEnvironment ? null : newer.id, be: older.id }),
      ]);
    }
    return ["Often asked: ", ...links.flatMap(([text, href], i) => [i ? " · " : "", el("a", { href }, text)]), "."];
  }
})(window.torchspeed);
