// A case: everything about one benchmark with one set of parameters, in one place.

import { firstParam, linkTo } from "../address.js";
import { loadReleases, loadSource } from "../data/files.js";
import { getModel } from "../data/model.js";
import { changeColumns, changesTable } from "../page/changes.js";
import { el, fillAnew, fold, muted, notice, part, svg } from "../page/elements.js";
import { commandBlock } from "../page/save.js";
import { casePage, changeSign, commitLink, outcomeTag, signsHelp } from "../page/signs.js";
import { columnOf, drawTable, factsTable, sheetOf } from "../page/tables.js";
import { formatDay, plural } from "../text/format.js";
import { commitColumns, drawRange } from "./changes.js";
import { largeChart } from "./timeline/chart.js";
import { chartNote, sceneOf, seriesLines, valueColumns } from "./timeline/lines.js";

/** @typedef {StepRatio & { name: string, before: string, machine: string }} ReleaseChange */

/** What releases changed in a case, on each machine the newest first. @param {ReleaseHistory[]} histories @param {string} key @returns {ReleaseChange[]} */
const releaseChanges = (histories, key) =>
  histories.flatMap(({ cases, steps, machine, package: requirement }) => {
    const position = cases.findIndex((what) => what.key === key);
    return steps.flatMap(({ before, after, ratios }) =>
      ratios
        .filter((ratio) => ratio.case === position && ratio.verdict !== "same")
        .map((ratio) => ({ ...ratio, name: `${requirement} ${after}`.trim(), before, machine })),
    );
  });

/** @param {ReleaseChange[]} rows */
const releaseTable = (rows) =>
  changesTable(
    "Changes by releases",
    [
      columnOf("Release", ({ name }) => name, {
        draw: ({ name, before }) => [name, muted(` against ${before}`)],
      }),
      ...changeColumns(rows),
      columnOf("Machine", ({ machine }) => machine),
    ],
    rows,
  );

/** @param {CaseComparison[]} rows */
const comparisonTable = (rows) =>
  changesTable(
    "Comparisons of this case",
    [
      columnOf("Versions", ({ before, after }) => `${before} → ${after}`, {
        draw: ({ before, after }) => {
          const commit = getModel().commits[getModel().findCommit(after)];
          return commit
            ? [el("code", {}, after), ` ${commit.subject}`, muted(` since ${before}`)]
            : `${before} → ${after}`;
        },
      }),
      ...changeColumns(rows),
      columnOf("Before → after", (row) => `${row.before_text} → ${row.after_text}`),
      columnOf("Why", ({ purpose }) => purpose),
      columnOf("Day", ({ day }) => day),
      columnOf("Machine", ({ machine }) => machine),
    ],
    rows,
  );

/** A time before, and after below it. @param {Explained["operators"][number]} operator */
const drawTimes = ({ widths }) =>
  svg(
    "svg",
    { class: "levels", width: "100%", height: 22, "aria-hidden": "true" },
    widths.map((width, side) => {
      const look = side ? "after" : "before";
      return svg("rect", { class: look, width: `${width}%`, height: 9, y: side * 11 + 1 });
    }),
  );

/** Times of operators before and after, as bars. @param {Explained} explained */
const operatorBars = ({ before, after, machine, day, text, operators }) => [
  el("p", {}, `${before} → ${after} on ${machine}, ${day}: ${text}.`),
  drawTable(
    `Operators, ${before} and ${after}`,
    [
      columnOf("Operator", ({ name }) => name),
      columnOf("Before → after", (row) => row.text, { look: "number" }),
      columnOf("Time in one call", () => null, { draw: drawTimes }),
    ],
    operators,
    { className: "list operators" },
  ),
];

/** The newest value, the newest change, the noise. @param {Series} series @param {BenchmarkSource} source @param {ReleaseChange[]} byReleases */
function summary(series, source, [released]) {
  const { commits } = getModel();
  const { last, status, reason, behind, change, metric, machine } = series;
  const day = formatDay(commits[last?.c ?? -1]?.date ?? 0);
  const run = last && [el("strong", {}, last.text), " at ", commitLink(last.c), ` · ${day}`];
  const by = change
    ? [commitLink(change.c), ` ${commits[change.c]?.subject} on ${machine.name}`]
    : `${released?.name} on ${released?.machine}`;
  const newest = change ?? released;
  const changed = newest && [changeSign(newest), ` ${newest.interval_text} by `, by];
  const why = status === "stale" ? `${plural(behind, "commit")} behind` : reason;
  const isExpected = status === "ok" || (status === "never run" && released);
  return factsTable("Summary", [
    [`Newest ${metric.label}`, run ? [...run, ` · ${machine.name}`] : "–"],
    ["Newest change", changed ?? "none"],
    ["Newest run", isExpected ? null : [outcomeTag(status), " ", why]],
    ["Noise between runs", source.noise[String(series.index)]],
  ]);
}

/** Series of other metrics of the same work, machine and environment. @param {Series} series @param {BenchmarkSource} source */
function relatedTable(series, source) {
  const others = source.related[String(series.index)] ?? [];
  /** @type {[string, Child][]} */
  const rows = others.flatMap((index) => {
    const other = getModel().series[index];
    if (!other) return [];
    const name = [other.metric.label, other.case.line.details].filter(Boolean).join(" · ");
    return [[name, el("a", { href: casePage(other) }, other.last?.text ?? "–")]];
  });
  return rows.length ? factsTable("Other measurements", rows) : null;
}

