// Compare: any two commits, environments, machines or values of a label, case by case.

import { changeParams, firstParam, parseAddress } from "../../address.js";
import { getModel } from "../../data/model.js";
import { changeColumns } from "../../page/changes.js";
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
import { casePage, signsHelp, wordsOf } from "../../page/signs.js";
import { columnOf, drawTable, sheetOf } from "../../page/tables.js";
import { tally } from "../../page/tally.js";
import { capital, formatValue, plural } from "../../text/format.js";
import { dimensions, readSides, sideName } from "./dimensions.js";
import { collectPairs } from "./pairs.js";

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
  const all = firstParam(state, "show") !== "differences";
  return open
    .filter(({ series, label }) => matches(`${label} ${wordsOf(series.case)}`))
    .filter(({ verdict }) => all || verdict !== "same")
    .sort((x, y) => size(y) - size(x));
}

/**
 * What to choose where no pair is shown.
 * @param {Sides} asked
 * @param {PairNames} names
 * @param {number} found pairs that the filters leave out
 */
function nothingShown({ by, setup, a, b }, names, found) {
  if (found) return `${plural(found, "case")} left out: choose another suite, or clear the words.`;
  if (!a || !b || a === b) return `Choose two different sides: both are ${names.b || "empty"}.`;
  const machine = getModel().index.machines[setup.m]?.name;
  const where = ["machine", "release"].includes(by.id) ? "" : ` on ${machine}`;
  return (
    `No case has a ${names.metric.label} both for ${names.a} and for ${names.b}${where}. ` +
    `Choose other sides, another machine or something else that was measured.`
  );
}

/**
 * What the compared cases say together; the mean is of the main suites, if any is among them.
 * @param {Pair[]} pairs
 * @param {Metric} metric
 */
function summary(pairs, { kind }) {
  const counted = pairs.filter(({ interval }) => interval);
  const { mainGroups } = getModel();
  const main = counted.filter(({ series }) => mainGroups.has(series.case.line.group));
  return tally(counted, kind, main.length ? main : counted);
}

/**
 * A row for each case, with both values and the bar of their ratio.
 * @param {PairNames} names
 * @param {Pair[]} pairs
 * @returns {Column<Pair>[]}
 */
function columnsOf({ a, b, metric }, pairs) {
  /** @param {string} text @param {"a" | "b"} side @returns {Column<Pair>} */
  const valueColumn = (text, side) =>
    columnOf(text, (pair) => pair[side], {
      number: true,
      draw: (pair) => formatValue(pair[side], metric),
    });
  return [
    columnOf("Case", ({ label }) => label, {
      draw: ({ series, label }) => el("a", { href: casePage(series) }, label),
    }),
    valueColumn(a, "a"),
    valueColumn(b, "b"),
    ...changeColumns(pairs, true),
    columnOf("Measured on", ({ where }) => where, {
      wrap: true,
      hidden: new Set(pairs.map(({ where }) => where)).size < 2,
    }),
  ];
}

/** @type {View} */
export const compareView = {
  title: "Compare",
  setup: ["m", "e", "metric"],
  mount(app) {
    const { findCommit, index } = getModel();
    const [largest] = index.overview.lasting;
    /** @param {State} state @param {"a" | "b"} key */
    const side = (state, key) => readSides(state)[key];
    const by = selectField("by", "Compare", {
      options: (state) =>
        dimensions(readSides(state).setup).map(({ id, name }) => [id, capital(name)]),
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
    const show = selectField("show", "Show", {
      options: () => [
        ["", "all"],
        ["differences", "only differences"],
      ],
    });
    const words = searchField("q", "Words", "part of a name");
    const lead = el("p", { class: "lead" });
    const out = el("div", {});
    const sides = fields.flatMap(({ select, commit }) => [select.node, commit.node]);
    app.replaceChildren(
      el("div", { class: "fields" }, by.node, sides, group.node, show.node, words.node),
      lead,
      out,
    );
    return async (state, isAsked) => {
      if (largest && !["by", "a", "b", "m", "metric"].some((key) => state.params[key])) {
        const { params } = parseAddress(largest.href);
        changeParams({ ...params, ...state.params }, { replace: true });
        return null;
      }
      const asked = readSides(state);
      if (!asked.by) {
        out.replaceChildren(notice("There is nothing to compare yet: measure a second commit."));
        return null;
      }
      for (const field of [by, group, show, words]) field.show(state);
      const typed = asked.by.id === "commit";
      for (const { select, commit } of fields) {
        (typed ? commit : select).show(state);
        commit.node.hidden = !typed;
        if (typed) select.node.hidden = true;
      }
      const here = { ...asked, by: asked.by };
      const found = await collectPairs(here);
      if (!isAsked()) return null;
      const [a, b] = found.sides ?? [asked.a, asked.b];
      /** @param {string} value */
      const nameOf = (value) => sideName(here.by, value);
      const { metric } = asked.setup;
      const names = { a: nameOf(a), b: nameOf(b), metric };
      const pairs = chosen(found.pairs, state);
      const columns = columnsOf(names, pairs);
      const title = `${names.b} against ${names.a}`;
      const [where = "", ...others] = new Set(pairs.map((pair) => pair.where));
      lead.textContent = pairs.length
        ? `${capital(metric.label)}, ${title}${others.length ? "" : ` on ${where}`}: ` +
          `${plural(pairs.length, "case")}. ${capital(metric.better)} is better.`
        : "";
      const together = summary(pairs, metric);
      const known = [asked.a, asked.b].every((text) => findCommit(text) >= 0);
      out.replaceChildren(
        ...nodesOf([
          together.length ? el("p", { class: "note" }, together) : null,
          pairs.length
            ? drawTable(title, columns, pairs, { state, className: "list cards compared" })
            : notice(nothingShown(here, names, found.pairs.length)),
          el("p", { class: "note" }, found.notes.join(" ")),
          pairs.length ? signsHelp() : null,
          typed && known && a !== b
            ? fold(
                "Compare the two interleaved",
                commandBlock(`asv-watch compare --before ${asked.a} --after ${asked.b}`),
              )
            : null,
        ]),
      );
      announce(lead.textContent);
      return { name: "comparison", title, sheet: () => sheetOf(columns, pairs) };
    };
  },
};
