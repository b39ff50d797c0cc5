// About the data: how the newest run of every case went, on which machines, and how noisy it is.

import { addressOf, firstParam, linkTo } from "../address.js";
import { getModel } from "../data/model.js";
import { loadAbout } from "../data/registry.js";
import { announce, el, fold, listOf, nodesOf, notice, part } from "../page/elements.js";
import {
  caseName,
  casePage,
  commitLink,
  nameOf,
  OUTCOME_NAMES,
  outcomeTag,
} from "../page/signs.js";
import { columnOf, drawTable, factsTable, sheetOf } from "../page/tables.js";
import { formatCount, formatDay, plural } from "../text/format.js";

/** @import { Column } from "../page/tables.js" */

/** Outcomes that need a look. @type {Outcome[]} */
const TROUBLE = ["failed", "timed out"];

/** The series of the machine and environment that an address names. @param {State} state */
function seriesHere(state) {
  const [machine, environment] = [firstParam(state, "m"), firstParam(state, "e")];
  return getModel().series.filter(
    (series) =>
      !machine ||
      (series.machine.name === machine && (!environment || series.environment.id === environment)),
  );
}

/** @param {State} state */
function chosen(state) {
  const outcome = firstParam(state, "outcome");
  return seriesHere(state).filter(({ status }) =>
    outcome ? status === outcome : TROUBLE.includes(status),
  );
}

/** Why the newest run has no value, or is not of the newest commit. @param {Series} series */
function why({ status, behind, reason, text }) {
  if (status === "stale") return `${plural(behind, "commit")} behind the newest`;
  const whole = text === null ? null : getModel().index.texts[text];
  if (!whole) return reason || (status === "failed" ? "the run left no message" : "");
  return el("details", {}, el("summary", {}, reason), el("pre", {}, whole));
}

/** @type {Column<Series>[]} */
const COLUMNS = [
  columnOf("Case", nameOf, {
    draw: (series) => el("a", { href: casePage(series) }, caseName(series.case)),
  }),
  columnOf("Newest run", ({ status }) => status, { draw: ({ status }) => outcomeTag(status) }),
  columnOf("Why", ({ reason }) => reason, { wrap: true, draw: why }),
  columnOf(
    "At",
    ({ newestRun: commit }) => (commit === null ? "" : getModel().commits[commit]?.hash),
    {
      draw: ({ newestRun: commit }) => (commit === null ? "–" : commitLink(commit)),
    },
  ),
  columnOf("Machine", ({ machine, environment }) => `${machine.name} ${environment.label}`, {
    draw: ({ machine, environment }) => `${machine.name} · ${environment.short}`,
  }),
];

/** How many cases have each outcome, as filters. @param {State} state */
function tallyLinks(state) {
  const now = firstParam(state, "outcome");
  const here = seriesHere(state);
  return OUTCOME_NAMES.flatMap((outcome) => {
    const count = here.filter((series) => series.status === outcome).length;
    if (!count) return [];
    const href = addressOf("about", {
      ...state.params,
      outcome: now === outcome ? null : outcome,
    });
    const current = now === outcome ? "true" : null;
    return el(
      "a",
      { class: "button", href, "aria-current": current },
      outcomeTag(outcome),
      ` ${formatCount(count)}`,
    );
  });
}

/** @type {Column<MachineLine>[]} */
const MACHINE_COLUMNS = [
  columnOf("Machine", ({ name }) => name, {
    draw: ({ name, cpu, newest }) => [
      newest === null ? name : el("a", { href: linkTo("overview", { m: name, e: null }) }, name),
      cpu ? el("span", { class: "muted" }, ` ${cpu}`) : null,
    ],
  }),
  columnOf("Newest run", ({ newest }) => getModel().commits[newest ?? -1]?.hash, {
    draw: ({ newest }) =>
      newest === null
        ? "none: it only compared"
        : [commitLink(newest), ` ${formatDay(getModel().commits[newest]?.date ?? 0)}`],
  }),
  columnOf("Commits", ({ commits }) => commits, { number: true }),
  columnOf("Cases", ({ cases }) => cases, { number: true }),
  columnOf("Failed", ({ failed }) => failed, { number: true }),
  columnOf("Behind", ({ behind }) => behind, { number: true }),
  columnOf("Smallest change it shows", ({ detectable }) => detectable, {
    number: true,
    draw: ({ detectable }) => detectable || "nothing compared",
  }),
  columnOf("Contradictions", ({ contradictions }) => contradictions?.count, {
    number: true,
    draw: ({ contradictions }) =>
      contradictions?.checked
        ? `${contradictions.count} of ${formatCount(contradictions.checked)}, ` +
          `${contradictions.by_chance} by chance`
        : "–",
  }),
];

