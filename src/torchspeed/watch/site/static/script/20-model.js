// The index as things with names: commits, cases, series; and the rule that decides
// whether two figures differ.
(function (ts) {
  "use strict";

  /** What a function of a suite measures, beyond its metric and its pass. */
  function subject(benchmark, metric, pass) {
    const name = benchmark.name.split(".").pop();
    const words = name.replace(/^(time|timeraw|peakmem|mem|track)_/, "").split("_").filter((word) => word && word !== pass);
    const rest = words.join(" ");
    return rest === metric.label || metric.label.startsWith(`${rest} `) || rest.replaceAll(" ", "-") === metric.id ? "" : rest;
  }

  /** A parameter as a person says it: "batch 5", but "compiled" and not "mode compiled". */
  ts.setting = (name, value) => (/^\p{L}/u.test(value) && !["True", "False", "None"].includes(value) ? value : `${name} ${value}`);

  const compareVersions = (a, b) => a.localeCompare(b, "en", { numeric: true });

  ts.buildModel = function (index) {
    const commits = index.commits.map(([hash, date, text, tags, position], at) => ({ hash, date, subject: text, tags, position, at }));
    const newest = commits.length - 1;
    const cases = new Map();
    const named = ["model", "device", "pass"]; // these have a place of their own
    const byPlace = new Map();

    const series = index.series.map((raw, at) => {
      const machine = index.machines[raw.m];
      const environment = index.environments[raw.e];
      const benchmark = index.benchmarks[raw.b];
      const metric = index.metrics[benchmark.metric];
      const key = raw.id.slice(machine.name.length + environment.id.length + 2);
      const { metric: _, ...labels } = raw.labels;
      if (!cases.has(key)) {
        const others = Object.entries(labels).filter(([name]) => !named.includes(name));
        const what = subject(benchmark, metric, labels.pass);
        const details = [...(what ? [what] : []), ...others.map(([name, value]) => ts.setting(name, value))];
        const model = labels.model ?? benchmark.name.split(".").slice(-2, -1)[0] ?? benchmark.name;
        const column = [labels.device, labels.pass].filter(Boolean).join(" · ") || metric.label;
        cases.set(key, {
          key,
          order: cases.size,
          benchmark,
          metric,
          metricAt: benchmark.metric,
          labels,
          model,
          details: details.join(", "),
          row: [model, ...details].join(", "),
          rowId: JSON.stringify([benchmark.group, model, ...details]),
          column,
          group: benchmark.group,
          device: labels.device ?? "",
          pass: labels.pass ?? "",
          mode: labels.mode ?? "",
          title: [model, ...details, column].join(" · "),
        });
      }
      if (raw.last) cases.get(key).measured = true;
      const one = { ...raw, at: at, newestRun: raw.at, key, case: cases.get(key), machine, environment, benchmark, metric };
      byPlace.set(`${key}\n${raw.m}\n${raw.e}`, one);
      return one;
    });

    const stepsOf = new Map();
    for (const change of index.changes) {
      if (!stepsOf.has(change.s)) stepsOf.set(change.s, []);
      stepsOf.get(change.s).push(change);
    }

    const unique = (values) => [...new Set(values)].filter((value) => value !== "");
    const rank = new Map(index.groups.map((group, at) => [group, at]));
    const allCases = [...cases.values()].sort((a, b) => rank.get(a.group) - rank.get(b.group) || a.order - b.order);
    allCases.forEach((one, at) => (one.order = at));
    const releases = index.environments
      .map((environment, at) => ({ ...environment, at }))
      .sort((a, b) => compareVersions(a.torch, b.torch) || a.at - b.at);

    // Where a reader starts: the machine with most series, its environment with the newest figures.
    const tally = index.machines.map((_, m) => series.filter((one) => one.m === m && one.last).length);
    const firstMachine = tally.indexOf(Math.max(...tally));
    const reach = (environment) =>
      Math.max(-1, ...series.filter((one) => one.m === firstMachine && one.e === environment.at && one.last).map((one) => one.last.c));
    const firstEnvironment = [...releases].sort((a, b) => reach(b) - reach(a) || compareVersions(b.torch, a.torch))[0];

    const hashOrder = commits.map((commit) => commit.hash.toLowerCase());
    const tagged = new Map(commits.flatMap((commit) => commit.tags.map((tag) => [tag, commit.at])));

    const model = {
      index,
      commits,
      newest,
      series,
      cases,
      allCases,
      releases,
      stepsOf,
      /** A step is news for so many commits; older ones are told without colour. */
      news: index.rules.news,
      rules: index.rules,
      devices: unique(allCases.map((one) => one.device)).sort((a, b) => (b === "cpu") - (a === "cpu")),
      passes: unique(allCases.map((one) => one.pass)),
      modes: unique(allCases.map((one) => one.mode)),
      /** A metric of a device that no machine has is not worth a tab. */
      metricsWithFigures: new Set(series.filter((one) => one.last).map((one) => one.case.metricAt)),
      defaultMachine: index.machines[firstMachine]?.name ?? "",
      defaultEnvironment: firstEnvironment?.id ?? "",
      baseline: index.baseline ?? 0,

      machineAt: (name) => index.machines.findIndex((machine) => machine.name === name),
      environmentAt: (id) => index.environments.findIndex((environment) => environment.id === id),
      find: (key, m, e) => byPlace.get(`${key}\n${m}\n${e}`),

      /** The place of a commit given by the beginning of its hash, or by a tag; -1 if none. */
      findCommit(text) {
        const wanted = text.trim().toLowerCase();
        if (tagged.has(text.trim())) return tagged.get(text.trim());
        if (!/^[0-9a-f]{4,40}$/.test(wanted)) return -1;
        return hashOrder.findIndex((hash) => hash.startsWith(wanted));
      },

      /** How a commit is called in one line. */
      nameOf(at) {
        const commit = commits[at];
        return commit ? `${ts.short(commit.hash)} · ${ts.day(commit.date)} · ${commit.subject}` : "";
      },

    };
    // Two environments may pin the same torch: only then is more than the release said.
    const twice = new Set(releases.map((one) => one.torch).filter((torch, i, all) => all.indexOf(torch) !== i));
    /** The name of an environment in a word or two. */
    model.environmentLabel = (environment) =>
      environment.torch && !twice.has(environment.torch) ? `torch ${environment.torch}` : environment.label;
    return model;
  };

  const spanOf = (value, low, high) =>
    value === null || low === null || low === undefined || high === null || high === undefined
      ? null
      : [value * (1 - low / 1e4), value * (1 + high / 1e4)];

  let firstOf = null;
  /** Every run of one series, from a file of its benchmark: a promise. */
  ts.runsOf = async function (one) {
    // Series are sorted by benchmark, and so many of a benchmark share a file.
    firstOf ??= new Map([...ts.model.series].reverse().map((series) => [series.benchmark, series.at]));
    const part = Math.floor((one.at - firstOf.get(one.benchmark)) / ts.model.index.share);
    const file = await ts.load(`s/${one.benchmark.slug}${part ? `~${part}` : ""}`);
    file.places ??= new Map(file.series.map((entry) => [entry.s, entry]));
    const entry = file.places.get(one.at);
    if (!entry) return { points: [], others: [], levels: [] };
    entry.runs ??= {
      points: entry.v.flatMap((value, i) =>
        value === null
          ? []
          : [
              {
                at: entry.from + i,
                value,
                interval: entry.lo ? spanOf(value, entry.lo[i], entry.hi[i]) : null,
                quartiles: entry.q1 ? spanOf(value, entry.q1[i], entry.q3[i]) : null,
              },
            ],
      ),
      others: (entry.other ?? []).map(([at, outcome, reason]) => ({ at, outcome, reason })),
      levels: (entry.steps ?? []).map(([first, last, level]) => ({ first, last, level })),
    };
    return entry.runs;
  };

  /** Reads figures of any series at some commits, from blocks of revisions: a promise. */
  ts.figuresAt = async function (places) {
    const size = ts.model.index.block;
    const numbers = [...new Set(places.filter((at) => at >= 0).map((at) => Math.floor(at / size)))];
    const blocks = new Map((await ts.loadAll(numbers.map((n) => `r/${n}`))).map((block, i) => [numbers[i], block]));
    return (s, at) => {
      const entry = blocks.get(Math.floor(at / size))?.series[s];
      const i = at % size;
      const value = entry?.v[i] ?? null;
      return value === null ? null : { value, interval: entry.lo ? spanOf(value, entry.lo[i], entry.hi[i]) : null };
    };
  };

  /**
   * The nearest commit from `at` on, going by `stride`, at which any of these series has a
   * figure; -1 if there is none. A promise.
   */
  ts.nearestMeasured = async function (at, stride, places) {
    const size = ts.model.index.block;
    for (let here = at; here >= 0 && here <= ts.model.newest; here += stride) {
      const block = await ts.load(`r/${Math.floor(here / size)}`);
      if (places.some((s) => (block.series[s]?.v[here % size] ?? null) !== null)) return here;
    }
    return -1;
  };

  /** The commit itself if it was measured, else the nearest before it, else the nearest after. */
  ts.measuredNear = async function (at, places) {
    const before = await ts.nearestMeasured(at, -1, places);
    return before >= 0 ? before : ts.nearestMeasured(at, 1, places);
  };

  const apart = (a, b) => !a.interval || !b.interval || a.interval[0] > b.interval[1] || b.interval[0] > a.interval[1];

  /**
   * Compares a figure with a base figure of a like series, by the rule of docs/site-data.md.
   * Significant is a change of at least the smallest effect of interest whose intervals are
   * apart, where both are known, and that goes beyond the noise, where that is known.
   * `noises` are the relative scatter of the two figures; null where unknown.
   */
  ts.judge = function (base, now, noises, higherIsBetter) {
    const ratio = now.value / base.value;
    const { min_effect: least, noise_factor: factor } = ts.model.rules;
    const size = Math.abs(Math.log(ratio));
    const known = noises.every((noise) => noise !== null && noise !== undefined);
    const noise = known ? Math.hypot(...noises) : NaN;
    const judged = known;
    const significant = judged && Number.isFinite(size) && size >= Math.log1p(least) && apart(base, now) && !(size <= factor * noise);
    const good = ratio > 1 === higherIsBetter;
    // The least change that would have counted here: what "not significant" is worth.
    const reach = (figure, side) => (figure.interval ? Math.abs(Math.log(figure.interval[side] / figure.value)) : 0);
    const spread = base.interval && now.interval ? Math.max(reach(base, 1) + reach(now, 0), reach(base, 0) + reach(now, 1)) : 0;
    const visible = judged ? Math.expm1(Math.max(Math.log1p(least), known ? factor * noise : 0, Number.isFinite(spread) ? spread : 0)) : NaN;
    return { ratio, visible, inNoise: noise > 0 ? size / noise : NaN, verdict: significant ? (good ? "better" : "worse") : "same" };
  };
})(window.torchspeed);
