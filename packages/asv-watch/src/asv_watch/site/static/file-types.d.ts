/** The data files that views load when they need them; `types.d.ts` has the index. */

/**
 * Two versions, the earlier first: both indices, ratio, interval, -1 (better), 0 or 1 (worse), and the
 * geometric mean of both values; then 1 if the ratio is of CPU time.
 */
type PairRow = [number, number, number, number, number, number, number, number?];

/** One series of a benchmark's file. */
interface BenchmarkSeries {
  s: SeriesIndex;
  from: CommitIndex;
  v: (number | null)[];
  /** Commit, outcome, index of the reason in `reasons`. */
  other?: [CommitIndex, Outcome, number][];
  reasons?: string[];
  /**
   * Stretches at one level, oldest first: the first commit, the level relative to the newest, and
   * what a value is multiplied by to be relative to the newest level.
   */
  stretches?: [CommitIndex, number, number][];
  /** Every two commits that comparisons join; of many, those compared and neighbours. */
  pairs?: PairRow[];
}

/** `data/s/<slug>.js`. */
interface BenchmarkFile {
  benchmark: string;
  series: BenchmarkSeries[];
}

/** A comparison of one case, as its page lists it. */
interface CaseComparison extends Compared {
  purpose: string;
  machine: string;
  day: string;
  before: string;
  after: string;
}

/** Operators that differ between two versions in one call of a case. */
interface Explained {
  machine: string;
  day: string;
  before: string;
  after: string;
  text: string;
  /** Times before and after, and widths of their bars in per cent of the longest. */
  operators: { name: string; widths: [number, number]; text: string }[];
}

/** `data/c/<slug>.js`: where a benchmark's values come from. */
interface BenchmarkSource {
  benchmark: string;
  description: string;
  code: string;
  version: string;
  timeout: number | null;
  /** By case: what it measures, as people call it; no case whose row or column has no such name. */
  sentences: Record<string, string>;
  /** By case: the command that measures it again. */
  commands: Record<string, string>;
  /** By case: its interleaved comparisons, the newest first. */
  comparisons: Record<string, CaseComparison[]>;
  /** By case: which operators differ, the newest explanation first. */
  explanations: Record<string, Explained[]>;
  /** By series: how much its values differ between runs of the same code. */
  noise: Record<string, string>;
  /** For series too noisy to say that nothing changed: the change that would not show. */
  unclear: Record<string, string>;
  /** By series: the series of other metrics of the same work, machine and environment. */
  related: Record<string, SeriesIndex[]>;
}

/** A case that releases were compared with. */
interface ReleaseCase {
  /** Empty where the case has no page. */
  key: string;
  title: string;
  /** Whether it has a chart, and counts for means. */
  main: boolean;
  metric: "time" | "memory";
  /** Release, value relative to the newest release, and its interval; the oldest first. */
  times: [number, number, number, number][];
}

/** The ratios of several cases of one metric. */
interface Summary {
  count: number;
  worse: number;
  better: number;
  /** Geometric mean of the ratios; null without any. */
  mean: number | null;
  mean_text: string;
}

/** `data/release-pairs.js` has one for each history of `data/releases.js`: by case. */
type ReleasePairs = Record<string, PairRow[]>;

interface StepRatio extends Compared, Pick<Change, "days" | "pale"> {
  case: number;
  metric: "time" | "memory";
  /** The operator that accounts for a time that differs, where a profile shows it. */
  cause: string;
}

/** One release against the one before it. */
interface ReleaseStep {
  before: string;
  after: string;
  /** Of the cases of the first screen, or of all where it has none. */
  time: Summary;
  memory: Summary;
  ratios: StepRatio[];
  unmeasured: { case: number; outcome: "skipped" | "failed"; reason: string }[];
}

/** `data/releases.js` holds one for each machine that compared releases. */
interface ReleaseHistory {
  machine: string;
  cpu: string;
  /** The requirement whose releases were compared; empty for the versions of the project. */
  package: string;
  /** Oldest first. */
  versions: string[];
  cases: ReleaseCase[];
  /** The newest release first. */
  steps: ReleaseStep[];
  method: string[];
  failed: { version: string; reason: string }[];
}