/** What a title leaves out: labels of the suite, such as the implementation. @param {Case} what */
const untitled = ({ title, labels }) => {
  const said = title.split(/ · |, /);
  return Object.entries(labels).flatMap(([name, value]) =>
    said.includes(value) || said.includes(`${name} ${value}`) ? [] : [value],
  );
};

/** Changes by commits. @param {Series} series @param {BenchmarkSource} source @param {boolean} hasOthers */
function changesPart(series, source, hasOthers) {
  const { changesOf, index } = getModel();
  const changes = changesOf.get(series.index) ?? [];
  const unclear = source.unclear[String(series.index)];
  const none = unclear ? `Too noisy to tell: ${unclear}.` : "No change was found on this machine.";
  if (!changes.length) return unclear || !hasOthers ? el("p", {}, none) : null;
  const [, ...columns] = commitColumns(changes);
  return [
    changesTable("Changes of this case", columns, changes),
    changes.flatMap((change) => {
      const range = index.ranges[change.range];
      return range ? drawRange(range) : [];
    }),
  ];
}

/** @param {Series} series @param {BenchmarkSource} source */
function environmentPart({ machine, environment }, source) {
  const facts = {
    machine: machine.name,
    ...machine.facts,
    environment: environment.label,
    ...environment.requirements,
    ...environment.variables,
    benchmark: source.benchmark,
    "version of its code": source.version,
    "time limit": source.timeout === null ? "none" : `${source.timeout} s`,
  };
  return fold(
    [machine.name, machine.facts.cpu, environment.label].filter(Boolean).join(" · "),
    factsTable("Environment", Object.entries(facts)),
  );
}

/** @type {View} */
export const caseView = {
  title: "Case",
  setup: ["m", "e"],
  mount(app, heading) {
    const chart = largeChart();
    const note = el("p", { class: "note" });
    const title = el("h2", {}, "History");
    const history = el("section", {}, title, chart.node, note, signsHelp());
    const [top, bottom] = [el("div", {}), el("div", {})];
    app.replaceChildren(top, history, bottom);
    return async (state, isAsked) => {
      const model = getModel();
      const key = firstParam(state, "s");
      const what = model.caseOf(key);
      const setup = model.setup(state);
      // On the machine that was asked for, or where it has a value: some machines only compare.
      const asked = what && state.params.m && model.find(what, setup);
      const series = asked || (what && model.measured(what, setup));
      history.hidden = bottom.hidden = !series;
      if (!series) {
        heading.textContent = "Case";
        const text = key ? `No case is called “${key}”.` : "No case is chosen.";
        top.replaceChildren(notice(`${text} Press / to search.`));
        return null;
      }
      const name = [what.title, ...untitled(what), series.metric.label].join(" · ");
      heading.textContent = name;
      document.title = `${name} – ${model.index.project.name}`;
      const [source, lines, histories] = await Promise.all([
        loadSource(series.benchmark.slug),
        seriesLines([series]),
        loadReleases(),
      ]);
      if (!isAsked()) return null;
      const here = firstParam(state, "m", series.machine.name);
      const byReleases = releaseChanges(histories, key);
      byReleases.sort((a, b) => Number(b.machine === here) - Number(a.machine === here));
      const [about = ""] = source.description.split("\n\n");
      const sentences = [source.sentences[key], about].filter(Boolean).join(" ");
      fillAnew(
        top,
        sentences ? el("p", { class: "lead" }, sentences) : null,
        summary(series, source, byReleases),
      );
      const scene = sceneOf(series, lines);
      const { stops } = scene.axis;
      history.hidden = !stops.length;
      title.textContent = `History on ${series.machine.name}`;
      chart.node.hidden = stops.length < 2;
      chart.set(scene, name);
      fillAnew(
        note,
        stops.length < 2
          ? "Measured once so far, so there is no history yet. "
          : `${chartNote(series.metric, lines, stops)} `,
        el("a", { href: linkTo("timeline", { s: key }) }, "Beside other cases"),
      );
      const comparisons = source.comparisons[key] ?? [];
      const [newest, ...earlier] = source.explanations[key] ?? [];
      const command = source.commands[key];
      const code = { tabindex: "0", role: "region", "aria-label": "Source" };
      fillAnew(
        bottom,
        part(
          "Changes",
          releaseTable(byReleases),
          changesPart(series, source, byReleases.length > 0),
        ),
        part("Operators that differ", newest && operatorBars(newest)),
        fold(`Comparisons (${comparisons.length})`, comparisonTable(comparisons)),
        fold("Earlier profiles", earlier.map(operatorBars)),
        fold("Other measurements of it", relatedTable(series, source)),
        fold("Measure it again", command && commandBlock(command)),
        series.status !== "never run" && environmentPart(series, source),
        fold("Source", el("pre", code, source.code)),
      );
      return { name: "case", title: name, sheet: () => sheetOf(valueColumns(lines), stops) };
    };
  },
};
