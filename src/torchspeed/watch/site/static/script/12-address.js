// The address after # holds the whole state of what is seen: "#/timeline?s=…&x=commit".
// Names are stable; whatever stands at its default is left out.
(function (ts) {
  "use strict";

  // Left readable in an address: all that URLs allow in a fragment and our values contain.
  const readable = (text) =>
    encodeURIComponent(text).replace(/%(?:2C|3A|2F|40|3B|28|29|27|20)/gi, (code) =>
      code === "%20" ? "+" : decodeURIComponent(code),
    );
  const plain = (text) => {
    const spaced = text.replace(/\+/g, " ");
    try {
      return decodeURIComponent(spaced);
    } catch {
      return spaced; // a lone % typed by hand
    }
  };

  /** {view, params} of "#/view?a=1&a=2"; every value is a list of strings. */
  ts.parseAddress = function (hash) {
    const [path, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
    const params = Object.create(null); // a parameter may be called "constructor"
    for (const pair of query.split("&")) {
      if (!pair) continue;
      const cut = pair.indexOf("=");
      const key = plain(cut < 0 ? pair : pair.slice(0, cut));
      (params[key] ??= []).push(cut < 0 ? "" : plain(pair.slice(cut + 1)));
    }
    return { view: plain(path) || "overview", params };
  };

  /** The address of a view: values are strings, or lists of them; null and "" are left out. */
  ts.address = function (view, params = {}) {
    const pairs = [];
    for (const [key, value] of Object.entries(params)) {
      for (const one of Array.isArray(value) ? value : [value]) {
        if (one === null || one === undefined || one === "") continue;
        pairs.push(`${readable(key)}=${readable(String(one))}`);
      }
    }
    return `#/${view === "overview" ? "" : view}${pairs.length ? "?" + pairs.join("&") : ""}`;
  };

  /** Reads one parameter: its first value, or the default. */
  ts.one = (state, key, otherwise = "") => state.params[key]?.[0] ?? otherwise;
  /** Reads a parameter that may be given several times. */
  ts.many = (state, key) => state.params[key] ?? [];

  /** The state that the address says now. */
  ts.here = () => ts.parseAddress(location.hash);

  /**
   * Changes some parameters of the present view.
   * `replace` rewrites the present step of the browser's history: for typing and panning,
   * of which nobody wants every step back.
   */
  ts.go = function (patch, { replace = false } = {}) {
    const now = ts.here();
    ts.visit(ts.address(now.view, { ...now.params, ...patch }), { replace });
  };

  /** Goes to an address as a link would. */
  ts.visit = function (address, { replace = false } = {}) {
    if (address === (location.hash || "#/")) return;
    history[replace ? "replaceState" : "pushState"](null, "", address);
    ts.show();
  };
})(window.torchspeed);
