// A small chart of every model: its time in each release, relative to the newest.

import { drawLines } from "../../charts/lines.js";
import { lookOf } from "../../charts/marks.js";
import { getModel } from "../../data/model.js";
import { el, svg } from "../../page/elements.js";
import { columnLegend } from "../../page/legend.js";
import { casePageOf } from "../../page/signs.js";
import { formatChange } from "../../text/format.js";

/** @import { Metric } from "../../../types.js" */
/** @import { ReleaseCase, ReleaseHistory } from "../../../file-types.js" */
/** @import { Line } from "../../charts/line-layers.js" */
/** @import { Plot } from "../../charts/line-layers.js" */

const [WIDTH, HEIGHT] = [320, 160];
/** A line between two releases would say no more than the tables. */
const FEWEST = 3;
/** Distance of the lines of a chart, so that their intervals do not cover each other. */
const BESIDE = 0.12;

/** @param {ReleaseCase} what @param {number} nth @returns {Line} */
function lineOf({ key, times, title }, nth) {
  const shown = getModel().caseOf(key);
  return {
    id: key,
    look: shown ? lookOf(shown) : "pass-none",
    shape: nth,
    label: shown?.field.name || title,
    points: times.map(([at, value, low, high]) => ({
      at: at - nth * BESIDE,
      value,
      interval: low === high ? null : [low, high],
      compared: true,
    })),
    others: [],
    changes: [],
    segments: [],
  };
}

/**
 * Boxes over the chart, one for each release, that say its values.
 * @param {ReleaseHistory} history
 * @param {ReleaseCase[]} cases
 * @param {Plot} plot
 */
function readings({ versions }, cases, { frame, x }) {
  const half = (x(1) - x(0)) / 2;
  return versions.map((version, at) => {
    const texts = cases.flatMap(({ key, title, times }) => {
      const time = times.find(([place]) => place === at);
      if (!time) return [];
      const name = getModel().caseOf(key)?.field.name || title;
      const [, ratio, low, high] = time;
      const reach = low === high ? "" : ` (${formatChange(low)} to ${formatChange(high)})`;
      return [`${name}: ${formatChange(ratio)}${reach}`];
    });
    const tip = [`${version}, against ${versions.at(-1)}`, ...texts].join("\n");
    const box = {
      x: x(at) - half,
      y: frame.top,
      width: half * 2,
      height: frame.bottom - frame.top,
    };
    return svg("rect", { class: "reach", ...box, "data-tip": tip });
  });
}

/** @param {ReleaseHistory} history @param {ReleaseCase[]} cases */
function drawItem(history, cases) {
  const picture = svg("svg", { class: "chart small", role: "img" });
  const { versions } = history;
  const stride = Math.ceil(versions.length / 6);
  const ticks = versions
    .map((version, at) => ({ at, text: version.split(".").slice(0, 2).join(".") }))
    .filter(({ at }) => (versions.length - 1 - at) % stride === 0);
  const lines = cases.map(lineOf);
  const plot = drawLines(picture, lines, {
    width: WIDTH,
    height: HEIGHT,
    small: true,
    place: (at) => at,
    domain: [-0.4, versions.length - 0.6],
    y: "ratio",
    metric: /** @type {Metric} */ ({ unit: "" }),
    ticks,
  });
  picture.append(...readings(history, cases, plot));
  const first = cases[0];
  const what = first ? getModel().caseOf(first.key) : null;
  const name = what
    ? [what.line.name, what.line.details].filter(Boolean).join(" · ")
    : first?.title;
  const words = cases.map(({ title, times }) => `${title}: ${formatChange(times[0]?.[1] ?? NaN)}`);
  picture.setAttribute(
    "aria-label",
    `${versions[0]} relative to ${versions.at(-1)}. ${words.join(", ")}`,
  );
  return el(
    "li",
    {},
    el("a", { href: casePageOf(first?.key ?? "") }, el("span", { class: "title" }, name), picture),
  );
}

/**
 * @param {ReleaseHistory} history
 * @param {Set<string>} [keys] cases that are wanted; the main ones without any
 */
export function releaseCharts(history, keys = new Set()) {
  /** @type {Map<number | null, ReleaseCase[]>} */
  const rows = new Map();
  for (const what of history.cases) {
    if (!(keys.size ? keys.has(what.key) : what.main) || what.times.length < FEWEST) continue;
    rows.set(what.row, [...(rows.get(what.row) ?? []), what]);
  }
  if (!rows.size) return [];
  return [
    columnLegend([...rows.values()].flat().flatMap(({ key }) => getModel().caseOf(key) ?? [])),
    el(
      "ul",
      { class: "multiples" },
      [...rows.values()].map((cases) => drawItem(history, cases)),
    ),
  ];
}
