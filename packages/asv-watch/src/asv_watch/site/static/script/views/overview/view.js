// Overview: the newest values below the tables and charts of the page itself.

import { firstParam, linkTo } from "../../address.js";
import { getModel } from "../../data/model.js";
import { el, muted, nodesOf } from "../../page/elements.js";
import { groupField } from "../../page/fields.js";
import { commitLink } from "../../page/signs.js";
import { formatDay, plural } from "../../text/format.js";
import { drawMatrix } from "./matrix.js";

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

/** @type {View} */
export const overviewView = {
  title: "Overview",
  setup: ["m", "e", "metric"],
  mount(app) {
    const { index } = getModel();
    const group = groupField();
    const values = el("div", {});
    const note = el("p", { class: "note newest" });
    const title = el("h2", {}, "Newest values");
    app.replaceChildren(
      el("div", { class: "head" }, title, el("div", { class: "fields" }, group.node)),
      note,
      values,
    );
    return (state) => {
      group.show(state);
      const setup = getModel().setup(state);
      note.replaceChildren(...nodesOf(lead(setup)));
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
