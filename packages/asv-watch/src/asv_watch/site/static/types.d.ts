/**
 * The index of the data files as types: the contract that docs/answers.md describes.
 * Python writes these files (asv_watch/site/*_data.py); the script only reads them.
 *
 * Missing is `null`. Dates are seconds since 1970 (UTC). A CommitIndex is an index
 * into `Index.commits`, a SeriesIndex one into `Index.series`. All text is raw, not HTML. What is
 * called `text` is written as people read it: the script makes no such text of its own.
 */

type CommitIndex = number;
type SeriesIndex = number;

type Verdict = "better" | "worse" | "same";
type Outcome = "ok" | "stale" | "failed" | "timed out" | "skipped" | "never run";

/** Hash, committer date, first line of the message, tags, number of commits before it. */
type CommitRow = [string, number, string, string[], number];

interface Machine {
  name: string;
  facts: Record<string, string>;
}

interface Environment {
  id: string;
  /** Everything in which environments differ, and a word or two for it. */
  label: string;
  short: string;
  requirements: Record<string, string>;
  variables: Record<string, string>;
}

interface Metric {
  id: string;
  label: string;
  unit: string;
  kind: "time" | "memory" | "exact";
  better: "less" | "more";
  /** Steps in which values are written, the largest first: `[0.001, "ms"]`. */
  scale: [number, string][];
}

/** What the rows and columns of tables stand for. */
interface Layout {
  /** What a row is: the parameter that rows stand for, or `benchmark`. */
  subject: string;
  /** Labels whose values are columns. */
  columns: string[];
}

interface Group {
  name: string;
  /** Whether its rows stand on the first screen. */
  main: boolean;
}

interface Benchmark {
  name: string;
  slug: string;
  /** An index into `Index.metrics`. */
  metric: number;
  /** Names of its parameters. */
  parameters: string[];
}

/** What a row stands for, with its settings. */
interface CaseRow {
  name: string;
  details: string;
  group: string;
  /** One of eight hues. */
  hue: number;
}

/** Values of the labels that are columns. */
interface CaseColumn {
  name: string;
  values: string[];
  /** Classes of its hue and its dash. */
  look: string;
}

/** One benchmark with one value for each of its parameters. */
interface CaseEntry {
  /** As asv writes it. */
  key: string;
  /** Indices into `benchmarks`, `rows` and `columns`. */
  b: number;
  row: number;
  column: number;
  title: string;
  /** What else it is called, and operators behind its changes: for searching. */
  words: string;
  labels: Record<string, string>;
}

/** The newest value of a series. */
interface NewestValue {
  c: CommitIndex;
  v: number;
  text: string;
}

interface SeriesRow {
  /** Indices into `cases`, `machines` and `environments`. */
  c: number;
  m: number;
  e: number;
  last: NewestValue | null;
  status: Outcome;
  behind: number;
  /** One line; `text` is the index of the whole message in `Index.texts`. */
  reason: string;
  text: number | null;
  at: CommitIndex | null;
  /** Index of its newest change in `Index.changes`. */
  change: number | null;
  /** First commits of the segments, oldest first: nothing is compared across them. */
  segments: CommitIndex[];
  /** Number of its values. */
  values: number;
  /** How far its level ever was from the newest, as a logarithm. */
  moved: number;
}

/** The ratio of two versions by all interleaved comparisons that lead from one to the other. */
interface Compared {
  ratio: number;
  interval: [number, number];
  verdict: Verdict;
  text: string;
  interval_text: string;
  /** Values of both sides, whose quotient is the ratio. */
  before_text: string;
  after_text: string;
}

interface Change {
  s: SeriesIndex;
  /** Last commit measured before it, and the first after it. */
  p: CommitIndex;
  c: CommitIndex;
  kind: "time" | "memory" | "exact";
  state: "measured" | "suspected";
  verdict: "better" | "worse";
  /** Of a measured change; null for a count from or to zero. */
  ratio: number | null;
  interval: [number, number] | null;
  /** What a suspected one may be. */
  about: number | null;
  text: string;
  interval_text: string;
  /** `other commits` where the two were not compared with each other, but each with others. */
  through: "other commits" | "";
  /** How many days show it by themselves, as people read it; empty where nothing was measured. */
  days: string;
  /** Whether it is below 5 %, and fewer than two days show it. */
  pale: boolean;
  /** Before and after, of the comparison that measured it. */
  values: [string, string] | null;
  cause: string;
  /** Whether comparisons look into it: no, where separate runs blame the machine. */
  may_be_code: boolean;
  /** An index into `Index.ranges`. */
  range: number;
}

/** The commits that a change may come from. */
interface CommitRange {
  p: CommitIndex;
  c: CommitIndex;
  /** Hash, date, subject, and whether it touches what is measured. */
  commits: [string, number, string, boolean][];
  /** Commits that are not listed. */
  more: number;
  /** Number of commits that may have made the change, and the hash of the only one. */
  suspects: number;
  culprit: string | null;
  command: string;
  /** Address of the diff, or empty. */
  diff: string;
}

/** The newest commit that a machine measured in an environment, and how many it measured. */
interface NewestRun {
  m: number;
  e: number;
  c: CommitIndex;
  commits: number;
  /** Cases that ran at the newest commit, and those of them that failed or timed out. */
  ran: number;
  failed: number;
}

interface HistoryEvent {
  c: CommitIndex;
  m: number;
  e: number | null;
  text: string;
}

/** Cases that do the same in two ways, measured interleaved. */
interface ComparedCases {
  machine: string;
  /** What it was measured with: `torch 2.15.0`. */
  conditions: string;
  /** Their versions are indices of cases. */
  pairs: PairRow[];
}

/** What the newest release changed on each machine, in the cases of the first screen. */
interface OverviewRelease {
  name: string;
  sentence: string;
  machines: { machine: string; before: string; time: Summary; memory: Summary }[];
}

/** What the first screen says; index.html holds it as text, tables and charts. */
interface Overview {
  headline: string;
  /** The largest lasting slowdown and gain, with the address of their comparison. */
  lasting: { href: string }[];
  release: OverviewRelease | null;
}

/** `data/index.js` and `index.json`. */
interface Index {
  format: number;
  generated: number;
  project: { name: string; url: string; commit_url: string; site: string };
  /** Series of one benchmark in one file. */
  share: number;
  overview: Overview;
  commits: CommitRow[];
  machines: Machine[];
  environments: Environment[];
  metrics: Metric[];
  layout: Layout;
  groups: Group[];
  benchmarks: Benchmark[];
  /** Values of each parameter, in the order of the suites. */
  parameters: Record<string, string[]>;
  rows: CaseRow[];
  columns: CaseColumn[];
  cases: CaseEntry[];
  series: SeriesRow[];
  texts: string[];
  /** Of times and memory, newest commit first; and of exact counts. */
  changes: Change[];
  exact_changes: Change[];
  ranges: CommitRange[];
  /** The machine and environment to start with first. */
  newest_runs: NewestRun[];
  events: HistoryEvent[];
  case_pairs: ComparedCases[];
  /** Releases of a requirement that each machine compared interleaved, oldest first. */
  releases: { m: number; package: string; versions: string[] }[];
}
