/**
 * The published data files as types: the contract that docs/site-data.md describes.
 * Python writes these files (asv_watch/site/data_files.py); the script only reads them.
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

/** What the rows and columns of tables stand for. */
export interface Layout {
  /** A row is a model with its parameters, or a benchmark. */
  subject: "model" | "benchmark";
  /** Labels whose values are columns and filters, two at most: device and pass, or parameters. */
  columns: string[];
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

/** What a change rests on; docs/site-data.md says what each means. */
export type ChangeState = "measured" | "suspected";

/** A commit with what it was measured with. */
export interface Version {
  commit: string;
  requirements: Record<string, string>;
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
  /** One line; `text` is the place of the whole message in `Index.texts`. */
  reason: string;
  text: number | null;
  at: CommitIndex | null;
  /** Place in `Index.changes` of the newest measured one, or of the newest suspicion. */
  change: number | null;
  /** First commits of the segments, oldest first: nothing is compared across them. */
  segments: CommitIndex[];
  noise: number | null;
  /** Smallest change that an interleaved comparison of the case shows on its machine. */
  detectable: number | null;
  spark: (number | null)[];
  /** Places in `spark` where other conditions begin. */
  cuts: number[];
}

export interface Change {
  id: string;
  s: SeriesIndex;
  /** The commit before: compared, or the last with the old level. */
  p: CommitIndex;
  /** The commit after: compared, or the first with the new level. */
  c: CommitIndex;
  kind: "time" | "memory" | "exact";
  state: ChangeState;
  verdict: "better" | "worse";
  /** After over before; null for a suspicion, and for a count from or to zero. */
  ratio: number | null;
  /** Confidence interval (99 %) of a measured ratio. */
  interval: [number, number] | null;
  /** About the ratio, of a suspicion. */
  about: number | null;
  /** The size, ready to be shown. */
  text: string;
  /** The interval, likewise; empty without one. */
  interval_text: string;
  /** Before and after with their unit; null for a suspicion. */
  values: [string, string] | null;
  /** Whether the ratio is the quotient of two ratios to the reference. */
  through: "" | "reference";
  before: Version;
  after: Version;
  cause: string;
  /** Hashes of the last commit before it and of the one that made it, where a bisection tells. */
  made_by: [string, string] | null;
  /** Which operator accounts for it, as a sentence; empty where that was not examined. */
  explanation: string;
  /** A place in `Index.ranges`. */
  range: number;
  /** A place in `Index.notes`. */
  note: number | null;
}

/** The smallest changes that interleaved comparisons on a machine show. */
export interface Detectable {
  m: number;
  median: number;
  p90: number;
  /** Number of cases. */
  cases: number;
}

/** The commits that a change may come from. */
export interface CommitRange {
  p: CommitIndex;
  c: CommitIndex;
  /** Hash, date, subject, and whether it touches what is measured. */
  commits: [string, number, string, boolean][];
  /** Commits that are not listed. */
  more: number;
  command: string;
  /** Address of the diff, or empty. */
  diff: string;
}

/** What a person wrote about a change. */
export interface ChangeNote {
  kind: "expected" | "explained";
  text: string;
  commit: string;
}

/** What the newest run of a machine and environment noted of where it was measured. */
export interface RunRecord {
  m: number;
  e: number;
  c: CommitIndex;
  at: number;
  machine: Record<string, string>;
  environment: Record<string, string>;
  before: Record<string, string>;
  after: Record<string, string>;
}

/** The newest commit that a machine measured in an environment. */
export interface NewestRun {
  m: number;
  e: number;
  c: CommitIndex;
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
  layout: Layout;
  groups: string[];
  /** Models with a value; the place of each gives its hue. */
  models: string[];
  benchmarks: Benchmark[];
  series: SeriesRow[];
  texts: string[];
  changes: Change[];
  exact_changes: Change[];
  detectable: Detectable[];
  ranges: CommitRange[];
  notes: ChangeNote[];
  /** The machine and environment to start with first. */
  newest_runs: NewestRun[];
  events: Event[];
  records: RunRecord[];
  published: PublishedValue[];
}

/** Decimals d and middle m: a value v is stored as v * 10^d - m. */
export type Scale = [number, number];

/** One series of a benchmark's file. Distances are in 1/10,000 of the value. */
export interface BenchmarkSeries {
  s: SeriesIndex;
  from: CommitIndex;
  scale?: Scale;
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
    scale?: Scale;
    v: (number | null)[];
    lo?: (number | null)[];
    hi?: (number | null)[];
  } | null)[];
}

/** A case in two torch releases, compared interleaved at one commit. */
export interface ReleaseRatio {
  machine: string;
  /** Versions of torch. */
  before: string;
  after: string;
  /** Hash of the commit that ran with both. */
  commit: string;
  /** Time after over time before, and its confidence interval (99 %). */
  ratio: number;
  interval: [number, number];
  verdict: Verdict;
  /** Seconds of a call. */
  before_s: number;
  after_s: number;
}

/** `data/c/<slug>.js`: where a benchmark's values come from. */
export interface BenchmarkSource {
  benchmark: string;
  description: string;
  code: string;
  type: string;
  version: string;
  timeout: number | null;
  /** By case: the command that measures it again. */
  commands: Record<string, string>;
  /** By case: its interleaved comparisons between torch releases, the newest release first. */
  releases: Record<string, ReleaseRatio[]>;
  /** By series: those of other measurements of the same work in the same place. */
  related: Record<string, SeriesIndex[]>;
}

/** `data/n/<slug>.js`: samples of the newest runs, in 1/10,000 of the run's value. */
export interface SampleFile {
  benchmark: string;
  /** Each run: its commit, at most 25 samples in ascending order, how many there were. */
  series: { s: SeriesIndex; runs: [CommitIndex, number[], number][] }[];
}