/** @type {Column<Contradictions["largest"][number]>[]} */
const CONTRADICTION_COLUMNS = [
  columnOf("Case", (row) => row.case),
  columnOf("Before", ({ before }) => before),
  columnOf("After", ({ after }) => after),
  columnOf("Measured", ({ found }) => found, { number: true }),
  columnOf("By other ways", ({ expected }) => expected, { number: true }),
];

/** Pairs of a machine that disagree with other ways. @param {MachineLine} machine */
function drawContradictions({ name, contradictions }) {
  if (!contradictions?.count) return null;
  const { text, largest } = contradictions;
  return fold(`${name}: ${text}`, drawTable(text, CONTRADICTION_COLUMNS, largest));
}

/** What failed, by reason: the reason of most cases first. @param {Series[]} failed */
function drawReasons(failed) {
  /** @type {Map<string, Series[]>} */
  const groups = new Map();
  for (const series of failed) {
    const key = series.reason || `${series.status} without a message`;
    groups.set(key, [...(groups.get(key) ?? []), series]);
  }
  return [...groups]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([reason, members]) => {
      const where = [
        ...new Set(
          members.map(({ machine, environment }) => `${machine.name}, ${environment.short}`),
        ),
      ];
      const places = where.length > 3 ? `${where.length} environments` : where.join("; ");
      return fold(
        [
          outcomeTag(members[0]?.status ?? "failed"),
          ` ${plural(members.length, "case")}: ${reason}`,
          el("span", { class: "muted" }, ` · ${places}`),
        ],
        drawTable(reason, COLUMNS, members, { first: 50 }),
      );
    });
}

/** @param {AboutData} data */
function drawAbout({ machines, setups, noise, left_out: leftOut, problems }) {
  const { commits, index } = getModel();
  /** @param {typeof index.events} events */
  const eventList = (events) =>
    listOf(
      events.map(({ c, m, text }) => [
        `${formatDay(commits[c]?.date ?? 0)} `,
        commitLink(c),
        ` ${index.machines[m]?.name}: ${text}`,
      ]),
    );
  const events = [...index.events].reverse();
  return [
    part(
      "Results that could not be read",
      listOf(problems.map(({ path, message }) => [el("code", {}, path), `: ${message}`])),
    ),
    part(
      "Machines and environments",
      setups.map(({ machine, environment, commits: count, newest, counts, facts }) =>
        fold(
          `${machine} · ${environment} · ${plural(count, "commit")}`,
          factsTable(`${machine} ${environment}`, [
            ["newest commit", commitLink(newest)],
            ["its cases", Object.entries(counts).map(([name, cases]) => `${cases} ${name} `)],
            ...Object.entries(facts),
          ]),
        ),
      ),
    ),
    part(
      "What changed around the code",
      eventList(events.slice(0, 5)),
      events.length > 5 ? fold("Earlier ones", eventList(events.slice(5))) : null,
    ),
    part("What comparisons can show", listOf(noise), machines.map(drawContradictions)),
    leftOut.length
      ? fold(
          `Left out: ${plural(leftOut.length, "reason")}`,
          listOf(
            leftOut.map(({ name, reason, count }) => [
              el("code", {}, name),
              `: ${reason} (${count})`,
            ]),
          ),
        )
      : null,
  ];
}

/** @type {View} */
export const aboutView = {
  title: "About the data",
  setup: ["m", "e"],
  allMachines: true,
  mount(app) {
    const tally = el("p", { class: "tally" });
    const out = el("div", {});
    const below = el("div", {});
    const top = el("div", {});
    const failures = el("h2", {}, "What failed, and why");
    app.replaceChildren(top, failures, tally, out, below);
    return async (state) => {
      tally.replaceChildren(...tallyLinks(state));
      const list = chosen(state);
      const chose = Boolean(firstParam(state, "outcome"));
      const nothing = notice(chose ? "No case." : "No case failed in its newest run.");
      const drawn = chose
        ? [drawTable("The newest run of each case", COLUMNS, list, { state, first: 50 })]
        : drawReasons(list);
      out.replaceChildren(...(list.length ? drawn : [nothing]));
      announce(`${plural(list.length, "case")}.`);
      if (!below.firstChild) {
        const data = await loadAbout();
        top.replaceChildren(
          drawTable("Machines", MACHINE_COLUMNS, data.machines, { className: "machines" }),
        );
        below.replaceChildren(...nodesOf(drawAbout(data)));
      }
      return { name: "outcomes", title: "Newest runs", sheet: () => sheetOf(COLUMNS, list) };
    };
  },
};
