// Data files are small scripts that call asvWatch.register(name, data): browsers refuse
// `fetch` and modules on file://, and allow script elements.

/** By name, "index" or "s/<slug>". @type {Map<string, PromiseWithResolvers<any>>} */
const files = new Map([["index", Promise.withResolvers()]]);

/** Each data file calls this with its own name. @param {string} name @param {unknown} data */
const register = (name, data) => files.get(name)?.resolve(data);

/** @type {any} */ (window).asvWatch = { register };

/** Loads a data file at most once. @param {string} name */
function loadData(name) {
  const known = files.get(name);
  if (known) return known.promise;
  const file = Promise.withResolvers();
  files.set(name, file);
  const script = document.createElement("script");
  script.src = `data/${name.split("/").map(encodeURIComponent).join("/")}.js`;
  script.onload = () =>
    file.reject(new Error(`data/${name}.js holds no data; publish the site again`));
  script.onerror = () => {
    files.delete(name);
    script.remove();
    file.reject(new Error(`data/${name}.js could not be read; reload, or publish the site again`));
  };
  document.head.append(script);
  return file.promise;
}

/** The index, whose script stands in the page. @returns {Promise<Index>} */
export const loadIndex = () => loadData("index");

/** The values of series; a long history has several files. @param {string} slug @param {number} part @returns {Promise<BenchmarkFile>} */
export const loadBenchmark = (slug, part) => loadData(`s/${slug}${part ? `~${part}` : ""}`);

/** The description of a benchmark. @param {string} slug @returns {Promise<BenchmarkSource>} */
export const loadSource = (slug) => loadData(`c/${slug}`);

/** Loads what machines found about releases. @returns {Promise<ReleaseHistory[]>} */
export const loadReleases = () => loadData("releases");

/** Loads the ratios of any two releases. @returns {Promise<ReleasePairs[]>} */
export const loadReleasePairs = () => loadData("release-pairs");
