// Data files are small scripts that call asvWatch.register(name, data): browsers refuse
// `fetch` and modules on file://, and allow script elements.

/** @import { Index } from "../../types.js" */
/** @import { AboutData, BenchmarkFile, BenchmarkSource } from "../../file-types.js" */
/** @import { ReleaseHistory, SampleFile } from "../../file-types.js" */

/** @type {Map<string, any>} */
const arrived = new Map();
/** @type {Map<string, Promise<any>>} */
const pending = new Map();

/**
 * Stores the data of one file; each data file calls this with its own name.
 * @param {string} name "index" or "s/<slug>"
 * @param {unknown} data
 */
function register(name, data) {
  arrived.set(name, data);
  document.dispatchEvent(new CustomEvent("site:data", { detail: name }));
}

/** @type {any} */ (window).asvWatch = { register };

/**
 * Returns the index once its file has run, else undefined.
 * @returns {Index | undefined}
 */
export const arrivedIndex = () => arrived.get("index");

/**
 * Loads a data file at most once.
 * @param {string} name
 * @returns {Promise<any>}
 */
function loadData(name) {
  if (arrived.has(name)) return Promise.resolve(arrived.get(name));
  let promise = pending.get(name);
  if (!promise) {
    promise = new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `data/${name.split("/").map(encodeURIComponent).join("/")}.js`;
      script.onload = () => {
        if (arrived.has(name)) resolve(arrived.get(name));
        else reject(new Error(`data/${name}.js holds no data; publish the site again`));
      };
      script.onerror = () => {
        pending.delete(name);
        script.remove();
        reject(new Error(`data/${name}.js could not be read; reload, or publish the site again`));
      };
      document.head.append(script);
    });
    pending.set(name, promise);
  }
  return promise;
}

/**
 * Loads one file of a benchmark's series.
 * @param {string} slug
 * @param {number} part 0 for the first file of the benchmark
 * @returns {Promise<BenchmarkFile>}
 */
export const loadBenchmark = (slug, part) => loadData(`s/${slug}${part ? `~${part}` : ""}`);

/**
 * Loads the description of a benchmark.
 * @param {string} slug
 * @returns {Promise<BenchmarkSource>}
 */
export const loadSource = (slug) => loadData(`c/${slug}`);

/**
 * Loads samples of one file of a benchmark's series.
 * @param {string} slug
 * @param {number} part 0 for the first file of the benchmark
 * @returns {Promise<SampleFile>}
 */
export const loadSamples = (slug, part) => loadData(`n/${slug}${part ? `~${part}` : ""}`);

/** Loads what machines found about releases. @returns {Promise<ReleaseHistory[]>} */
export const loadReleases = () => loadData("releases");

/** Loads machines, noise and what was left out. @returns {Promise<AboutData>} */
export const loadAbout = () => loadData("about");
