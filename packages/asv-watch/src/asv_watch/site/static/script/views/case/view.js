// A case: everything about one benchmark with one set of parameters, in one place.

import { firstParam, linkTo } from "../../address.js";
import { getModel } from "../../data/model.js";
import { loadReleases, loadSource } from "../../data/registry.js";
import { commandBlock } from "../../page/save.js";
import { el, fold, nodesOf, notice, part } from "../../page/elements.js";
import { changeSign, commitLink, outcomeTag, signsHelp } from "../../page/signs.js";
import { drawTable, factsTable, sheetOf } from "../../page/tables.js";
import { formatDay, plural } from "../../text/format.js";
import { commitColumns, drawRange } from "../changes/table.js";
import { largeChart } from "../timeline/chart.js";
import { courseNote, directionText, seriesLines, valueColumns } from "../timeline/lines.js";
import { readTimeline, sceneOf } from "../timeline/scene.js";
import {
  comparisonTable,
  operatorBars,
  relatedTable,
  releaseChanges,
  releaseTable,
} from "./tables.js";

/** The newest value, the newest change, the noise. @param {Series} series @param {BenchmarkSource} source @param {ReturnType<typeof releaseChanges>} byReleases */
function summary(series, source, byReleases) {
  const { commits } = getModel();
  const { last, status, reason, behind, change, metric } = series;
  const day = last ? ` · ${formatDay(commits[last.c]?.date ?? 0)}` : "";
  const [released] = byReleases;
  const why = status === "stale" ? `${plural(behind, "commit")} behind` : reason;
  return factsTable("Summary", [
    [
      `Newest ${metric.label}`,
      last ? [el("strong", {}, last.text), " at ", commitLink(last.c), day] : "–",
    ],
    [
      "Newest change",
      change
        ? [
            changeSign(change),
            ` ${change.interval_text} by `,
            commitLink(change.c),
            ` ${commits[change.c]?.subject}`,
          ]
        : released
          ? [changeSign(released), ` ${released.interval_text} by ${released.name}`]
          : "none",
    ],
    [
      "Newest run",
      status === "ok" || (status === "never run" && released)
        ? null
        : [outcomeTag(status), " ", why],
    ],
    ["Noise between runs", source.noise[String(series.index)]],
  ]);
}

/** Series of other metrics of the same work, machine and environment. @param {Series} series @param {BenchmarkSource} source */
const related = (series, source) =>
  (source.related[String(series.index)] ?? []).flatMap((index) => getModel().series[index] ?? []);

/** What a title leaves out: labels of the suite, such as the implementation. @param {Case} what */
const untitled = ({ title, labels }) => {
  const said = title.split(/ · |, /);
  return Object.entries(labels).flatMap(([name, value]) =>
    said.includes(value) || said.includes(`${name} ${value}`) ? [] : [value],
  );
};

/** A part that is folded; nothing if it is empty. @param {string} title @param {Child[]} children */
const foldedPart = (title, ...children) =>
  nodesOf(children).length ? fold(title, ...children) : null;

/** Changes by commits. @param {Series} series @param {BenchmarkSource} source @param {boolean} hasOthers */
function changesPart(series, source, hasOthers) {
  const { changesOf, index } = getModel();
  const changes = changesOf.get(series.index) ?? [];
  const unclear = source.unclear[String(series.index)];
  if (!changes.length && unclear) return el("p", {}, `Too noisy to tell: ${unclear}.`);
  if (!changes.length)
    return hasOthers ? null : el("p", {}, "No change of this case was found on this machine.");
  const columns = commitColumns(changes).filter(({ id }) => id !== "case");
  return [
    drawTable("Changes of this case", columns, changes, { className: "list cards" }),
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

/** The series of a case on the machine that was asked for, or where it has a value. @param {Case} what @param {State} state */
function seriesFor(what, state) {
  const model = getModel();
  return model[state.params.m ? "find" : "measured"](what, model.setup(state));
}

/** @type {View} */
export const caseView = {
  title: "Case",
  setup: ["m", "e"],
  mount(app, heading) {
    const chart = largeChart();
    const note = el("p", { class: "note" });
    const signs = signsHelp();
    const history = el("section", {}, el("h2", {}, "History"), chart.node, note, signs);
    const top = el("div", {});
    const bottom = el("div", {});
    app.replaceChildren(top, history, bottom);
    return async (state, isAsked) => {
      const key = firstParam(state, "s");
      const what = getModel().caseOf(key);
      const series = what && seriesFor(what, state);
      history.hidden = bottom.hidden = !series;
      if (!what || !series) {
        heading.textContent = what?.title ?? "Case";
        const text = what ? `${key} was not measured here.` : `No case is called “${key}”.`;
        top.replaceChildren(notice(`${key ? text : "No case is chosen."} Press / to search.`));
        return null;
      }
      heading.textContent = [what.title, ...untitled(what), series.metric.label].join(" · ");
      document.title = `${heading.textContent} – ${getModel().index.project.name}`;
      const [source, lines, histories] = await Promise.all([
        loadSource(series.benchmark.slug),
        seriesLines([series]),
        loadReleases(),
      ]);
      if (!isAsked()) return null;
      const byReleases = releaseChanges(histories, key);
      const [about = ""] = source.description.split("\n\n");
      const sentences = [source.sentences[key], about].filter(Boolean).join(" ");
      top.replaceChildren(
        ...nodesOf([
          sentences ? el("p", { class: "lead" }, sentences) : null,
          summary(series, source, byReleases),
        ]),
      );
      const setup = { m: series.m, e: series.e, metric: series.metric };
      const asked = { ...readTimeline(state), setup };
      const scene = sceneOf(asked, lines);
      const once = scene.axis.stops.length < 2;
      chart.node.hidden = once;
      chart.set(scene, heading.textContent);
      note.replaceChildren(
        once
          ? "Measured once so far, so there is no history yet. "
          : `${directionText(asked, lines)} ${courseNote(scene)} `,
        el("a", { href: linkTo("timeline", { s: key }) }, "Beside other cases"),
      );
      const comparisons = source.comparisons[key] ?? [];
      const explanations = source.explanations[key] ?? [];
      const others = related(series, source);
      const command = source.commands[key];
      bottom.replaceChildren(
        ...nodesOf([
          part("Changes", [
            byReleases.length ? releaseTable(byReleases) : null,
            changesPart(series, source, byReleases.length > 0),
          ]),
          part("Operators that differ", explanations.slice(0, 1).map(operatorBars)),
          foldedPart(
            `Comparisons (${comparisons.length})`,
            comparisons.length ? comparisonTable(comparisons) : null,
          ),
          foldedPart("Earlier profiles", explanations.slice(1).map(operatorBars)),
          foldedPart("Other measurements of it", others.length ? relatedTable(others) : null),
          foldedPart("Measure it again", command ? commandBlock(command) : null),
          environmentPart(series, source),
          fold(
            "Source",
            el("pre", { tabindex: "0", role: "region", "aria-label": "Source" }, source.code),
          ),
        ]),
      );
      return {
        name: "case",
        title: heading.textContent,
        sheet: () => sheetOf(valueColumns(lines), scene.axis.stops),
      };
    };
  },
};
