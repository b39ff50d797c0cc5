// What a view is: the app mounts it once and updates it for each address.

import { el } from "../page/elements.js";

/** @import { State } from "../address.js" */

/**
 * @typedef {(state: State) => void | Promise<void>} Update shows what an address says
 *
 * @typedef {object} View
 * @property {string} title
 * @property {(section: HTMLElement) => Update} mount builds the view's fields, once
 */

/**
 * The part of a view that the script draws; the rest of it was written at publish.
 * @param {HTMLElement} section
 */
export function appOf(section) {
  const id = `${section.dataset.view}-app`;
  const existing = document.getElementById(id);
  if (existing) return existing;
  const made = el("div", { id });
  section.append(made);
  return made;
}

/** A sentence in a box. @param {string} text */
export const notice = (text) => el("p", { class: "notice" }, text);

/** A sentence in a box about something that went wrong. @param {string} text */
export const troubleNotice = (text) => el("p", { class: "notice trouble", role: "alert" }, text);
