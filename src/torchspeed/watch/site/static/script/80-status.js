// Status: how the newest run of every case went, why, and how noisy each series is.
(function (ts) {
  "use strict";
  const { el } = ts;

  /** What needs a look comes first. */
  const WORST_FIRST = ["failed", "timed out", "stale", "never run", "skipped", "ok"];

  const sorters = {
    outcome: (one) => WORST_FIRST.indexOf(one.status),
    case: (one) => one.case.order,
    where: (one) => `${one.machine.name} ${ts.model.environmentLabel(one.environment)}`,
    at: (one) => one.newestRun ?? -1,
    noise: (one) => one.noise ?? -1,
  };
  const COLUMNS = [
    { id: "case", text: "Case" },
    { id: "where", text: "Where" },
    { id: "outcome", text: "Newest run" },
    { id: "at", text: "At" },
    { id: "noise", text: "Noise", number: true },
  ];

  function chosen(state) {
    const outcome = ts.one(state, "outcome");
    const m = ts.one(state, "m");
    const e = ts.one(state, "e");
    const words = ts.one(state, "q").toLowerCase().split(/\s+/).filter(Boolean);
    return ts.model.series.filter((one) => {
      if (outcome && one.status !== outcome) return false;
      if (m && one.machine.name !== m) return false;
      if (e && one.environment.id !== e) return false;
      const text = `${one.key} ${one.case.group} ${one.reason ?? ""}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }

  function why(one) {
    if (one.status === "stale") return `last measured ${ts.plural(one.behind, "commit")} before the newest`;
    if (!one.reason) return one.status === "failed" ? "the run left no message" : "";
    const [first, ...rest] = one.reason.trim().split("\n");
    return rest.length ? el("details", {}, el("summary", {}, first), el("pre", {}, one.reason)) : first;
  }

  function row(one) {
    const at = one.newestRun;
    const commit = ts.model.commits[at];
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, el("a", { href: ts.address("timeline", { s: one.key, m: one.machine.name, e: one.environment.id }) }, one.case.title), el("span", { class: "muted" }, ` · ${one.metric.label}`)),
      el("td", {}, one.machine.name, el("span", { class: "muted" }, ` · ${ts.model.environmentLabel(one.environment)}`)),
      el("td", {}, ts.outcomeTag(one.status)),
      el("td", {}, commit ? [ts.commitLink(at), ` ${ts.day(commit.date)}`] : "–"),
      el("td", { class: "number" }, one.noise > 0 ? ts.spread(one.noise) : "–"),
      el("td", { class: "text" }, why(one)),
    );
  }

  ts.views.status = {
    title: "Status",
    mount(section) {
      const { index, releases } = ts.model;
      this.controls = ts.controlBox([
        ts.selectField("outcome", "Newest run", { options: () => [{ value: "", label: "any" }, ...ts.outcomes.map((value) => ({ value, label: value }))] }),
        ts.selectField("m", "Machine", { options: () => [{ value: "", label: "all machines" }, ...index.machines.map((one) => ({ value: one.name, label: one.name }))] }),
        ts.selectField("e", "Environment", { options: () => [{ value: "", label: "all environments" }, ...releases.map((one) => ({ value: one.id, label: one.label }))] }),
        ts.searchField("q", "Filter", "case or message"),
      ]);
      this.tally = el("p", { class: "tally" });
      this.out = el("div", {});
      ts.appOf(section).replaceChildren(this.tally, this.controls.node, this.out);
    },
    update(state) {
      this.controls.show(state);
      const counts = new Map(ts.outcomes.map((outcome) => [outcome, 0]));
      for (const one of ts.model.series) counts.set(one.status, counts.get(one.status) + 1);
      this.tally.replaceChildren(
        ...[...counts]
          .filter(([, count]) => count)
          .map(([outcome, count]) =>
            el("a", { class: "tally-item", href: ts.address("status", { outcome }), "aria-current": ts.one(state, "outcome") === outcome ? "true" : null }, ts.outcomeTag(outcome), ` ${ts.count(count)}`),
          ),
        el("a", { class: "tally-item", href: ts.address("status") }, `all ${ts.count(ts.model.series.length)}`),
      );
      const order = ts.one(state, "sort", "outcome");
      const down = order.startsWith("-");
      const value = sorters[down ? order.slice(1) : order] ?? sorters.outcome;
      const list = chosen(state).sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        return (down ? -1 : 1) * (typeof x === "string" ? x.localeCompare(y, "en", { numeric: true }) : x - y) || a.at - b.at;
      });
      const heads = COLUMNS.map((column) => {
        const active = order.replace("-", "") === column.id;
        const next = active ? (down ? column.id : `-${column.id}`) : column.number ? `-${column.id}` : column.id;
        const button = el("button", { type: "button", "data-sort": column.id, onclick: () => ts.go({ sort: next === "outcome" ? null : next }) }, column.text);
        return el("th", { scope: "col", class: column.number ? "number" : null, "aria-sort": active ? (down ? "descending" : "ascending") : null }, button);
      });
      const body = el("tbody", {}, list.slice(0, ts.PAGE).map(row));
      const pressed = document.activeElement?.dataset?.sort;
      const parts = list.length
        ? [ts.scrollBox("The newest run of each case", el("table", { class: "list status" }, el("caption", { class: "visually-hidden" }, "The newest run of each case"), el("thead", {}, el("tr", {}, heads, el("th", { scope: "col" }, "Why"))), body))]
        : [el("p", { class: "notice" }, "No case passes the filters.")];
      const more = ts.moreButton(body, list, row);
      if (more) parts.push(more);
      this.out.replaceChildren(...parts);
      if (pressed) this.out.querySelector(`[data-sort="${pressed}"]`)?.focus();
      ts.say(`${ts.plural(list.length, "case")}.`);
    },
  };
})(window.torchspeed);
