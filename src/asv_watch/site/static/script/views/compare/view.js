// Compare: any two commits, environments, machines or values of a label, case by case.

import { changeParams, firstParam } from "../../address.js";
import { barChart } from "../../charts/bars.js";
import { getModel } from "../../data/model.js";
import { announce, el, fold, nodesOf, notice } from "../../page/elements.js";
import { commandBlock } from "../../page/save.js";
import {
  commitField,
  groupField,
  matcher,
  ofGroup,
  searchField,
  selectField,
} from "../../page/fields.js";
import { casePage, changeSign, signsHelp } from "../../page/signs.js";
import { columnOf, drawTable, sheetOf } from "../../page/tables.js";
import { capital, formatChange, formatValue, geometricMean, plural } from "../../text/format.js";
import { dimensions, readSides, sideName } from "./dimensions.js";
import { collectPairs } from "./pairs.js";

/** @import { Pair } from "./pairs.js" */
/** @import { BarRow } from "../../charts/bars.js" */
/** @import { Column } from "../../page/tables.js" */

/** @typedef {{ a: string, b: string, metric: Metric, published: boolean }} Names */

/** @param {Pair} pair @param {Names} names @returns {BarRow} */
function ratioRow(pair, names) {
  const { series, label, ratio, change } = pair;
  const values = [pair.a, pair.b].map(({ value }) => formatValue(value, names.metric)).join(" → ");
  const text = change?.text ?? formatChange(ratio, names.metric.kind);
  return {
    label,
    href: casePage(series),
    ratio: change?.ratio ?? ratio,
    interval: change?.interval ?? null,
    verdict: change?.verdict ?? "same",
    text,
    tip: [label, `${names.a} → ${names.b}: ${text}`, values].join("\n"),
  };
}

/** @param {Names} names @returns {Column<Pair>[]} */
function columnsOf({ a, b, metric, published }) {
  const source = columnOf("Source", (/** @type {Pair} */ { note }) => note, { wrap: true });
  return [
    columnOf("Case", ({ label }) => label, {
      draw: ({ series, label }) => el("a", { href: casePage(series) }, label),
    }),
    columnOf(a, (pair) => pair.a.value, {
      number: true,
      draw: (pair) => formatValue(pair.a.value, metric),
    }),
    columnOf(b, (pair) => pair.b.value, {
      number: true,
      draw: (pair) => formatValue(pair.b.value, metric),
    }),
    columnOf("Change", ({ ratio }) => ratio, {
      number: true,
      draw: ({ ratio, change }) =>
        change ? changeSign(change) : formatChange(ratio, metric.kind),
    }),
    ...(published ? [source] : []),
  ];
}

/**
 * Pairs that pass the filters, the largest difference first.
 * @param {Pair[]} pairs
 * @param {State} state
 */
function chosen(pairs, state) {
  const open = ofGroup(pairs, firstParam(state, "group"), ({ series }) => series.case);
  const matches = matcher(firstParam(state, "q"));
  /** @param {Pair} pair */
  const size = ({ ratio }) => Math.abs(Math.log(ratio));
  return open
    .filter(({ series, label }) => matches(`${label} ${series.case.key}`))
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
      options: () => dimensions().map(({ id, name }) => [id, capital(name)]),
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
      for (const field of [by, group, words]) field.show(state);
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
        metric: asked.place.metric,
        published,
      };
      const pairs = chosen(found.pairs, state);
      const compared = pairs.filter(({ change }) => change);
      const meant = compared.length ? compared : pairs;
      const mean = geometricMean(meant.map(({ ratio }) => ratio));
      const apart = pairs.length - meant.length;
      const { label, better } = names.metric;
      lead.textContent = pairs.length
        ? `${capital(label)}, ${names.b} against ${names.a}: geometric mean ` +
          `${formatChange(mean, names.metric.kind)} of ${plural(meant.length, "case")}` +
          `${apart ? `, without ${apart} that were not compared interleaved` : ""}. ` +
          `${capital(better)} is better.`
        : "";
      const columns = columnsOf(names);
      const rows = pairs.slice(0, 60).map((pair) => ratioRow(pair, names));
      const colour = compared.length
        ? "Coloured, and with an interval: compared interleaved."
        : "Grey: not compared interleaved, so noise may explain a difference.";
      const [from, to] = [findCommit(asked.a), findCommit(asked.b)];
      out.replaceChildren(
        ...nodesOf([
          pairs.length
            ? barChart(lead.textContent, rows)
            : notice(`No case has a ${label} on both sides.`),
          el("p", { class: "note" }, [colour, ...found.notes].join(" ")),
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
