// What a view is: the page mounts it once and updates it for each address.

import { el, nodesOf } from "../page/elements.js";

/** @import { State } from "../address.js" */
/** @import { PlaceKey } from "../page/place.js" */
/** @import { Saved } from "../page/save.js" */

/**
 * Shows what an address says, and returns what can be saved of it.
 * @typedef {(state: State) => Saved | null | Promise<Saved | null>} Update
 *
 * @typedef {object} View
 * @property {string} title
 * @property {PlaceKey[]} place what of the machine, environment and metric can be chosen
 * @property {boolean} [allMachines] whether all machines are shown until one is chosen
 * @property {() => { m: number, e: number } | undefined} [start] where a reader starts
 * @property {(app: HTMLElement, heading: HTMLElement) => Update} mount builds the view, once
 */

/** A sentence in a box. @param {string} text */
export const notice = (text) => el("p", { class: "notice" }, text);

/**
 * A part of a view under a heading; nothing if it is empty.
 * @param {string} title
 * @param {import("../page/elements.js").Child[]} children
 */
export const part = (title, ...children) =>
  nodesOf(children).length ? el("section", {}, el("h2", {}, title), ...children) : null;
