// Overview: the newest values below the tables and charts of the page itself.

import { firstParam, linkTo } from "../../address.js";
import { getModel } from "../../data/model.js";
import { el, muted, nodesOf } from "../../page/elements.js";
import { groupField } from "../../page/fields.js";
import { commitLink } from "../../page/signs.js";
import { formatDay, plural } from "../../text/format.js";
import { drawMatrix, firstRun } from "./matrix.js";

/** @param {NewestRun} run */
function outcomeOf({ m, e, ran, failed }) {
  const { machines, environments } = getModel().index;
  const href = linkTo("about", { m: machines[m]?.name, e: environments[e]?.id });
  const failures = failed ? el("a", { href }, `${failed} failed`) : "none failed";
  return [`${plural(ran, "case")} ran, `, failures, "."];
}

/** What was measured last here. @param {Setup} setup */
function lead(setup) {
  const { commits, commitsAt, index } = getModel();
  const run = commitsAt(setup);
  const commit = commits[run?.c ?? -1];
  if (!run || !commit) return [];
  return [
    `${index.machines[setup.m]?.name} measured `,
    run.commits > 1 ? `${plural(run.commits, "commit")}, the newest ` : "one commit, ",
    commitLink(run.c),
    ` of ${formatDay(commit.date)}: ${commit.subject}. `,
    outcomeOf(run),
  ];
}

/** Says that another machine measured something newer, or for the first time. @param {Setup} setup */
function elsewhere(setup) {
  const { commitsAt, index } = getModel();
  const [newest] = [...index.newest_runs].sort((a, b) => b.c - a.c);
  const run = firstRun(setup) ?? (newest && newest.c > (commitsAt(setup)?.c ?? 0) ? newest : null);
  if (!run) return null;
  const machine = index.machines[run.m]?.name;
  const environment = index.environments[run.e];
  const href = linkTo("overview", { m: machine, e: environment?.id });
  const what =
    run.commits > 1
      ? `${machine} measured a newer commit, `
      : `New: ${machine} measured its first commit with ${environment?.short}, `;
  return el(
    "p",
    { class: "notice" },
    what,
    commitLink(run.c),
    ": ",
    outcomeOf(run),
    " ",
    el("a", { href }, `Show ${run.m === setup.m ? environment?.short : machine}`),
  );
}

/** @type {View} */
export const overviewView = {
  title: "Overview",
  setup: ["m", "e", "metric"],
  mount(app) {
    const { index } = getModel();
    const group = groupField();
    const values = el("div", {});
    const note = el("p", { class: "note newest" });
    const banner = el("div", {});
    const title = el("h2", {}, "Newest values");
    app.replaceChildren(
      el("div", { class: "head" }, title, el("div", { class: "fields" }, group.node)),
      note,
      banner,
      values,
    );
    return (state) => {
      group.show(state);
      const setup = getModel().setup(state);
      note.replaceChildren(...nodesOf(lead(setup)));
      banner.replaceChildren(...nodesOf([elsewhere(setup)]));
      const drawn = drawMatrix(setup, firstParam(state, "group"));
      const { metric } = setup;
      const direction = muted(` · ${metric.better} is better`);
      title.replaceChildren(`Newest values: ${metric.label}`, direction);
      values.replaceChildren(...drawn.parts);
      const machine = index.machines[setup.m]?.name ?? "";
      const saved = `Newest values: ${metric.label}, ${machine}`;
      return { name: "overview", title: saved, sheet: drawn.sheet };
    };
  },
};
