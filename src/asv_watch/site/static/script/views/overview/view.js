// Overview: one headline, what changed in two pictures, and the newest values.

import { firstParam, linkTo } from "../../address.js";
import { barChart } from "../../charts/bars.js";
import { getModel } from "../../data/model.js";
import { el } from "../../page/elements.js";
import { groupField, selectField } from "../../page/fields.js";
import { casePage, casePageOf, commitLink, nameOf, seriesOf } from "../../page/signs.js";
import { columnOf, drawTable } from "../../page/tables.js";
import { formatDay, plural } from "../../text/format.js";
import { drawMatrix } from "./matrix.js";
import { matrixSheet } from "./rows.js";

/** @import { BarRow } from "../../charts/bars.js" */
/** @import { Choice } from "../../page/fields.js" */

/** @param {Change} change @returns {BarRow[]} */
function changeRow(change) {
  const ratio = change.ratio ?? change.about;
  if (ratio === null) return [];
  const series = seriesOf(change);
  const measured = change.state === "measured";
  const tip = [
    nameOf(series),
    `${change.text}${change.interval_text ? `, interval ${change.interval_text}` : ""}`,
    change.values?.join(" → ") ?? "",
    `since ${getModel().commitLine(change.c)}`,
    series.machine.name,
  ];
  return [
    {
      label: nameOf(series),
      href: casePage(series),
      ratio,
      interval: change.interval,
      verdict: measured ? change.verdict : "same",
      text: change.text,
      tip: tip.filter(Boolean).join("\n"),
    },
  ];
}

/** @param {{ key: string, title: string } & Compared} compared @returns {BarRow} */
const comparedRow = ({ key, title, ...compared }) => ({
  ...compared,
  label: title,
  href: casePageOf(key),
  tip: `${title}\n${compared.text}, interval ${compared.interval_text}`,
});

/**
 * @param {string} title
 * @param {Child[]} children
 */
const picture = (title, ...children) =>
  el("section", { class: "picture" }, el("h2", {}, title), ...children);

/** @param {OverviewCommits} commits */
function commitsPicture({ changes, more, suspected, sentence, since }) {
  const { index, shortOf } = getModel();
  const shown = changes.flatMap((at) => index.changes[at] ?? []);
  const rows = shown.flatMap(changeRow);
  const machines = new Set(shown.map((change) => seriesOf(change).machine.name));
  const others = [
    more ? `${more} more` : "",
    suspected ? `${plural(suspected, "suspected change")}, not measured yet` : "",
  ].filter(Boolean);
  const all = linkTo("changes", {
    m: null,
    e: null,
    since: since === null ? null : shortOf(since),
  });
  const link = others.length
    ? el("p", { class: "note" }, el("a", { href: all }, others.join("; ")), ".")
    : null;
  const where = el("p", { class: "note" }, `Measured on ${[...machines].join(", ")}.`);
  return rows.length
    ? picture("What the newest commits changed", barChart(sentence, rows), where, link)
    : link;
}

/** @param {OverviewRelease} release */
function releasePicture({ name, before, bars, count, more, machine, sentence }) {
  const title = `What ${name} changed against ${before}`;
  const same = count - bars.length - more;
  const rest = [
    more ? `${more} more differ` : "",
    `${same} of ${count} cases show no difference on ${machine}`,
  ].filter(Boolean);
  return picture(
    title,
    bars.length ? barChart(title, bars.map(comparedRow)) : el("p", {}, sentence),
    el(
      "p",
      { class: "note" },
      `${rest.join("; ")}. `,
      el("a", { href: linkTo("releases") }, "All releases"),
    ),
  );
}

function lead() {
  const { commits, index } = getModel();
  const newest = Math.max(...index.newest_runs.map((run) => run.c));
  const commit = commits[newest];
  const { machine = "", environment = "", count = 0, cases = 0 } = index.overview.failed ?? {};
  const list = linkTo("about", { m: machine, e: environment });
  const failed = el("a", { href: list }, `${plural(count, "case")} failed`);
  return el(
    "p",
    { class: "lead" },
    "Newest commit: ",
    commitLink(newest),
    commit ? ` · ${formatDay(commit.date)} · ${commit.subject}.` : null,
    " ",
    count ? failed : `${plural(cases, "case")} ran, none failed`,
    machine && ` on ${machine}`,
    ".",
  );
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
    const { commits, release } = index.overview;
    const group = groupField();
    const tables = selectField("table", "Table", {
      options: () => [
        ["", "newest values"],
        ...index.tables.map((table) => /** @type {Choice} */ ([table.title, table.title])),
      ],
    });
    const values = el("div", {});
    const title = el("h2", {}, "Newest values");
    app.replaceChildren(
      lead(),
      el(
        "div",
        { class: "pictures" },
        commitsPicture(commits),
        release ? releasePicture(release) : null,
      ),
      el("div", { class: "head" }, title, el("div", { class: "fields" }, tables.node, group.node)),
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
