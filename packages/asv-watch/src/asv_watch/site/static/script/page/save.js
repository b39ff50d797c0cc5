// What a reader takes away from the page: commands, and the table of a view as CSV or Markdown.
// Charts leave it as any page does: the browser prints them, as PDF too.

import { announce, button, el } from "./elements.js";

/**
 * One field of a CSV file; a leading = + - @ would run as a formula in a spreadsheet.
 * @param {Cell} value
 */
export function csvField(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  const text = /^[=+\-@\t\r]/.test(value) ? "'" + value : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A whole CSV file. @param {Sheet} sheet */
const csvText = ({ head, rows }) =>
  [head, ...rows].map((row) => row.map(csvField).join(",")).join("\r\n") + "\r\n";

/** Text for a cell of a Markdown table. @param {Cell} value */
const cell = (value) =>
  String(value ?? "")
    .replace(/[\\`*_[\]<>|~#]/g, "\\$&")
    .replace(/\s+/g, " ");

/** A Markdown table under a heading. @param {string} title @param {Sheet} sheet */
export function markdownText(title, { head, rows }) {
  const lines = [head, head.map(() => "---"), ...rows.map((row) => row.map(cell))];
  return `### ${cell(title)}\n\n${lines.map((line) => `| ${line.join(" | ")} |`).join("\n")}\n`;
}

/** Offers a file. @param {string} name @param {string} text */
function offerFile(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
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
async function copyText(text, what) {
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
  const copy = button("Copy", {
    onclick: async () => {
      if (!(await copyText(command, "Command"))) return;
      copy.textContent = "Copied";
      setTimeout(() => (copy.textContent = "Copy"), 1500);
    },
  });
  return el("div", { class: "command" }, el("pre", {}, command), copy);
}

/** Makes the menu. @returns {{ node: HTMLElement, offer: (saved: Saved | null) => void }} */
export function saveMenu() {
  /** @type {Saved | null} */
  let saved = null;
  const menu = el("div", { class: "menu-items", id: "save", popover: "" });
  /**
   * @param {string} label
   * @param {(what: Saved) => unknown} work
   */
  const item = (label, work) => {
    const hide = { class: null, popovertarget: "save", popovertargetaction: "hide" };
    return button(label, { ...hide, onclick: () => saved && work(saved) });
  };
  menu.append(
    item("Copy link", () => copyText(location.href, "Link")),
    item("Table (CSV)", ({ name, sheet }) => offerFile(`${name}.csv`, csvText(sheet()))),
    item("Copy as Markdown", ({ title, sheet }) =>
      copyText(markdownText(title, sheet()), "Markdown"),
    ),
  );
  const open = button("Save", { popovertarget: "save" });
  const theme = button("◐", {
    "aria-label": "Dark or light",
    onclick: () => {
      const { style } = document.documentElement;
      const isDark = style.colorScheme
        ? style.colorScheme === "dark"
        : matchMedia("(prefers-color-scheme: dark)").matches;
      style.colorScheme = isDark ? "light" : "dark";
    },
  });
  return {
    node: el("div", { class: "menu" }, theme, open, menu),
    offer(what) {
      saved = what;
      open.hidden = what === null;
    },
  };
}
