// Building the page. Names and messages come from results and commits and are hostile:
// they only ever become text nodes and attribute values, never markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @template {Element} T
 * @param {T} node
 * @param {Attributes} attributes
 * @param {Child[]} children
 * @returns {T}
 */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...nodesOf(children));
  return node;
}

/**
 * The children as a flat list that `append` and `replaceChildren` take.
 * @param {Child[]} children
 * @returns {(Node | string)[]}
 */
function nodesOf(children) {
  return /** @type {Leaf[]} */ (children.flat(4)).flatMap((child) =>
    child === null || child === undefined || child === false
      ? []
      : [typeof child === "number" ? String(child) : child],
  );
}

/** Gives an element other children. @param {Element} node @param {Child[]} children */
export const fillAnew = (node, ...children) => node.replaceChildren(...nodesOf(children));

/**
 * Makes an HTML element: attributes, "on…" listeners, children as nodes or text.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {Child[]} children
 */
export const el = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);

/**
 * Makes an SVG element in the same way.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {Child[]} children
 */
export const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

/** Text in grey. @param {Child[]} children */
export const muted = (...children) => el("span", { class: "muted" }, ...children);

/** A button. @param {Child} text @param {Attributes} attributes */
export const button = (text, attributes) =>
  el("button", { type: "button", class: "button", ...attributes }, text);

/** What unfolds at a click; nothing if it is empty. @param {Child} summary @param {Child[]} children */
export const fold = (summary, ...children) =>
  nodesOf(children).length
    ? el("details", { class: "fold" }, el("summary", {}, summary), ...children)
    : null;

/** What is drawn when it unfolds for the first time. @param {Child} summary @param {() => Child} draw */
export function lazyFold(summary, draw) {
  const node = el("details", { class: "fold" }, el("summary", {}, summary));
  node.addEventListener("toggle", () => node.append(...nodesOf([draw()])), { once: true });
  return node;
}

/** A sentence in a box. @param {string} text */
export const notice = (text) => el("p", { class: "notice" }, text);

/**
 * A part of a view under a heading; nothing if it is empty.
 * @param {string} title
 * @param {Child[]} children
 */
export const part = (title, ...children) =>
  nodesOf(children).length ? el("section", {}, el("h2", {}, title), ...children) : null;

let timer = 0;

/** Reads a sentence out through the page's live region. @param {string} text */
export function announce(text) {
  clearTimeout(timer);
  // A short pause swallows what a held key would repeat.
  timer = setTimeout(() => {
    const region = document.getElementById("announcer");
    if (region) region.textContent = text;
  }, 60);
}
