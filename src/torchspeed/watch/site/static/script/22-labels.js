// The small signs used in every view: devices and passes, verdicts, outcomes, sparklines.
(function (ts) {
  "use strict";
  const { el, svg } = ts;

  const KNOWN_DEVICES = new Set(["cpu", "cuda", "mps", "xpu"]);
  const KNOWN_PASSES = new Set(["forward", "backward"]);

  /** Classes that give a mark its hue (device) and its dash or fill (pass). */
  ts.markClass = function (device, pass) {
    const hue = KNOWN_DEVICES.has(device) ? device : "other";
    return `dev-${hue} pass-${KNOWN_PASSES.has(pass) ? pass : "none"}`;
  };

  /** A filled or hollow square for a device and pass. */
  ts.key = (device, pass) => el("span", { class: `key ${ts.markClass(device, pass)}`, "aria-hidden": "true" });

  const PASS_ORDER = ["forward", "backward"];
  /** Orders things with a device and a pass: devices as the suites list them, forward first. */
  ts.byColumn = (a, b) =>
    ts.model.devices.indexOf(a.device) - ts.model.devices.indexOf(b.device) ||
    PASS_ORDER.indexOf(a.pass) - PASS_ORDER.indexOf(b.pass);

  const SIGNS = { better: "✓", worse: "✗" };
  const WORDS = { better: "better", worse: "worse", same: "not significant" };

  /** A signed change, coloured and marked only if it is significant. */
  ts.delta = function (ratio, verdict) {
    const sign = SIGNS[verdict];
    return el(
      "span",
      { class: `change ${sign ? verdict : "same"}`, title: WORDS[verdict] ?? "" },
      sign ? [el("span", { "aria-hidden": "true" }, sign + " "), el("span", { class: "visually-hidden" }, WORDS[verdict] + " ")] : null,
      ts.change(ratio),
    );
  };

  const OUTCOMES = {
    ok: ["ok", "✓"],
    stale: ["stale", "◷"],
    failed: ["failed", "✗"],
    "timed out": ["timed-out", "⏱"],
    skipped: ["skipped", "–"],
    "never run": ["never", "·"],
  };
  ts.outcomes = Object.keys(OUTCOMES);

  /** What became of a case: a word and a sign in a frame. */
  ts.outcomeTag = function (outcome, text = outcome, reason = "") {
    const [name, sign] = OUTCOMES[outcome] ?? ["never", "·"];
    return el("span", { class: `tag ${name}`, title: reason || null }, el("span", { "aria-hidden": "true" }, sign + " "), text);
  };

  /** The path of a sparkline 120 wide and 24 high; the line spans what was not measured. */
  ts.sparkPath = function (values) {
    const known = values.filter((value) => value !== null).sort((a, b) => a - b);
    if (known.length < 2) return ""; // a lone figure has no course
    // One spike in thirty may leave the frame, or it would flatten all the rest; and noise of
    // a percent must not look like a mountain range.
    const spikes = Math.floor(known.length / 30);
    const [low, high] = [known[spikes], known[known.length - 1 - spikes]];
    const middle = (low + high) / 2;
    const reach = Math.max((high - low) / 2, Math.abs(middle) * 0.03) || 1;
    const stride = values.length > 1 ? 116 / (values.length - 1) : 0;
    let path = "";
    let pen = "M";
    values.forEach((value, i) => {
      if (value === null) return;
      const height = Math.max(-1, Math.min(1, (value - middle) / reach));
      path += `${pen}${(2 + i * stride).toFixed(1)} ${(12 - height * 9).toFixed(1)}`;
      pen = "L";
    });
    return path;
  };

  ts.sparkline = (values, verdict = "") =>
    svg(
      "svg",
      { class: `spark ${verdict}`, viewBox: "0 0 120 24", preserveAspectRatio: "none", "aria-hidden": "true", focusable: "false" },
      svg("path", { class: "line", d: ts.sparkPath(values) }),
    );

  /** A commit as a link to where its text can be read, or its short hash where there is none. */
  ts.commitLink = function (at) {
    const commit = ts.model.commits[at];
    const base = ts.model.index.project.commit_url;
    const hash = el("code", {}, ts.short(commit.hash));
    return /^https?:\/\//.test(base ?? "")
      ? el("a", { href: base + commit.hash, rel: "noreferrer", title: "This commit at the code's host" }, hash)
      : hash;
  };

  /** A table from headings and rows of cells; a heading is text or {text, number, wrap}. */
  ts.table = function (caption, headings, rows, { className = "list", rowHead = true } = {}) {
    const heads = headings.map((one) => (typeof one === "string" ? { text: one } : one));
    return el(
      "table",
      { class: className },
      el("caption", { class: "visually-hidden" }, caption),
      el("thead", {}, el("tr", {}, heads.map((one) => el("th", { scope: "col", class: one.number ? "number" : null }, one.text)))),
      el(
        "tbody",
        {},
        rows.map((cells) =>
          el(
            "tr",
            {},
            cells.map((cell, i) =>
              rowHead && i === 0
                ? el("th", { scope: "row" }, cell)
                : el("td", { class: heads[i].number ? "number" : heads[i].wrap ? "text" : null }, cell),
            ),
          ),
        ),
      ),
    );
  };

  /** Rows of a table that are drawn at once: more make a browser, and a reader, wait. */
  ts.PAGE = 200;

  /** What offers the rows after the first page, if there are any. */
  ts.moreButton = function (body, rows, draw) {
    if (rows.length <= ts.PAGE) return null;
    const button = el("button", { type: "button", class: "button" }, `Show the other ${ts.count(rows.length - ts.PAGE)}`);
    button.addEventListener("click", () => {
      body.append(...rows.slice(ts.PAGE).map(draw));
      ts.say(`${ts.count(rows.length)} rows.`);
      body.rows[ts.PAGE].querySelector("a")?.focus();
      button.remove();
    });
    return el("div", { class: "actions" }, button);
  };

  /** A box that scrolls sideways by itself, by keyboard too, so that the page never does. */
  ts.scrollBox = (label, ...children) => el("div", { class: "scroll", role: "region", "aria-label": label, tabindex: "0" }, children);
})(window.torchspeed);
