// Data arrive as small scripts that call torchspeed.register(name, data): `fetch` and
// modules are refused on file://, script elements are not.
window.torchspeed = window.torchspeed || {};
(function (ts) {
  "use strict";

  const arrived = new Map();
  const waiting = new Map();

  /** Called by each data file with its own name, "index", "s/<slug>" or "r/<n>". */
  ts.register = function (name, data) {
    arrived.set(name, data);
    document.dispatchEvent(new CustomEvent("torchspeed:data", { detail: name }));
  };

  /** The data already here under this name, or undefined. */
  ts.peek = (name) => arrived.get(name);

  /** A promise of the data file of this name, loading it at most once. */
  ts.load = function (name) {
    if (arrived.has(name)) return Promise.resolve(arrived.get(name));
    if (!waiting.has(name)) {
      waiting.set(
        name,
        new Promise((resolve, reject) => {
          const script = document.createElement("script");
          const path = name.split("/").map(encodeURIComponent).join("/");
          script.src = `data/${path}.js`;
          script.onload = () => {
            if (arrived.has(name)) resolve(arrived.get(name));
            else reject(new Error(`data/${name}.js holds no data; publish the site again`));
          };
          script.onerror = () => {
            waiting.delete(name);
            script.remove();
            reject(new Error(`data/${name}.js could not be read; reload, or publish the site again`));
          };
          document.head.append(script);
        }),
      );
    }
    return waiting.get(name);
  };

  /** Several data files at once, in the order asked for. */
  ts.loadAll = (names) => Promise.all(names.map(ts.load));
})(window.torchspeed);
