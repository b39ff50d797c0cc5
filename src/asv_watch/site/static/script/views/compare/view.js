// Compare: any two commits, environments, machines, devices or implementations, case by case.

import { changeParams, firstParam } from "../../address.js";
import { barChart } from "../../charts/bars.js";
import { getModel } from "../../data/model.js";
import { announce } from "../../page/announce.js";
import { commandBlock } from "../../page/copying.js";
import { el, fold, nodesOf } from "../../page/elements.js";
import { commitField, groupField, searchField, selectField } from "../../page/fields.js";
import { signsHelp } from "../../page/legend.js";
import { drawTable, sheetOf } from "../../page/tables.js";
import { capital, formatChange, geometricMean, plural } from "../../text/format.js";
import { notice } from "../view.js";
import { choiceOf, dimensions, readSides, sideName } from "./dimensions.js";
import { collectPairs } from "./pairs.js";
import { columnsOf, ratioRow, valueRow } from "./rows.js";

/** @import { State } from "../../address.js" */
/** @import { Metric } from "../../../types.js" */
/** @import { View } from "../view.js" */
/** @import { Pair } from "./pairs.js" */
/** @import { Names } from "./rows.js" */

/** Of releases: no comparison but the one with the newest has seconds of its own. @type {Metric} */
const RELATIVE_TIME = {
  id: "relative-time",
  label: "time",
  unit: "",
  kind: "time",
  better: "less",
  scale: [[1, "×"]],
};

/** Bars of a picture at most. */
const MOST = 60;

/**
 * Pairs that pass the filters, the largest difference first.
 * @param {Pair[]} pairs
 * @param {State} state
 * @param {boolean} byValue
 */
function chosen(pairs, state, byValue) {
  const { mainGroups } = getModel();
  const group = firstParam(state, "group");
  const words = firstParam(state, "q").toLowerCase().split(/\s+/).filter(Boolean);
  const inGroup = pairs.filter(({ series }) => {
    const { group: own } = series.case.line;
    return group === "*" || (group ? own === group : mainGroups.has(own));
  });
  const open = group || inGroup.length ? inGroup : pairs;
  /** @param {Pair} pair */
  const size = ({ ratio, b }) => (byValue ? b.value : Math.abs(Math.log(ratio)));
  return open
    .filter(({ series, label }) => {
      const text = `${label} ${series.case.key}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .sort((x, y) => size(y) - size(x));
}

/** @type {View} */
export const compareView = {
  title: "Compare",
  place: ["m", "e", "metric"],
  mount(app) {
    const { findCommit } = getModel();
    /** @param {State} state @param {"a" | "b"} key */
    const side = (state, key) => readSides(state)[key];
    const by = selectField("by", "Compare", {
      options: () => dimensions().map(choiceOf),
      initial: (state) => readSides(state).by?.id ?? "",
      change: (patch) => changeParams({ ...patch, a: null, b: null }),
    });
    /** @param {"a" | "b"} key @param {string} name */
    const sideFields = (key, name) => ({
      select: selectField(key, name, {
        options: (state) => readSides(state).by?.choices ?? [],
        initial: (state) => side(state, key),
      }),
      commit: commitField(key, name, (state) => side(state, key)),
    });
    const fields = [sideFields("a", "From"), sideFields("b", "To")];
    const show = selectField("show", "Show", {
      options: () => [
        ["ratio", "change"],
        ["value", "values"],
      ],
      initial: (state) => (readSides(state).by?.id === "published" ? "value" : "ratio"),
    });
    const group = groupField();
    const words = searchField("q", "Words", "part of a name");
    const lead = el("p", { class: "lead" });
    const out = el("div", {});
    app.replaceChildren(
      el(
        "div",
        { class: "fields" },
        by.node,
        fields.flatMap(({ select, commit }) => [select.node, commit.node]),
        show.node,
        group.node,
        words.node,
      ),
      lead,
      out,
    );
    let ticket = {};
    return async (state) => {
      const mine = (ticket = {});
      const asked = readSides(state);
      if (!asked.by) {
        out.replaceChildren(notice("There is nothing to compare yet."));
        return null;
      }
      for (const field of [by, show, group, words]) field.show(state);
      const typed = asked.by.id === "commit";
      for (const { select, commit } of fields) {
        (typed ? commit : select).show(state);
        commit.node.hidden = !typed;
        if (typed) select.node.hidden = true;
      }
      const found = await collectPairs({ ...asked, by: asked.by });
      if (ticket !== mine) return null; // the reader asked for something else meanwhile
      const published = asked.by.id === "published";
      /** @type {Names} */
      const names = {
        a: published ? "published" : sideName(asked.by, asked.a),
        b: published ? "ours" : sideName(asked.by, asked.b),
        metric: asked.by.id === "release" ? RELATIVE_TIME : asked.place.metric,
        published,
      };
      const byValue = firstParam(state, "show", published ? "value" : "ratio") === "value";
      const pairs = chosen(found.pairs, state, byValue);
      const mean = geometricMean(pairs.map(({ ratio }) => ratio));
      const { label, better } = names.metric;
      lead.textContent = pairs.length
        ? `${capital(label)}, ${names.b} against ${names.a}: geometric mean ` +
          `${formatChange(mean, names.metric.kind)} of ` +
          `${plural(pairs.length, "case")}. ${capital(better)} is better.`
        : "";
      const columns = columnsOf(names);
      const rows = pairs
        .slice(0, MOST)
        .map((pair) => (byValue ? valueRow : ratioRow)(pair, names));
      const measured = pairs.some(({ change }) => change);
      const colour = measured
        ? "Coloured: compared interleaved."
        : "Grey: not compared interleaved, so noise may explain a difference.";
      const [from, to] = [findCommit(asked.a), findCommit(asked.b)];
      out.replaceChildren(
        ...nodesOf([
          pairs.length
            ? barChart(lead.textContent, rows, byValue ? names.metric : null)
            : notice(`No case has a ${label} on both sides.`),
          el("p", { class: "note" }, [byValue ? "" : colour, ...found.notes].join(" ")),
          signsHelp("change"),
          typed && from >= 0 && to >= 0
            ? fold(
                "Compare the two interleaved",
                commandBlock(`asv-watch compare --before ${asked.a} --after ${asked.b}`),
              )
            : null,
          pairs.length ? drawTable("All values", columns, pairs, { state }) : null,
        ]),
      );
      announce(lead.textContent);
      return {
        name: "comparison",
        title: `${names.b} against ${names.a}`,
        sheet: () => sheetOf(columns, pairs),
      };
    };
  },
};
