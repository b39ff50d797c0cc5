// Two commits to choose, and the samples of the runs there.

import { changeParams, currentState, firstParam } from "../../address.js";
import { getModel } from "../../data/model.js";
import { loadSamples } from "../../data/registry.js";
import { partOf, runsOf } from "../../data/runs.js";
import { el, svg } from "../../page/elements.js";
import { formatDay, formatValue, plural } from "../../text/format.js";
import { drawSamples } from "./samples.js";

/** @import { State } from "../../address.js" */
/** @import { CommitIndex } from "../../../types.js" */
/** @import { Series } from "../../data/model.js" */

/** @typedef {{ values: number[], count: number, value: number }} Run */

/** Letters of a commit's subject that a list has room for. */
const SUBJECT = 26;

/**
 * The runs of a series that have samples, by commit.
 * @param {Series} series
 * @returns {Promise<Map<CommitIndex, Run>>}
 */
async function sampledRuns(series) {
  const file = await loadSamples(series.benchmark.slug, partOf(series));
  const entry = file.series.find((other) => other.s === series.at);
  const { points } = await runsOf(series);
  const reported = new Map(points.map((point) => [point.at, point.value]));
  /** @type {Map<CommitIndex, Run>} */
  const runs = new Map();
  for (const [at, distances, count] of entry?.runs ?? []) {
    const value = reported.get(at);
    if (value === undefined) continue;
    runs.set(at, { value, count, values: distances.map((d) => value * (1 + d / 1e4)) });
  }
  return runs;
}

/**
 * @param {string} key parameter of the address
 * @param {string} label
 * @param {CommitIndex[]} commits
 * @param {CommitIndex} chosen
 */
function commitSelect(key, label, commits, chosen) {
  const model = getModel();
  const options = [...commits].reverse().map((at) => {
    const commit = model.commits[at];
    const { date = 0, subject = "" } = commit ?? {};
    const start = subject.length > SUBJECT ? `${subject.slice(0, SUBJECT - 1)}…` : subject;
    const text = `${model.shortOf(at)} · ${formatDay(date)} · ${start}`;
    return el("option", { value: model.shortOf(at), selected: at === chosen }, text);
  });
  const select = el("select", { name: key }, options);
  select.addEventListener("change", () =>
    changeParams({ ...currentState().params, [key]: select.value }),
  );
  return el("label", { class: "field" }, el("span", { class: "field-name" }, label), select);
}

/**
 * The panel; empty if no run of the series has samples.
 * @param {Series} series
 * @param {State} state
 */
export async function samplesPanel(series, state) {
  const runs = await sampledRuns(series);
  const commits = [...runs.keys()].sort((a, b) => a - b);
  const newest = commits.at(-1);
  if (newest === undefined) return [el("p", { class: "empty" }, "No samples are stored.")];
  const model = getModel();
  const change = model.changesOf.get(series.at)?.[0];
  /**
   * @param {string} key
   * @param {CommitIndex} otherwise
   */
  const choose = (key, otherwise) => {
    const wanted = model.findCommit(firstParam(state, key));
    return runs.has(wanted) ? wanted : otherwise;
  };
  const previous = change && runs.has(change.p) ? change.p : (commits.at(-2) ?? newest);
  const pair = [choose("a", previous), choose("b", newest)];
  const picture = svg("svg", { class: "chart still", role: "img" });
  const frame = el("div", { class: "chart-frame samples" }, picture);
  const { unit } = series.metric;
  const drawn = [...new Set(pair)].flatMap((at) => {
    const run = runs.get(at);
    return run ? [{ label: model.shortOf(at), at, ...run }] : [];
  });
  const texts = drawn.map(
    (run) => `${run.label}: ${formatValue(run.value, unit)} of ${plural(run.count, "sample")}`,
  );
  picture.setAttribute("aria-label", `Samples. ${texts.join("; ")}`);
  const draw = () => {
    const width = Math.max(280, (frame.clientWidth || 900) - 12);
    drawSamples(picture, drawn, { width, unit });
  };
  new ResizeObserver(draw).observe(frame);
  draw();
  return [
    el(
      "div",
      { class: "fields" },
      commitSelect("a", "Samples at", commits, pair[0] ?? newest),
      commitSelect("b", "and at", commits, pair[1] ?? newest),
    ),
    frame,
    el(
      "p",
      { class: "note" },
      `${texts.join("; ")}. A line marks the value that the run reports.`,
    ),
  ];
}
