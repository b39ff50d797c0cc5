// The legend of the large chart, which is also where values are read.

import { addressOf, allParams, changeParams, currentState } from "../../address.js";
import { lineSwatch } from "../../charts/marks.js";
import { getModel, isComparable } from "../../data/model.js";
import { announce } from "../../page/announce.js";
import { el, nodesOf } from "../../page/elements.js";
import { foundChange, noNumber } from "../../page/signs.js";
import { scrollBox } from "../../page/tables.js";
import { formatChange, formatDay, formatReach, formatValue } from "../../text/format.js";

import { commitNote } from "./lines.js";

/** @import { Point } from "../../data/runs.js" */
/** @import { Series } from "../../data/model.js" */
/** @import { Chart, Scene } from "./chart.js" */
/** @import { SeriesLine } from "./lines.js" */

/** How far the fastest quarter of the samples reaches above the value. @param {Point} point */
const quarterReach = (point) =>
  point.interval ? (point.interval[1] - point.value) / point.value : NaN;

/** The address of the comparison across a series' last change. @param {Series} series */
function lastChangeAddress(series) {
  const model = getModel();
  const { change } = series;
  return addressOf("changes", {
    rev: model.shortOf(change?.c ?? 0),
    base: change ? model.shortOf(change.p) : null,
    m: series.machine.name,
    e: series.environment.id,
  });
}

/** What changed around the code at a commit; many of them are folded. @param {string[]} events */
function eventList(events) {
  const list = el(
    "ul",
    {},
    events.map((text) => el("li", {}, "◆ ", text)),
  );
  if (events.length < 3) return events.length ? list : null;
  const words = `◆ ${events.length} changes of the recipe, the machine or the environment here`;
  return el("details", {}, el("summary", {}, words), list);
}

/** @param {SeriesLine} line */
function lastChange({ series }) {
  if (!series) return noNumber();
  const { change } = series;
  if (!change) return el("span", { class: "muted" }, "no change");
  const commit = el("a", { href: lastChangeAddress(series) }, getModel().shortOf(change.c));
  return [foundChange(change), " ", commit];
}

/** @param {SeriesLine} line */
const removeButton = (line) =>
  el(
    "button",
    {
      type: "button",
      class: "remove",
      "aria-label": `Remove ${line.case.title}`,
      onclick: () =>
        changeParams({
          s: allParams(currentState(), "s").filter((key) => key !== line.case.key),
        }),
    },
    "×",
  );

export class Readout {
  /** @type {{ value: HTMLElement, reach: HTMLElement, since: HTMLElement }[]} */
  #cells = [];

  /**
   * @param {Chart} chart
   * @param {boolean} removable
   */
  constructor(chart, removable) {
    this.chart = chart;
    this.removable = removable;
    this.when = el("p", { class: "when" });
    this.values = el("div", {});
    this.events = el("div", { class: "events note" });
    this.node = el("div", { class: "readout" }, this.when, this.values, this.events);
  }

  /** Builds a row for each line of the chart's scene. */
  build() {
    const { scene } = this.chart;
    if (!scene) return;
    const { asked, lines } = scene;
    const environments = new Set(lines.map((line) => line.series?.e));
    const metrics = new Set(lines.map((line) => line.case.metric.id));
    const number = () => el("td", { class: "number" });
    this.#cells = lines.map(() => ({ value: number(), reach: number(), since: number() }));
    const since = asked.y === "relative" ? "Relative" : "Since start";
    const heads = ["Series", "Last change", "Value", since, "Fastest quarter"].map((head, i) =>
      el("th", { scope: "col", class: i > 0 ? "number" : null }, head),
    );
    const rows = lines.map((line, i) =>
      this.#row(line, i, environments.size > 1, metrics.size > 1),
    );
    const caption = "Values at the cursor";
    this.values.replaceChildren(
      scrollBox(
        caption,
        el(
          "table",
          { class: "list" },
          el("caption", { class: "visually-hidden" }, caption),
          el("thead", {}, el("tr", {}, heads, this.removable ? el("td") : null)),
          el("tbody", {}, rows),
        ),
      ),
    );
  }

