// Text that leaves the page: CSV for spreadsheets, cells of Markdown tables.

/** @typedef {string | number | null | undefined} Field */

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

/** A whole CSV file. @param {Field[][]} rows */
export const csvText = (rows) =>
  rows.map((row) => row.map(csvField).join(",")).join("\r\n") + "\r\n";

/** Text for a cell of a Markdown table. @param {string} text */
export const escapeMarkdown = (text) =>
  String(text)
    .replace(/[\\`*_[\]<>|~#]/g, "\\$&")
    .replace(/\s+/g, " ");
