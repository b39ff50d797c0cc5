// About the data: how the newest run of every case went. All else stands in the page itself.

import { getModel } from "../data/model.js";
import { announce, el, fillAnew, lazyFold, muted, notice } from "../page/elements.js";
import { isOfSetup } from "../page/fields.js";
import { caseName, casePage, commitLink, nameOf, OUTCOMES, outcomeTag } from "../page/signs.js";
import { columnOf, drawTable, sheetOf } from "../page/tables.js";
import { plural } from "../text/format.js";

/** Why the newest run has no value, or is not of the newest commit. @param {Series} series */
function reasonOf({ status, behind, reason }) {
  if (status === "stale") return `${plural(behind, "commit")} behind the newest`;
  return reason || (status === "never run" ? "no run is stored" : "no message");
}

/** The reason, with the whole message where that is longer. @param {Series} series */
function drawReason(series) {
  const whole = series.text === null ? null : getModel().index.texts[series.text];
  if (!whole) return reasonOf(series);
  return el("details", {}, el("summary", {}, series.reason), el("pre", {}, whole));
}

/** @param {Series} series */
const placeOf = ({ machine, environment }) => `${machine.name} · ${environment.short}`;

/** @type {Column<Series>[]} */
const COLUMNS = [
  columnOf("Case", nameOf, {
    draw: (series) => el("a", { href: casePage(series) }, caseName(series.case)),
  }),
  columnOf("Newest run", ({ status }) => status, { draw: ({ status }) => outcomeTag(status) }),
  columnOf("Why", ({ reason }) => reason, { look: "text", draw: drawReason }),
  columnOf("Commit", ({ at }) => getModel().commits[at ?? -1]?.hash, {
    draw: ({ at }) => (at === null ? "–" : commitLink(at)),
  }),
  columnOf("Machine", ({ machine, environment }) => `${machine.name} ${environment.label}`, {
    draw: placeOf,
  }),
];

/** Cases of one outcome and reason, folded. @param {Series[]} members */
function drawGroup(members) {
  const [first] = members;
  if (!first) return null;
  const where = [...new Set(members.map(placeOf))];
  const places = where.length > 3 ? `${where.length} environments` : where.join("; ");
  const reason = reasonOf(first);
  const size = ` ${plural(members.length, "case")}: ${reason}`;
  return lazyFold([outcomeTag(first.status), size, muted(` · ${places}`)], () =>
    drawTable(reason, COLUMNS, members, { first: 50 }),
  );
}

/** @type {View} */
export const aboutView = {
  title: "About the data",
  setup: ["m", "e"],
  allMachines: true,
  mount: (app) => (state) => {
    const here = getModel().series.filter((series) => isOfSetup(series, state));
    const open = here.filter(({ status }) => status !== "ok");
    const groups = [...Map.groupBy(open, (one) => `${one.status} ${reasonOf(one)}`).values()];
    groups.sort((a, b) => b.length - a.length);
    const drawn = OUTCOMES.flatMap((outcome) =>
      groups.filter(([first]) => first?.status === outcome).map(drawGroup),
    );
    const failed = open.filter(({ status }) => ["failed", "timed out"].includes(status)).length;
    const text = `${plural(failed, "case")} failed in the newest run.`;
    fillAnew(app, notice(text), drawn);
    announce(text);
    return { name: "outcomes", title: "Newest runs", sheet: () => sheetOf(COLUMNS, open) };
  },
};
