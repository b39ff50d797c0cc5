/**
 * The published data files as types: the contract that docs/site-data.md describes.
 * Python writes these files (watch/site/data_files.py); the script only reads them.
 *
 * Missing is `null`. Dates are seconds since 1970 (UTC). A CommitIndex is a place in
 * `Index.commits`, a SeriesIndex a place in `Index.series`. All text is raw, not HTML.
 */

export type CommitIndex = number;
export type SeriesIndex = number;

export type Verdict = "better" | "worse" | "same";
export type Outcome = "ok" | "stale" | "failed" | "timed out" | "skipped" | "never run";

/** Hash, committer date, first line of the message, tags, number of commits before it. */
export type CommitRow = [string, number, string, string[], number];

export interface Machine {
  name: string;
  facts: Record<string, string>;
}

export interface Environment {
  id: string;
  name: string;
  label: string;
  torch: string;
  python: string;
  requirements: Record<string, string>;
  variables: Record<string, string>;
}

export interface Metric {
  id: string;
  label: string;
  unit: string;
  higher_is_better: boolean;
}

export interface Benchmark {
  name: string;
  slug: string;
  /** A place in `Index.metrics`. */
  metric: number;
  group: string;
  param_names: string[];
}

/** The newest value of a series, with its interval where it has one. */
export interface NewestValue {
  c: CommitIndex;
  v: number;
  lo: number | null;
  hi: number | null;
}

/** The last change point of a series. */
export interface LastChange {
  c: CommitIndex;
  before: number;
  after: number;
  ratio: number;
  verdict: "better" | "worse";
}

export interface SeriesRow {
  id: string;
  /** Places in `benchmarks`, `machines` and `environments`. */
  b: number;
  m: number;
  e: number;
  labels: Record<string, string>;
  last: NewestValue | null;
  status: Outcome;
  behind: number;
  reason: string;
  at: CommitIndex | null;
  change: LastChange | null;
  noise: number | null;
  spark: (number | null)[];
}

export interface Change {
  id: string;
  c: CommitIndex;
  p: CommitIndex;
  s: SeriesIndex;
  before: number;
  after: number;
  ratio: number | null;
  verdict: "better" | "worse";
  cause: string;
  z: number | null;
  since: number;
}

export interface Event {
  c: CommitIndex;
  m: number;
  e: number | null;
  kind: string;
  text: string;
}

export interface PublishedValue {
  case: string;
  model: string;
  device: string;
  pass: string;
  batch: string;
  value: number;
  unit: string;
  source: string;
  note: string;
}

/** `data/index.js` and `index.json`: the parts that the script reads. */
export interface Index {
  format: number;
  generated: number;
  project: { name: string; url: string; commit_url: string; site: string };
  /** Commits in one block of revisions. */
  block: number;
  /** Series of one benchmark in one file. */
  share: number;
  baseline: CommitIndex | null;
  rules: { min_effect: number; noise_factor: number; confirmed: number; news: number };
  commits: CommitRow[];
  machines: Machine[];
  environments: Environment[];
  metrics: Metric[];
  groups: string[];
  benchmarks: Benchmark[];
  series: SeriesRow[];
  changes: Change[];
  events: Event[];
  published: PublishedValue[];
}

/** One series of a benchmark's file. Distances are in 1/10,000 of the value. */
export interface BenchmarkSeries {
  s: SeriesIndex;
  from: CommitIndex;
  v: (number | null)[];
  lo?: (number | null)[];
  hi?: (number | null)[];
  q1?: (number | null)[];
  q3?: (number | null)[];
  /** Commit, outcome, place of the reason in `reasons`. */
  other?: [CommitIndex, Outcome, number][];
  reasons?: string[];
  /** First commit, last commit and level of each piece between change points. */
  steps?: [CommitIndex, CommitIndex, number][];
}

/** `data/s/<slug>.js`. */
export interface BenchmarkFile {
  benchmark: string;
  series: BenchmarkSeries[];
}

/** `data/r/<n>.js`: the values of all series at `Index.block` commits. */
export interface RevisionBlock {
  first: CommitIndex;
  series: ({
    v: (number | null)[];
    lo?: (number | null)[];
    hi?: (number | null)[];
  } | null)[];
}
