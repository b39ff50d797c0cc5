// Overview: the newest values below the tables and charts of the page itself.

import { firstParam, linkTo } from "../../address.js";
import { getModel } from "../../data/model.js";
import { el, nodesOf } from "../../page/elements.js";
import { groupField, selectField } from "../../page/fields.js";
import { commitLink } from "../../page/signs.js";
import { columnOf, drawTable } from "../../page/tables.js";
import { formatDay, plural } from "../../text/format.js";
import { drawMatrix, firstRun } from "./matrix.js";
import { matrixSheet } from "./rows.js";

/** @import { Choice } from "../../page/fields.js" */

function lead() {
  const { commits, index } = getModel();
  const newest = Math.max(...index.newest_runs.map((run) => run.c));
  const commit = commits[newest];
  const { machine = "", environment = "", count = 0, cases = 0 } = index.overview.failed ?? {};
  const list = linkTo("about", { m: machine, e: environment });
  const failed = el("a", { href: list }, `${plural(count, "case")} failed`);
  return el(
    "p",
    { class: "note newest" },
    "Newest commit: ",
    commitLink(newest),
    commit ? ` · ${formatDay(commit.date)} · ${commit.subject}.` : null,
    " ",
    count ? failed : `${plural(cases, "case")} ran, none failed`,
    machine && ` on ${machine}`,
    ".",
  );
}

/** Says that a machine measured for the first time. @param {Place} place */
function firstRunNote(place) {
  const { index } = getModel();
  const first = firstRun(place);
  if (!first) return null;
  const { m, e } = first;
  const [machine = "", short = ""] = [index.machines[m]?.name, index.environments[e]?.short];
  const text = `New: ${machine} measured its first commit with ${short}. `;
  const href = linkTo("overview", { m: machine, e: index.environments[e]?.id });
  return el("p", { class: "notice" }, text, el("a", { href }, "Show it alone"));
}

/** A table that the project brings along. @param {DeclaredTable} table */
const drawDeclared = ({ title, note, head, rows }) => [
  el("p", { class: "note" }, note),
  drawTable(
    title,
    head.map((text, i) => columnOf(text, (/** @type {string[]} */ row) => row[i], { wrap: true })),
    rows,
  ),
];

/** @type {View} */
export const overviewView = {
  title: "Overview",
  place: ["m", "e", "metric"],
  mount(app) {
    const { index } = getModel();
    const group = groupField();
    const tables = selectField("table", "Table", {
      options: () => [
        ["", "newest values"],
        ...index.tables.map((table) => /** @type {Choice} */ ([table.title, table.title])),
      ],
    });
    const values = el("div", {});
    const banner = el("div", {});
    const title = el("h2", {}, "Newest values");
    app.replaceChildren(
      el("div", { class: "head" }, title, el("div", { class: "fields" }, tables.node, group.node)),
      lead(),
      banner,
      values,
    );
    return (state) => {
      group.show(state);
      tables.show(state);
      const table = index.tables.find((declared) => declared.title === firstParam(state, "table"));
      group.node.hidden = Boolean(table);
      if (table) {
        title.replaceChildren(table.title);
        values.replaceChildren(...drawDeclared(table));
        return { name: "table", title: table.title, sheet: () => table };
      }
      const place = getModel().place(state);
      banner.replaceChildren(...nodesOf([firstRunNote(place)]));
      const drawn = drawMatrix(place, firstParam(state, "group"));
      const { metric } = place;
      title.replaceChildren(
        `Newest values: ${metric.label}`,
        el("span", { class: "muted" }, ` · ${metric.better} is better`),
      );
      values.replaceChildren(drawn.node);
      const machine = index.machines[place.m]?.name ?? "";
      return {
        name: "overview",
        title: `Newest values: ${metric.label}, ${machine}`,
        sheet: () => matrixSheet(drawn.table, metric),
      };
    };
  },
};
