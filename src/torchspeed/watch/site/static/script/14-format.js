// Numbers, times and names as a person reads them.
(function (ts) {
  "use strict";

  const MINUS = "\u2212";
  const THIN = "\u202f"; // narrow space that does not break
  const SPACE = "\u00a0";
  const SECONDS = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
  const PREFIXES = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
  const WORDS = [[1e12, "trillion"], [1e9, "billion"]];
  const BYTES = [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]];

  const significant = (value) => {
    const size = Math.abs(value);
    const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    return value.toFixed(size > 0 && size < 0.01 ? Math.min(12, 2 - Math.floor(Math.log10(size))) : digits);
  };
  const grouped = (text) => {
    const [whole, part] = text.split(".");
    const spaced = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, THIN) : whole;
    return part === undefined ? spaced : `${spaced}.${part}`;
  };
  const number = (value) => {
    const text = significant(Math.abs(value));
    return (value < 0 && Number(text) !== 0 ? MINUS : "") + grouped(text);
  };
  const scaled = (value, steps) => {
    const size = Math.abs(value);
    // 0.9995 of a step already rounds up to it: 999.7 µs is 1.00 ms.
    const [step, name] = steps.find(([least]) => size >= least * 0.9995) ?? steps[steps.length - 1];
    return number(value / step) + SPACE + name;
  };

  /** A measured value with its unit: 5.62 ms, 1.05 GiB, 233 180 samples/s. */
  ts.value = function (value, unit) {
    if (value === null || value === undefined || !Number.isFinite(value)) return "–";
    if (unit === "seconds" || unit === "s") return value === 0 ? "0" + SPACE + "s" : scaled(value, SECONDS);
    if (unit === "bytes") return value === 0 ? "0" + SPACE + "B" : scaled(value, BYTES);
    if (unit === "%" || unit === "percent") return number(value) + THIN + "%";
    if (unit === "FLOP" || unit === "FLOP/s") return value === 0 ? "0" + SPACE + unit : scaled(value, PREFIXES) + unit;
    const [step, word] = WORDS.find(([least]) => Math.abs(value) >= least) ?? [1, ""];
    const text = value === 0 ? "0" : number(value / step) + (word && SPACE + word);
    return unit && unit !== "unit" && unit !== "ratio" ? text + SPACE + unit : text;
  };

  /** A value at an axis, without idle zeros: 1 ms, not 1.00 ms. */
  ts.tick = (value, unit) => ts.value(value, unit).replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");

  /** A ratio less one as a signed percentage; from tenfold on as a factor. */
  ts.change = function (ratio) {
    if (!Number.isFinite(ratio)) return "–";
    if (ratio >= 10) return `${number(ratio)}×`;
    const percent = (ratio - 1) * 100;
    const text = Math.abs(percent) >= 100 ? Math.abs(percent).toFixed(0) : Math.abs(percent).toFixed(1);
    if (Number(text) === 0) return "±0.0%";
    return `${percent < 0 ? MINUS : "+"}${text}%`;
  };

  /** A factor: 3.2×, 0.85×. */
  ts.factor = (ratio) => (Number.isFinite(ratio) ? number(ratio) + "×" : "–");

  /** How far something reaches upwards: +1.2%. */
  ts.reach = (share) => (Number.isFinite(share) ? `+${(share * 100).toFixed(share < 0.1 ? 1 : 0)}%` : "–");

  /** A relative spread: ±1.2%. */
  ts.spread = (share) => (Number.isFinite(share) ? `±${(share * 100).toFixed(share < 0.1 ? 1 : 0)}%` : "–");

  /** A whole number with thin separators. */
  ts.count = (value) => grouped(String(value));

  /** "1 commit", "12 commits". */
  ts.plural = (count, noun) => `${ts.count(count)} ${noun}${count === 1 ? "" : "s"}`;

  /** A day, as in 2025-10-30, of seconds since the epoch (UTC, as git log --date=iso). */
  ts.day = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10);

  /** The time of a day, as in 14:05 (UTC). */
  ts.time = (seconds) => new Date(seconds * 1000).toISOString().slice(11, 16);

  /** The short form of a hash. */
  ts.short = (hash) => hash.slice(0, 8);

  /** The geometric mean of positive numbers; NaN of none. */
  ts.geometricMean = function (values) {
    if (!values.length) return NaN;
    let sum = 0;
    for (const value of values) sum += Math.log(value);
    return Math.exp(sum / values.length);
  };

  /** A field of a CSV file; a leading = + - @ would run as a formula in a spreadsheet. */
  ts.csvField = function (value) {
    if (value === null || value === undefined) return "";
    if (typeof value === "number") return String(value);
    const text = /^[=+\-@\t\r]/.test(value) ? "'" + value : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  ts.csv = (rows) => rows.map((row) => row.map(ts.csvField).join(",")).join("\r\n") + "\r\n";

  /** Text for a cell of a Markdown table. */
  ts.markdown = (text) => String(text).replace(/[\\`*_[\]<>|~#]/g, "\\$&").replace(/\s+/g, " ");
})(window.torchspeed);
