// Compare: any two commits, releases, machines or values of a label, case by case.

import { changeParams, firstParam, parseAddress } from "../../address.js";
import { getModel } from "../../data/model.js";
import { changeColumns, sizeOf, tally } from "../../page/changes.js";
import { announce, el, fillAnew, fold, notice } from "../../page/elements.js";
import {
  commitField,
  groupField,
  matcher,
  ofGroup,
  searchField,
  selectField,
} from "../../page/fields.js";
import { commandBlock } from "../../page/save.js";
import { casePage, signsHelp, wordsOf } from "../../page/signs.js";
import { columnOf, drawTable, sheetOf } from "../../page/tables.js";
import { capital, formatValue, plural } from "../../text/format.js";
import { collectPairs } from "./pairs.js";
import { dimensions, readSides } from "./sides.js";

/**
 * Pairs that pass the filters, the largest difference first.
 * @param {Pair[]} pairs
 * @param {State} state
 */
function chosen(pairs, state) {
  const open = ofGroup(pairs, firstParam(state, "group"), ({ series }) => series.case);
  const matches = matcher(firstParam(state, "q"));
  const all = firstParam(state, "show") !== "differences";
  return open
    .filter(({ series, label }) => matches(`${label} ${wordsOf(series.case)}`))
    .filter(({ verdict }) => all || verdict !== "same")
    .sort((x, y) => sizeOf(y) - sizeOf(x));
}

/**
 * What to choose where no pair is shown.
 * @param {Sides} shown
 * @param {number} found pairs that the filters leave out
 */
function nothingShown({ by, setup, a, b }, found) {
  if (found) return `${plural(found, "case")} left out: choose another suite, or clear the words.`;
  if (!a || !b || a === b) return `Choose two different sides: both are ${b || "empty"}.`;
  const machine = getModel().index.machines[setup.m]?.name;
  const where = ["machine", "release"].includes(by.id) ? "" : ` on ${machine}`;
  return (
    `No case has a ${setup.metric.label} both for ${a} and for ${b}${where}. ` +
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
 * @param {Sides} shown
 * @param {Pair[]} pairs
 * @returns {Column<Pair>[]}
 */
function columnsOf({ a, b, setup: { metric } }, pairs) {
  /** @param {string} text @param {"a" | "b"} side @returns {Column<Pair>} */
  const valueColumn = (text, side) =>
    columnOf(text, (pair) => pair[side], {
      look: "number",
      draw: (pair) => formatValue(pair[side], metric),
    });
  return [
    columnOf("Case", ({ label }) => label, {
      draw: ({ series, label }) => el("a", { href: casePage(series) }, label),
    }),
    valueColumn(a, "a"),
    valueColumn(b, "b"),
    ...changeColumns(pairs),
    columnOf("Measured on", ({ where }) => where, {
      look: "text",
      hidden: new Set(pairs.map(({ where }) => where)).size < 2,
    }),
  ];
}

/** @type {View} */
export const compareView = {
  title: "Compare",
  setup: ["m", "e", "metric"],
  mount(app) {
    const [largest] = getModel().index.overview.lasting;
    const by = selectField("by", "Compare", {
      options: (state) => dimensions(getModel().setup(state)).map(({ id }) => [id, capital(id)]),
      initial: (state) => readSides(state).by.id,
      change: (patch) => changeParams({ ...patch, a: null, b: null }),
    });
    /** @param {"a" | "b"} key @param {string} name */
    const sideFields = (key, name) => ({
      select: selectField(key, name, {
        options: (state) => readSides(state).by.choices,
        initial: (state) => readSides(state)[key],
      }),
      commit: commitField(key, name, (state) => readSides(state)[key]),
    });
    const sides = [sideFields("a", "From"), sideFields("b", "To")];
    const group = groupField();
    const show = selectField("show", "Show", {
      options: () => [
        ["", "all"],
        ["differences", "only differences"],
      ],
    });
    const words = searchField("q", "Words", "part of a name");
    const selects = [by, ...sides.map(({ select }) => select), group, show, words];
    const nodes = [
      by.node,
      sides.map(({ select, commit }) => [select.node, commit.node]),
      [group, show, words].map(({ node }) => node),
    ];
    const lead = el("p", { class: "lead" });
    const out = el("div", {});
    app.replaceChildren(el("div", { class: "fields" }, nodes), lead, out);
    return async (state, isAsked) => {
      if (largest && !["by", "a", "b", "m", "metric"].some((key) => state.params[key])) {
        const { params } = parseAddress(largest.href);
        changeParams({ ...params, ...state.params }, { replace: true });
        return null;
      }
      const asked = readSides(state);
      const isOfCommits = asked.by.id === "commit";
      for (const field of selects) field.show(state);
      for (const { commit } of sides) {
        commit.show(state);
        commit.node.hidden = !isOfCommits;
      }
      const found = await collectPairs(asked);
      if (!isAsked()) return null;
      const [a, b] = found.sides ?? [asked.a, asked.b];
      const shown = { ...asked, a, b };
      const { metric } = asked.setup;
      const pairs = chosen(found.pairs, state);
      const columns = columnsOf(shown, pairs);
      const apart = pairs.filter(({ interval }) => !interval).length;
      if (apart) found.notes.push(`Hollow: values of separate runs, ${plural(apart, "case")}.`);
      const title = `${b} against ${a}`;
      const [where = "", ...others] = new Set(pairs.map((pair) => pair.where));
      lead.textContent = pairs.length
        ? `${capital(metric.label)}, ${title}${others.length ? "" : ` on ${where}`}: ` +
          `${plural(pairs.length, "case")}. ${capital(metric.better)} is better.`
        : "";
      const command = `asv-watch compare --before ${a} --after ${b}`;
      fillAnew(
        out,
        summary(pairs, metric),
        drawTable(title, columns, pairs, { className: "list cards" }) ??
          notice(nothingShown(shown, found.pairs.length)),
        el("p", { class: "note" }, found.notes.join(" ")),
        pairs.length ? signsHelp() : null,
        isOfCommits && a !== b ? fold("Compare the two interleaved", commandBlock(command)) : null,
      );
      announce(lead.textContent);
      return { name: "comparison", title, sheet: () => sheetOf(columns, pairs) };
    };
  },
};
