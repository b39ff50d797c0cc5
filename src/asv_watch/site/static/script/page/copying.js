// Text and files that a reader takes away from the page.

import { announce } from "./announce.js";
import { el } from "./elements.js";

/**
 * Offers a file.
 * @param {string} name
 * @param {Blob} blob
 */
export function offerFile(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/**
 * Copies text.
 * @param {string} text
 * @param {string} what how the text is called in the message
 * @returns {Promise<boolean>} whether it was copied; browsers may refuse it
 */
export async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    announce(`${what} could not be copied: select the text and copy it by hand.`);
    return false;
  }
  announce(`${what} copied.`);
  return true;
}

/** A command with a button that copies it. @param {string} command */
export function commandBlock(command) {
  const button = el("button", { type: "button", class: "button" }, "Copy");
  button.addEventListener("click", async () => {
    if (!(await copyText(command, "Command"))) return;
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  return el("div", { class: "command" }, el("pre", {}, command), button);
}
