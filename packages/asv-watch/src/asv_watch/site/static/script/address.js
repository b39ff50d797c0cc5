// The address after # holds the whole state of what is seen: "#/timeline?s=…&m=…".
// Names are stable; a parameter at its default is left out.

/** Keeps readable what URLs allow in a fragment and our values contain. @param {string} text */
const readable = (text) =>
  encodeURIComponent(text).replace(/%(?:2C|3A|2F|40|3B|28|29|27|20)/gi, (code) =>
    code === "%20" ? "+" : decodeURIComponent(code),
  );

/**
 * Parses "#/view?a=1&a=2"; every parameter becomes a list of strings.
 * @param {string} hash
 * @returns {State}
 */
export function parseAddress(hash) {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  /** @type {Record<string, string[]>} */
  const params = Object.create(null); // a parameter may be called "constructor"
  for (const [key, value] of new URLSearchParams(query)) (params[key] ??= []).push(value);
  return { view: path || "overview", params };
}

/**
 * Writes the address of a view; null and "" are left out.
 * @param {string} view
 * @param {Params} [params]
 */
export function addressOf(view, params = {}) {
  const pairs = [];
  for (const [key, values] of Object.entries(params)) {
    for (const value of Array.isArray(values) ? values : [values]) {
      if (value === null || value === undefined || value === "") continue;
      pairs.push(`${readable(key)}=${readable(String(value))}`);
    }
  }
  return `#/${view === "overview" ? "" : view}${pairs.length ? "?" + pairs.join("&") : ""}`;
}

/**
 * Reads the first value of a parameter, or the default.
 * @param {State} state
 * @param {string} key
 */
export const firstParam = (state, key, otherwise = "") => state.params[key]?.[0] ?? otherwise;

/**
 * Reads a parameter that may be given several times.
 * @param {State} state
 * @param {string} key
 */
export const allParams = (state, key) => state.params[key] ?? [];

/** The state that the address describes now. */
export const currentState = () => parseAddress(location.hash);

/**
 * Goes to an address as a link would. `replace` rewrites the present step of the browser's
 * history: typing should not fill it.
 * @param {string} address
 */
export function visitAddress(address, { replace = false } = {}) {
  if (address === (location.hash || "#/")) return;
  history[replace ? "replaceState" : "pushState"](null, "", address);
  dispatchEvent(new CustomEvent("site:address"));
}

/**
 * Changes some parameters of the present view.
 * @param {Params} patch
 * @param {{ replace?: boolean }} [how]
 */
export function changeParams(patch, how) {
  const now = currentState();
  visitAddress(addressOf(now.view, { ...now.params, ...patch }), how);
}

/** Parameters that stay when a reader goes to another view. */
const KEPT = ["m", "e", "metric"];

/**
 * The address of a view, with the machine, environment and metric of the present one.
 * @param {string} view
 * @param {Params} [params]
 */
export function linkTo(view, params = {}) {
  const now = currentState().params;
  /** @type {Params} */
  const kept = {};
  for (const key of KEPT) if (now[key]) kept[key] = now[key];
  return addressOf(view, { ...kept, ...params });
}
