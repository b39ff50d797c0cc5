// The charts of a view as one picture file.

import { svg } from "./elements.js";

/** What a picture takes from the page's style, as a file has no style sheet. */
const PROPERTIES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "stroke-linejoin",
  "stroke-linecap",
  "font-size",
  "font-weight",
  "opacity",
];

/** Charts that can be seen now. */
export const visibleCharts = () =>
  /** @type {SVGSVGElement[]} */ ([
    ...document.querySelectorAll(
      "main > section:not([hidden]) :is(svg.chart, svg.levels, svg.bar-cell):not(.swatch)",
    ),
  ]).filter((chart) => chart.checkVisibility());

/** A copy of a chart that carries its own style. @param {SVGSVGElement} chart */
function styled(chart) {
  const copy = /** @type {SVGSVGElement} */ (chart.cloneNode(true));
  const [from, to] = [chart, copy].map((root) => [root, ...root.querySelectorAll("*")]);
  from?.forEach((node, i) => {
    const style = getComputedStyle(node);
    const target = to?.[i];
    for (const name of PROPERTIES) target?.setAttribute(name, style.getPropertyValue(name));
    target?.removeAttribute("class");
  });
  return copy;
}

/** The visible charts, where they stand on the page, with their captions. */
export function drawPicture() {
  const charts = visibleCharts();
  const boxes = charts.map((chart) => chart.getBoundingClientRect());
  const texts = charts.flatMap((chart) => {
    const row = chart.closest("tr, figure, li");
    // Before a change stands a word for people who listen.
    return [...(row?.querySelectorAll("th, .number, .change, figcaption, .title") ?? [])].map(
      (node) => {
        const isChange = node.matches(".change");
        const text = (isChange ? node.lastChild : node)?.textContent ?? "";
        return { text, box: node.getBoundingClientRect() };
      },
    );
  });
  const all = [...boxes, ...texts.map(({ box }) => box)];
  const left = Math.min(...all.map((box) => box.left)) - 12;
  const top = Math.min(...all.map((box) => box.top)) - 12;
  const width = Math.ceil(Math.max(...all.map((box) => box.right)) - left + 12);
  const height = Math.ceil(Math.max(...all.map((box) => box.bottom)) - top + 12);
  const style = getComputedStyle(document.body);
  const root = svg(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      "font-family": "system-ui, sans-serif",
    },
    svg("rect", { width, height, fill: style.backgroundColor }),
    texts.map(({ text, box }) =>
      svg(
        "text",
        { x: box.left - left, y: box.bottom - top - 5, fill: style.color, "font-size": 14 },
        text.replace(/\s+/g, " "),
      ),
    ),
  );
  charts.forEach((chart, i) => {
    const box = boxes[i];
    if (!box) return;
    const copy = styled(chart);
    const frame = { x: box.left - left, y: box.top - top, width: box.width, height: box.height };
    for (const [name, value] of Object.entries(frame)) copy.setAttribute(name, String(value));
    root.append(copy);
  });
  return { text: new XMLSerializer().serializeToString(root), width, height };
}

/** The picture as pixels, twice as fine as on the page. */
export async function paintPicture() {
  const { text, width, height } = drawPicture();
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = url;
  await image.decode();
  URL.revokeObjectURL(url);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width * 2, height * 2];
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve));
}
