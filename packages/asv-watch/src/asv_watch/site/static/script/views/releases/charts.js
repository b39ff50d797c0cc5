// A small chart of every row: its time in each release, relative to the newest.

import { drawLines, multiples, smallMultiple, smallPicture } from "../../charts/lines.js";
import { lookOf } from "../../charts/marks.js";
import { getModel } from "../../data/model.js";
import { muted } from "../../page/elements.js";
import { casePageOf, columnLegend } from "../../page/signs.js";
import { readable } from "../../page/tip.js";
import { formatChange } from "../../text/format.js";

/** A line between two releases would say no more than the tables. */
const FEWEST = 3;
/** Distance of the lines of a chart, so that their intervals do not cover each other. */
const BESIDE = 0.12;

/** @param {ReleaseCase} what @param {number} nth @returns {Line} */
function lineOf({ key, times }, nth) {
  const shown = getModel().caseOf(key);
  return {
    id: key,
    look: shown ? lookOf(shown) : "",
    shape: nth,
    points: times.map(([release, value, low, high]) => ({
      stop: release - nth * BESIDE,
      value,
      interval: [low, high],
    })),
    others: [],
    changes: [],
    segments: [],
  };
}

/** What the cases say at a release. @param {ReleaseHistory} history @param {ReleaseCase[]} cases @param {number} release */
function readAt({ versions }, cases, release) {
  const texts = cases.flatMap(({ key, title, times }) => {
    const time = times.find(([other]) => other === release);
    if (!time) return [];
    const name = getModel().caseOf(key)?.field.name || title;
    const [, ratio, low, high] = time;
    const reach = low === high ? "" : ` (${formatChange(low)} to ${formatChange(high)})`;
    return [`${name}: ${formatChange(ratio)}${reach}`];
  });
  return [`${versions[release]}, against ${versions.at(-1)}`, ...texts];
}

/** The lines of one metric over releases. @param {ReleaseHistory} history @param {ReleaseCase[]} cases */
function drawPicture(history, cases) {
  const picture = smallPicture();
  const { versions } = history;
  const stride = Math.ceil(versions.length / 6);
  const ticks = versions
    .map((version, stop) => ({ stop, text: version.split(".").slice(0, 2).join(".") }))
    .filter(({ stop }) => (versions.length - 1 - stop) % stride === 0);
  const plot = drawLines(picture, cases.map(lineOf), {
    position: (stop) => stop,
    domain: [-0.4, versions.length - 0.6],
    ticks,
  });
  const stops = versions.map((_, stop) => stop);
  readable(picture).show(plot, stops, (stop) => readAt(history, cases, stop));
  const words = cases.map(({ title, times }) => `${title}: ${formatChange(times[0]?.[1] ?? NaN)}`);
  picture.setAttribute(
    "aria-label",
    `${versions[0]} relative to ${versions.at(-1)}. ${words.join(", ")}`,
  );
  return picture;
}

/** A row's times, and its memory below them. @param {ReleaseHistory} history @param {ReleaseCase[]} cases */
function drawItem(history, cases) {
  const [first] = cases;
  const what = first ? getModel().caseOf(first.key) : null;
  const { name = first?.title ?? "", details = "" } = what?.line ?? {};
  const [times, memory] = ["time", "memory"].map((metric) =>
    cases.filter((one) => one.metric === metric),
  );
  const pictures = [
    times?.length ? drawPicture(history, times) : null,
    memory?.length ? [muted("peak memory"), drawPicture(history, memory)] : null,
  ];
  return smallMultiple(casePageOf(first?.key ?? ""), name, details && ` · ${details}`, pictures);
}

/** @param {ReleaseHistory} history */
export function releaseCharts(history) {
  const shown = history.cases.filter(({ main, times }) => main && times.length >= FEWEST);
  const rows = Map.groupBy(shown, ({ key }) => {
    const { name = key, details = "" } = getModel().caseOf(key)?.line ?? {};
    return `${name} ${details}`;
  });
  if (!rows.size) return [];
  return [
    columnLegend(shown.flatMap(({ key }) => getModel().caseOf(key) ?? [])),
    multiples([...rows.values()].map((cases) => drawItem(history, cases))),
  ];
}
