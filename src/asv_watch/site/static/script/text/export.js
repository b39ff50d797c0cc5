// Text that leaves the page: CSV for spreadsheets, Markdown for issues and comments.

/** @typedef {string | number | null | undefined} Field */
/** @typedef {{ head: string[], rows: Field[][] }} Sheet a table of plain values */

/**
 * One field of a CSV file; a leading = + - @ would run as a formula in a spreadsheet.
 * @param {Field} value
 */
export function csvField(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  const text = /^[=+\-@\t\r]/.test(value) ? "'" + value : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A whole CSV file. @param {Sheet} sheet */
export const csvText = ({ head, rows }) =>
  [head, ...rows].map((row) => row.map(csvField).join(",")).join("\r\n") + "\r\n";

/** Text for a cell of a Markdown table. @param {Field} value */
const cell = (value) =>
  String(value ?? "")
    .replace(/[\\`*_[\]<>|~#]/g, "\\$&")
    .replace(/\s+/g, " ");

/** A Markdown table under a heading. @param {string} title @param {Sheet} sheet */
export function markdownText(title, { head, rows }) {
  const lines = [head, head.map(() => "---"), ...rows.map((row) => row.map(cell))];
  return `### ${cell(title)}\n\n${lines.map((line) => `| ${line.join(" | ")} |`).join("\n")}\n`;
}
