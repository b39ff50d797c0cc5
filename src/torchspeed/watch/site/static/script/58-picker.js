// The list from which series of the timeline are picked: models, each with its devices and passes.
(function (ts) {
  "use strict";
  const { el } = ts;

  ts.buildPicker = function () {
    const list = el("div", { class: "picker-list" });
    const filter = ts.searchField("q", "Find a model", "darnn, cpu, backward …");
    const metric = ts.selectField("metric", "Metric", {
      options: () => ts.model.index.metrics.map((one) => ({ value: one.id, label: one.label })),
      initial: (state) => shownMetric(state ?? ts.here()).id,
      change: (patch) => ts.go({ ...patch, metric: patch.metric ?? ts.model.index.metrics[0].id }),
    });
    const all = el("button", { type: "button", class: "button", onclick: () => pick(visible(ts.here()).map((one) => one.key)) }, "All listed");
    const none = el("a", { class: "button", href: "#/timeline" }, "Every model");
    const node = el(
      "details",
      { class: "picker", "aria-label": "Choose series" },
      el("summary", {}, "Choose series"),
      el("div", { class: "fields" }, metric.node, filter.node),
      el("div", { class: "actions" }, all, none),
      list,
    );
    const roomy = matchMedia("(min-width: 56rem)");
    const fit = () => (node.open = roomy.matches);
    fit();
    roomy.addEventListener("change", fit);

    const pick = (keys) => ts.go({ s: keys.length ? keys : null, from: null, to: null });

    function visible(state) {
      const metricAt = ts.model.index.metrics.indexOf(shownMetric(state));
      const words = ts.one(state, "q").toLowerCase().split(/\s+/).filter(Boolean);
      return ts.model.allCases.filter(
        (one) => one.metricAt === metricAt && (one.measured || ts.many(state, "s").includes(one.key)) && words.every((word) => `${one.title} ${one.group}`.toLowerCase().includes(word)),
      );
    }

    let drawn = "";
    function show(state) {
      metric.show(state);
      filter.show(state);
      const chosen = new Set(ts.many(state, "s"));
      none.hidden = chosen.size === 0;
      none.href = ts.address("timeline", { ...state.params, s: null, from: null, to: null });
      const cases = visible(state);
      const key = cases.map((one) => one.key).join("\n");
      if (key !== drawn) {
        drawn = key;
        const rows = new Map();
        for (const one of cases) {
          if (!rows.has(one.rowId)) rows.set(one.rowId, []);
          rows.get(one.rowId).push(one);
        }
        list.replaceChildren(
          ...[...rows.values()].map((members) =>
            el(
              "fieldset",
              { class: "pick" },
              el("legend", {}, members[0].model, members[0].details ? el("span", { class: "muted" }, " " + members[0].details) : null),
              members.sort(ts.byColumn).map((one) => {
                const box = el("input", { type: "checkbox", value: one.key });
                box.addEventListener("change", () => {
                  const now = ts.many(ts.here(), "s").filter((other) => other !== one.key);
                  pick(box.checked ? [...now, one.key] : now);
                });
                return el("label", { class: "check" }, box, ts.key(one.device, one.pass), one.column);
              }),
            ),
          ),
        );
        if (!cases.length) list.append(el("p", { class: "note" }, "No series is called so."));
      }
      for (const box of list.querySelectorAll("input")) box.checked = chosen.has(box.value);
    }
    return { node, show };
  };

  /** The metric in view: the one asked for, else that of the first series chosen. */
  function shownMetric(state) {
    const metrics = ts.model.index.metrics;
    const asked = metrics.find((metric) => metric.id === ts.one(state, "metric"));
    return asked ?? ts.model.cases.get(ts.many(state, "s")[0])?.metric ?? metrics[0];
  }
  ts.shownMetric = shownMetric;
})(window.torchspeed);
