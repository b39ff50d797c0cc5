// Which operators take longer or less with one version than with another, as bars.

import { el, svg } from "../../page/elements.js";
import { columnOf, drawTable } from "../../page/tables.js";

/** Times of operators before and after, as bars. @param {Explained} explained */
export const operatorBars = ({ before, after, machine, day, text, operators }) => [
  el("p", {}, `${before} → ${after} on ${machine}, ${day}: ${text}.`),
  drawTable(
    `Operators, ${before} and ${after}`,
    [
      columnOf("Operator", ({ name }) => name),
      columnOf("Before → after", (row) => row.text, { number: true }),
      columnOf("Time in one call", () => null, {
        draw: (/** @type {Explained["operators"][number]} */ { widths }) =>
          svg(
            "svg",
            { class: "levels", width: "100%", height: 22, "aria-hidden": "true" },
            widths.map((width, side) =>
              svg("rect", {
                class: side ? "after" : "before",
                width: `${width}%`,
                height: 9,
                y: side * 11 + 1,
              }),
            ),
          ),
      }),
    ],
    operators,
    { className: "list operators" },
  ),
];