  /**
   * @param {SeriesLine} line
   * @param {number} i
   * @param {boolean} withEnvironment
   * @param {boolean} withMetric
   */
  #row(line, i, withEnvironment, withMetric) {
    const environment = withEnvironment ? line.series?.environment : null;
    const metric = withMetric ? ` · ${line.case.metric.label}` : "";
    const label =
      metric + (environment ? ` · ${getModel().environmentLabel(environment)}` : commitNote(line));
    const title = line.case.title;
    const page = addressOf("timeline", {
      s: line.case.key,
      m: line.series?.machine.name,
      e: line.series?.environment.id,
    });
    const cells = this.#cells[i];
    const row = el(
      "tr",
      {},
      el(
        "th",
        { scope: "row" },
        lineSwatch(line.look, line.shape),
        this.removable ? el("a", { href: page }, title) : title,
        label ? el("span", { class: "muted" }, label) : null,
      ),
      el("td", { class: "number" }, lastChange(line)),
      cells?.value,
      cells?.since,
      cells?.reach,
      this.removable ? el("td", {}, removeButton(line)) : null,
    );
    row.addEventListener("pointerenter", () => this.chart.highlight(line.id));
    row.addEventListener("pointerleave", () => this.chart.highlight(null));
    return row;
  }

  /**
   * Shows the values at a place of the axis.
   * @param {number | undefined} at
   * @param {string[]} events
   */
  show(at, events) {
    const { scene } = this.chart;
    if (!scene || at === undefined) {
      this.when.textContent = "";
      this.events.replaceChildren();
      return;
    }
    scene.lines.forEach((line, i) => this.#showLine(scene, line, i, at));
    this.events.replaceChildren(...nodesOf([eventList(events)]));
    if (scene.asked.x === "torch") {
      const name = el("strong", {}, scene.axis.name(at));
      this.when.replaceChildren(name, ": each series at one commit with all releases");
      return;
    }
    const commit = getModel().commits[at];
    if (!commit) return;
    this.when.replaceChildren(
      el("a", { href: this.chart.changesAddress(at) }, el("code", {}, getModel().shortOf(at))),
      ` · ${formatDay(commit.date)} · ${commit.subject}`,
      ...commit.tags.map((tag) => el("span", { class: "badge" }, tag)),
    );
  }

  /**
   * @param {Scene} scene
   * @param {SeriesLine} line
   * @param {number} i
   * @param {number} at
   */
  #showLine({ asked, axis, drawn }, line, i, at) {
    const cells = this.#cells[i];
    if (!cells) return;
    const point = line.points.find((other) => other.at === at);
    if (!point) {
      const outcome = line.others.find((run) => run.at === at)?.outcome;
      cells.value.textContent = outcome ?? "–";
      cells.reach.textContent = cells.since.textContent = "–";
      return;
    }
    cells.value.textContent = formatValue(point.value, line.unit);
    cells.reach.textContent = formatReach(quarterReach(point));
    if (asked.y === "relative") {
      const ratio = drawn[i]?.points.find((other) => other.at === at)?.value;
      cells.since.textContent = formatChange(ratio ?? NaN);
      return;
    }
    const first = line.points.find((other) => axis.place(other.at) >= axis.domain[0]) ?? point;
    const comparable = !line.series || isComparable(line.series, at, line.series, first.at);
    cells.since.textContent = comparable
      ? formatChange(point.value / first.value)
      : "not comparable";
  }

  /** Reads the values at the cursor out. */
  announce() {
    const { scene, place } = this.chart;
    if (!scene || place === undefined) return;
    const { lines, axis, asked } = scene;
    const texts = lines.slice(0, 8).map((line, i) => {
      const cells = this.#cells[i];
      const relative = asked.y === "relative" ? `, ${cells?.since.textContent}` : "";
      return `${line.label} ${cells?.value.textContent}${relative}`;
    });
    if (lines.length > 8) texts.push(`and ${lines.length - 8} more`);
    announce(`${axis.name(place)}: ${texts.join("; ")}`);
  }
}
