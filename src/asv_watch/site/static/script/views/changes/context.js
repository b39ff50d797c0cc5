// The text around the tables of a comparison: the commits, what happened between them, the
// smallest change that could have been seen, and how to look closer.

import { addressOf } from "../../address.js";
import { getModel } from "../../data/model.js";
import { el } from "../../page/elements.js";
import { commitLink } from "../../page/signs.js";
import { formatCount, formatDay, plural } from "../../text/format.js";

/** @import { State } from "../../address.js" */
/** @import { CommitIndex, Event } from "../../../types.js" */
/** @import { Commit } from "../../data/model.js" */
/** @import { Comparison, Row } from "./comparing.js" */

/**
 * The commit with links to the measured commits before and after it.
 * @param {Comparison} result
 * @param {State} state
 * @param {{ older: CommitIndex, newer: CommitIndex }} neighbours
 */
export function commitBar(result, state, neighbours) {
  const model = getModel();
  const commit = /** @type {Commit} */ (model.commits[result.rev]);
  /**
   * @param {CommitIndex} at
   * @param {string} text
   */
  const link = (at, text) =>
    at >= 0
      ? el("a", { href: addressOf("changes", { ...state.params, rev: model.shortOf(at) }) }, text)
      : el("span", { class: "muted" }, text);
  return el(
    "div",
    { class: "commit-bar" },
    link(neighbours.older, "← older"),
    el(
      "span",
      { class: "subject" },
      commitLink(result.rev),
      ` · ${formatDay(commit.date)} · ${commit.subject} `,
      commit.tags.map((tag) => el("span", { class: "badge" }, tag)),
    ),
    link(neighbours.newer, "newer →"),
  );
}

/**
 * The measured commits after `first` up to `last`, drawn when the fold is opened.
 * @param {CommitIndex} first
 * @param {CommitIndex} last
 */
function commitFold(first, last) {
  const { commits } = getModel();
  const count = last - first;
  const all = (commits[last]?.position ?? 0) - (commits[first]?.position ?? 0);
  const measured = all > count ? `, ${formatCount(count)} of them measured` : "";
  const title =
    all === 1
      ? "The one commit after the base"
      : `The ${formatCount(all)} commits after the base${measured}`;
  const fold = el("details", { class: "fold" }, el("summary", {}, title));
  fold.addEventListener("toggle", () => {
    if (!fold.open || fold.children.length > 1) return;
    const shown = commits.slice(Math.max(first + 1, last - 199), last + 1).reverse();
    const items = shown.map((commit) =>
      el("li", {}, commitLink(commit.at), ` ${formatDay(commit.date)} ${commit.subject}`),
    );
    fold.append(el("ol", { class: "commits", reversed: true }, items));
    const others = count - shown.length;
    if (others > 0) fold.append(el("p", { class: "note" }, `… and ${formatCount(others)} older.`));
  });
  return fold;
}

/** What changed around the code between the two commits, and the commits. @param {Comparison} result */
export function between(result) {
  const model = getModel();
  if (result.base < 0) return [];
  const first = Math.min(result.base, result.rev);
  const last = Math.max(result.base, result.rev);
  /** @param {Event} event */
  const concerns = ({ kind, m, e }) =>
    kind !== "environment" && m === result.m && (e === null || e === result.e || e === result.be);
  const events = model.index.events.filter(
    (event) => concerns(event) && event.c > first && event.c <= last,
  );
  const items = events.map((event) => el("li", {}, `${event.text}, ${model.shortOf(event.c)}`));
  const count = plural(events.length, "change");
  const summary = `${count} of the recipe, the machine or the environment in between`;
  return [
    events.length
      ? el(
          "details",
          { class: "notice events" },
          el("summary", {}, summary),
          el("ul", {}, items),
          el("p", {}, "Values measured under different conditions are not compared."),
        )
      : null,
    last > first ? commitFold(first, last) : null,
  ];
}

/** How large a change would have had to be to count. @param {Row[]} rows */
export function sensitivity(rows) {
  const { rules } = getModel();
  const compared = rows.filter((row) => Number.isFinite(row.ratio));
  const otherwise = rows.filter((row) => row.now && row.then && !row.comparable).length;
  const sizes = compared
    .map((row) => row.visible)
    .filter(Number.isFinite)
    .sort((a, b) => a - b);
  const unknown = compared.filter((row) => !Number.isFinite(row.visible));
  const same = unknown.filter((row) => row.ratio === 1).length;
  const differ = unknown.length - same;
  /** @param {number} share */
  const quantile = (share) => {
    const size = sizes[Math.min(sizes.length - 1, Math.floor(sizes.length * share))] ?? NaN;
    return `${(size * 100).toPrecision(2).replace(/\.0$/, "")}%`;
  };
  const texts = [
    sizes.length &&
      `Smallest detectable change: median ${quantile(0.5)}, 90th percentile ${quantile(0.9)} ` +
        `(${formatCount(sizes.length)} results with a known spread).`,
    otherwise &&
      `${formatCount(otherwise)} results were measured with another recipe or under other ` +
        "conditions at the two revisions, so they are not compared.",
    same && `${formatCount(same)} results without a known spread are exactly equal.`,
    differ &&
      `${formatCount(differ)} results differ, but fewer than ${rules.confirmed} runs exist, ` +
        "so their noise is unknown.",
  ].filter(Boolean);
  return texts.length ? el("p", { class: "note", id: "sensitivity" }, texts.join(" ")) : null;
}

/** The command that measures the two again, interleaved. @param {Comparison} result */
export function compareCommand(result) {
  if (result.base < 0) return null;
  const model = getModel();
  /**
   * @param {CommitIndex} at
   * @param {number} e
   */
  const version = (at, e) => {
    const torch = model.index.environments[e]?.torch;
    return `${model.shortOf(at)}${torch ? "@" + torch : ""}`;
  };
  const [before, after] = [version(result.base, result.be), version(result.rev, result.e)];
  return el(
    "p",
    { class: "note", id: "closer" },
    "To detect smaller changes, measure the two interleaved: ",
    el("code", {}, `asv-watch compare --before ${before} --after ${after}`),
  );
}

/** Frequent questions as links. @param {State} state */
export function shortcuts(state) {
  const model = getModel();
  const keep = { m: state.params.m, e: state.params.e };
  /** @type {[string, string][]} */
  const links = [
    ["newest against the commit before", addressOf("changes", keep)],
    ["newest against the baseline", addressOf("changes", { ...keep, base: "baseline" })],
  ];
  const releases = model.releases.filter((release) => release.torch).reverse();
  releases.slice(0, -1).forEach((newer, i) => {
    const older = releases[i + 1];
    if (!older) return;
    const base = model.environmentLabel(older).replace(/^torch /, "");
    links.push([
      `${model.environmentLabel(newer)} against ${base}`,
      addressOf("changes", {
        m: state.params.m,
        e: newer.id === model.defaultEnvironment ? null : newer.id,
        be: older.id,
      }),
    ]);
  });
  return [
    "Frequent: ",
    ...links.flatMap(([text, href], i) => [i ? " · " : "", el("a", { href }, text)]),
    ".",
  ];
}
