// The samples of the newest run of a case and of the one before it, or before a change.

import { fix } from "../../charts/marks.js";
import { linearScale } from "../../charts/scales.js";
import { getModel } from "../../data/model.js";
import { loadSamples } from "../../data/registry.js";
import { partOf, runsOf } from "../../data/runs.js";
import { el, svg } from "../../page/elements.js";
import { formatTicks, formatValue, plural } from "../../text/format.js";

/** @typedef {{ at: CommitIndex, values: number[], count: number, value: number }} Run */

const ROW = 46;
const HEAD = 24;
/** Neighbours stand in different lanes, so that equal samples do not cover each other. */
const LANES = 4;

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
    runs.set(at, { at, value, count, values: distances.map((d) => value * (1 + d / 1e4)) });
  }
  return runs;
}

/**
 * Draws a row of dots for each run, with a line at the value that it reports.
 * @param {SVGSVGElement} root
 * @param {Run[]} runs
 * @param {number} width
 * @param {Metric} metric
 */
function drawSamples(root, runs, width, metric) {
  const all = runs.flatMap((run) => [...run.values, run.value]);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const pad = (high - low) * 0.05;
  const left = 96;
  const x = linearScale(low - pad, high + pad, left, width - 24, metric.unit);
  const height = HEAD + runs.length * ROW + 6;
  const ticks = x.ticks(Math.max(2, Math.round((width - left) / 110)));
  const texts = formatTicks(ticks, metric);
  const grid = ticks.flatMap((tick, i) => {
    const at = Math.round(x(tick)) + 0.5;
    const line = { class: "gridline", x1: at, x2: at, y1: HEAD - 4, y2: height };
    const text = { x: at, y: 13, "text-anchor": "middle" };
    return [svg("line", line), svg("text", text, texts[i])];
  });
  const rows = runs.map((run, i) => {
    const middle = HEAD + i * ROW + ROW / 2;
    const dots = run.values.map((value, k) => {
      const y = fix(middle + 9 - (k % LANES) * 6);
      return svg("circle", { class: "sample", cx: fix(x(value)), cy: y, r: 2.6 });
    });
    const at = fix(x(run.value));
    const label = { class: "strong", x: left - 12, y: middle + 4, "text-anchor": "end" };
    const name = getModel().shortOf(run.at);
    const tip = `${name}: ${formatValue(run.value, metric)} of ${plural(run.count, "sample")}`;
    return svg(
      "g",
      { class: `hue-${i}`, "data-tip": tip },
      svg("text", label, name),
      svg("line", { class: "reported", x1: at, x2: at, y1: middle - 19, y2: middle + 19 }),
      dots,
    );
  });
  root.setAttribute("viewBox", `0 0 ${width} ${height}`);
  root.replaceChildren(...grid, ...rows);
}

/**
 * A chart that is drawn again when its width changes.
 * @param {(root: SVGSVGElement, width: number) => void} draw
 */
function fittingChart(draw) {
  const label = "Samples of two runs";
  const root = svg("svg", { class: "chart still", role: "group", "aria-label": label });
  const frame = el("div", {}, root);
  let drawn = 0;
  new ResizeObserver(() => {
    const width = Math.round(frame.clientWidth);
    if (!width || Math.abs(width - drawn) < 3) return;
    drawn = width;
    draw(root, Math.max(260, width));
  }).observe(frame);
  return frame;
}

/**
 * The panel; empty if no run of the series has samples.
 * @param {Series} series
 */
export async function samplesPanel(series) {
  const runs = await sampledRuns(series);
  const commits = [...runs.keys()].sort((a, b) => a - b);
  const newest = commits.at(-1);
  if (newest === undefined) return [];
  const change = getModel().changesOf.get(series.at)?.[0];
  const previous = change && runs.has(change.p) ? change.p : (commits.at(-2) ?? newest);
  const drawn = [...new Set([previous, newest])].flatMap((at) => runs.get(at) ?? []);
  const { metric } = series;
  const chart = fittingChart((root, width) => drawSamples(root, drawn, width, metric));
  return [
    chart,
    el(
      "p",
      { class: "note" },
      "A dot is a sample; the line marks the value that the run reports.",
    ),
  ];
}
