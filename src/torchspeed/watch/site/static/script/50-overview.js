// Overview: every model by device and pass. The page arrives with the first matrix drawn;
// this draws it again for another metric, machine or environment.
(function (ts) {
  "use strict";
  const { el } = ts;

  function standing(one) {
    if (one.status === "failed" || one.status === "timed out" || one.status === "skipped" || one.status === "never run")
      return ts.outcomeTag(one.status, one.status, one.reason);
    if (one.status === "stale") return ts.outcomeTag("stale", `${one.behind} behind`, `last measured ${one.behind} commits ago`);
    if (!one.change) {
      const count = one.spark.filter((value) => value !== null).length;
      const word = count < 2 ? "first figure" : count < ts.model.rules.confirmed ? `${count} figures` : "steady";
      const title = word === "steady" ? "no lasting change was found" : `a change takes ${ts.model.rules.confirmed} figures to be sure of`;
      return el("span", { class: "change steady", title }, word);
    }
    const since = `since ${ts.model.nameOf(one.change.c)}`;
    const old = ts.model.newest - one.change.c >= ts.model.news;
    const sign = ts.delta(one.change.ratio, old ? "same" : one.change.verdict);
    sign.title = since;
    if (old) sign.classList.add("old");
    return sign;
  }

  function cell(one) {
    if (!one) return el("td", { class: "none" }, el("span", { class: "muted", title: "no such case" }, "–"));
    const address = ts.address("timeline", { s: one.key, m: one.machine.name, e: one.environment.id });
    const fresh = one.change && ts.model.newest - one.change.c < ts.model.news ? one.change.verdict : "";
    const value = el("span", { class: "value" }, ts.value(one.last?.v, one.metric.unit));
    const state = standing(one);
    const link = el(
      "a",
      // In a list of links, as screen readers offer it, a figure alone would say nothing.
      { class: `cell ${ts.markClass(one.case.device, one.case.pass)}`, href: address, "aria-label": `${value.textContent} ${state.textContent}, ${one.case.title}` },
      value,
      state,
      ts.sparkline(one.spark, fresh),
    );
    return el("td", {}, link);
  }

  function matrix(metricAt, m, e) {
    const chosen = ts.model.series.filter((one) => one.m === m && one.e === e && one.case.metricAt === metricAt).sort((a, b) => a.case.order - b.case.order);
    const metric = ts.model.index.metrics[metricAt];
    const columns = [];
    const groups = new Map();
    // A column that this machine skips from top to bottom is a sentence, not a column.
    const live = new Set(chosen.filter((one) => one.last || !["skipped", "never run"].includes(one.status)).map((one) => one.case.column));
    const skipped = new Map();
    for (const one of chosen) {
      const { case: what } = one;
      if (live.size && !live.has(what.column)) {
        if (!skipped.get(what.column)) skipped.set(what.column, one.reason || one.status);
        continue;
      }
      if (!columns.some((column) => column.name === what.column)) columns.push({ name: what.column, device: what.device, pass: what.pass });
      if (!groups.has(what.group)) groups.set(what.group, new Map());
      const rows = groups.get(what.group);
      if (!rows.has(what.rowId)) rows.set(what.rowId, { what, cells: new Map() });
      rows.get(what.rowId).cells.set(what.column, one);
    }
    columns.sort((a, b) => ts.byColumn(a, b));
    const table = el(
      "table",
      { class: "matrix" },
      el("caption", { class: "visually-hidden" }, `Newest ${metric.label} of every model, with its change since its last step`),
      el(
        "thead",
        {},
        el("tr", {}, el("th", { scope: "col" }, "Model"), columns.map((column) => el("th", { scope: "col" }, ts.key(column.device, column.pass), column.name))),
      ),
      [...groups].map(([group, rows]) =>
        el(
          "tbody",
          {},
          groups.size > 1 ? el("tr", { class: "family" }, el("th", { scope: "rowgroup", colspan: columns.length + 1 }, group)) : null,
          [...rows.values()].map(({ what, cells }) =>
            el(
              "tr",
              {},
              el("th", { scope: "row" }, el("span", { class: "model" }, what.model), what.details ? el("span", { class: "muted" }, " " + what.details) : null),
              columns.map((column) => cell(cells.get(column.name))),
            ),
          ),
        ),
      ),
    );
    return { table, skipped };
  }

  ts.views.overview = {
    title: "Overview",
    mount(section) {
      this.box = section.querySelector("#overview-matrix");
      if (!this.box) return;
      const { index } = ts.model;
      this.tabs = el("nav", { class: "tabs", "aria-label": "Metric" });
      this.machine = ts.selectField("m", "Machine", {
        options: () => index.machines.map((machine) => ({ value: machine.name, label: machine.name })),
        initial: () => ts.model.defaultMachine,
      });
      this.environment = ts.selectField("e", "Environment", {
        options: () => ts.model.releases.map((one) => ({ value: one.id, label: one.label })),
        initial: () => ts.model.defaultEnvironment,
      });
      this.note = el("p", { class: "note" });
      this.matrix = ts.scrollBox("Newest figures");
      const fields = el("div", { class: "fields" }, this.machine.node, this.environment.node);
      this.box.replaceChildren(el("div", { class: "matrix-bar" }, this.tabs, fields), this.matrix, this.note);
    },
    update(state) {
      if (!this.box) return;
      const { index } = ts.model;
      this.machine.show(state);
      this.environment.show(state);
      const wanted = ts.one(state, "metric", index.metrics[0]?.id);
      const metricAt = Math.max(0, index.metrics.findIndex((metric) => metric.id === wanted));
      const m = Math.max(0, ts.model.machineAt(ts.one(state, "m", ts.model.defaultMachine)));
      const e = Math.max(0, ts.model.environmentAt(ts.one(state, "e", ts.model.defaultEnvironment)));
      this.tabs.replaceChildren(
        ...index.metrics.map((metric, i) =>
          ts.model.metricsWithFigures.has(i) || i === metricAt
            ? el(
                "a",
                {
                  href: ts.address("overview", { ...state.params, metric: i === 0 ? null : metric.id }),
                  "aria-current": i === metricAt ? "true" : null,
                },
                metric.label,
              )
            : "",
        ),
      );
      const { table, skipped } = matrix(metricAt, m, e);
      this.matrix.replaceChildren(table);
      const metric = index.metrics[metricAt];
      this.note.replaceChildren(
        `${metric.higher_is_better ? "More" : "Less"} is better. Each change is since the last step found in the series: `,
        `coloured for ${ts.model.news} commits, grey after. Choose a figure to see its history.`,
        ...[...skipped].map(([column, reason]) => ` Not shown: ${column}, skipped here (${reason}).`),
      );
    },
  };
})(window.torchspeed);
