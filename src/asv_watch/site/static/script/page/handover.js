// What a reader takes away from the page: files, copied text, links.

import { announce } from "./announce.js";
import { el } from "./elements.js";

/**
 * Offers text as a CSV file.
 * @param {string} name
 * @param {string} text
 */
export function offerDownload(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/**
 * Copies text, also where the asynchronous clipboard is refused (file://, http://).
 * @param {string} text
 * @param {string} what how the text is called in the message
 * @returns {Promise<boolean>} whether it was copied
 */
export async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const focused = document.activeElement;
    const area = el("textarea", {
      class: "visually-hidden",
      "aria-hidden": "true",
      value: text,
    });
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
    if (!done) {
      announce(`${what} could not be copied: select the text and copy it by hand.`);
      return false;
    }
  }
  announce(`${what} copied.`);
  return true;
}

/**
 * A button that confirms for a moment that its work was done.
 * @param {string} label
 * @param {string} done
 * @param {() => Promise<boolean>} work
 */
export function doneButton(label, done, work) {
  const button = el("button", { type: "button", class: "button" }, label);
  button.addEventListener("click", async () => {
    if (!(await work())) return;
    button.textContent = done;
    setTimeout(() => (button.textContent = label), 1500);
  });
  return button;
}

/**
 * A button that copies a link to this view with all defaults written out.
 * @param {() => string} address
 */
export const permalinkButton = (address) =>
  doneButton("Copy link", "Link copied", () =>
    copyText(location.href.split("#")[0] + address(), "Link"),
  );

/**
 * A button that offers a CSV file.
 * @param {() => string} name
 * @param {() => string} text
 */
export const csvButton = (name, text) =>
  el(
    "button",
    { type: "button", class: "button", onclick: () => offerDownload(name(), text()) },
    "Download CSV",
  );
