// Data files are small scripts that call asvWatch.register(name, data): browsers refuse
// `fetch` and modules on file://, and allow script elements.

/** @type {Map<string, any>} */
const arrived = new Map();
/** @type {Map<string, Promise<any>>} */
const loading = new Map();

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

/** Runs the script of a data file. @param {string} name @returns {Promise<any>} */
const runFile = (name) =>
  new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `data/${name.split("/").map(encodeURIComponent).join("/")}.js`;
    script.onload = () => {
      if (arrived.has(name)) resolve(arrived.get(name));
      else reject(new Error(`data/${name}.js holds no data; publish the site again`));
    };
    script.onerror = () => {
      loading.delete(name);
      script.remove();
      reject(new Error(`data/${name}.js could not be read; reload, or publish the site again`));
    };
    document.head.append(script);
  });

/** Loads a data file at most once. @param {string} name */
function loadData(name) {
  const promise = loading.get(name) ?? runFile(name);
  loading.set(name, promise);
  return promise;
}

/** The name of a file of a benchmark; a long history has several. @param {string} slug @param {number} part */
const partName = (slug, part) => (part ? `${slug}~${part}` : slug);

/** The values of series. @param {string} slug @param {number} part @returns {Promise<BenchmarkFile>} */
export const loadBenchmark = (slug, part) => loadData(`s/${partName(slug, part)}`);

/** The description of a benchmark. @param {string} slug @returns {Promise<BenchmarkSource>} */
export const loadSource = (slug) => loadData(`c/${slug}`);

/** Loads what machines found about releases. @returns {Promise<ReleaseHistory[]>} */
export const loadReleases = () => loadData("releases");

/** Loads the ratios of any two releases. @returns {Promise<ReleasePairs[]>} */
export const loadReleasePairs = () => loadData("release-pairs");
