/**
 * What the modules of the script hand to each other. Types of the data files are made from the
 * structs that Python encodes (tests/js/page_types.py).
 */

type CommitIndex = number;
type SeriesIndex = number;
type Verdict = StepRatio["verdict"];
type Outcome = SeriesRow["status"];
/** `data/release-pairs.js` has one for each history of `data/releases.js`: by case. */
type ReleasePairs = Record<string, PairRow[]>;

/** What an address says. */
interface State {
  view: string;
  params: Record<string, string[]>;
}

type Leaf = Node | string | number | null | undefined | false;
/** What an element may hold. */
type Child = Leaf | readonly (Leaf | readonly (Leaf | readonly Leaf[])[])[];

type Attributes = Record<string, Cell | boolean | ((event: any) => unknown)>;

type Cell = string | number | null | undefined;
/** Parameters of an address, of which some have several values. */
type Params = Record<string, Cell | Cell[]>;
/** A table of plain values. */
interface Sheet {
  head: string[];
  rows: Cell[][];
}
/** A column of a table; the first one names the row. */
interface Column<T> {
  text: string;
  /** What is saved. */
  value: (row: T) => Cell;
  /** What is shown, if that is more than the value. */
  draw?: (row: T) => Child;
  /** Shown before its heading. */
  key?: Child;
  /** Whether it is only saved. */
  hidden?: boolean;
  look?: "number" | "text";
}

/** A value to choose; with its label if that differs. */
type Choice = string | readonly [string, string];
/** What shows a parameter of the address and changes it. */
interface Field {
  node: HTMLElement;
  show: (state: State) => void;
}

/** A view: the page mounts it once and updates it for each address. */
interface View {
  title: string;
  /** What of the machine, environment and metric can be chosen. */
  setup: SetupKey[];
  /** Whether all machines are shown until one is chosen. */
  allMachines?: boolean;
  mount: (app: HTMLElement, heading: HTMLElement) => Update;
}
type SetupKey = "m" | "e" | "metric";
/**
 * Shows what an address says, and returns what can be saved of it; null if the reader asked for
 * something else while data were read.
 */
type Update = (state: State, isAsked: () => boolean) => Saved | null | Promise<Saved | null>;
interface Saved {
  name: string;
  title: string;
  sheet: () => Sheet;
}

interface Commit {
  hash: string;
  date: number;
  subject: string;
  tags: string[];
  index: CommitIndex;
}

interface Case extends CaseEntry {
  /** Its position in the order of the site. */
  index: number;
  benchmark: Benchmark;
  metric: Metric;
  /** The row and the column that it belongs to. */
  line: CaseRow;
  field: CaseColumn;
  /** Whether any machine has a value of it. */
  measured: boolean;
}

interface Series extends Omit<SeriesRow, "change"> {
  index: SeriesIndex;
  change: Change | null;
  case: Case;
  machine: Machine;
  environment: Environment;
  benchmark: Benchmark;
  metric: Metric;
}

/** A row of the table of values. */
interface Row {
  line: CaseRow;
  cells: Map<CaseColumn, Series>;
}
interface Table {
  rows: Row[];
  columns: CaseColumn[];
}

/** What the whole page is about: a machine, an environment and a metric. */
interface Setup {
  m: number;
  e: number;
  metric: Metric;
}

/** A ratio of a run; or one that comparisons measured, which has an interval. */
interface Point {
  stop: number;
  value: number;
  interval?: [number, number];
}
/** A run without a value. */
interface OtherRun {
  stop: CommitIndex;
  outcome: Outcome;
  reason: string;
}
/** The ratio of two versions, commits or releases, by all comparisons that join them. */
interface MeasuredPair {
  ratio: number;
  interval: [number, number];
  verdict: Verdict;
  /** Geometric mean of the values of both. */
  level: number;
  /** `process` if the ratio is of CPU time instead of wall time. */
  clock: "" | "process";
  pale: boolean;
}

/** What each row of a table of changes has; without an interval, nothing compared the versions. */
interface Shown {
  ratio: number | null;
  /** What a suspected change may be. */
  about?: number | null;
  interval: [number, number] | null;
  verdict: Verdict;
  text: string;
  interval_text: string;
  days?: string;
  pale?: boolean;
  cause?: string;
}
/** A ratio from 0 % on, drawn with its interval. */
interface Bar {
  ratio: number;
  interval: [number, number] | null;
  verdict: Verdict;
  /** Of a small difference that fewer than two days show. */
  pale?: boolean;
}

interface AxisScale {
  (value: number): number;
  /** About `count` round values. */
  ticks: (count: number) => number[];
}
/** In pixels. */
interface Frame {
  left: number;
  right: number;
  top: number;
  bottom: number;
}
interface Plot {
  frame: Frame;
  x: (stop: number) => number;
  y: AxisScale;
  /** The pixel of a value within the frame, as text. */
  clip: (value: number) => string;
  inner: number;
}
/** A label at a stop of the x axis, which is the index of a commit or of a release. */
interface Labelled {
  stop: number;
  text: string;
}

/** Ratios over commits or releases. */
interface Line {
  id: string | number;
  /** Class that gives hue and dash. */
  look: string;
  shape: number;
  points: Point[];
  others: OtherRun[];
  /** Where the level changes, and the level from there on; only of what was compared. */
  steps?: { stop: number; value: number }[] | undefined;
  /** Measured changes, which are written above the lines. */
  changes: Change[];
  /** First stop of each segment, oldest first: nothing is drawn across. */
  segments: number[];
}
interface SeriesLine extends Line {
  label: string;
  series: Series;
  /** As they were measured. */
  values: Map<CommitIndex, number>;
  /** Commits that were compared. */
  compared: CommitIndex[];
}

interface Axis {
  /** Commits with anything to show. */
  stops: CommitIndex[];
  position: (stop: CommitIndex) => number;
  domain: [number, number];
  ticks: Labelled[];
  /** The first and the last tick: all that a small chart has room for. */
  ends: Labelled[];
}
/** What a chart over commits shows. */
interface Scene {
  setup: Setup;
  axis: Axis;
  lines: SeriesLine[];
  events: Labelled[];
}

/** What two sides of a comparison can differ in. */
interface Dimension {
  id: string;
  /** Empty for commits, which are typed. */
  choices: string[];
  /** The two sides of a reader who chose none. */
  initial: [string, string];
}
/** The sides that an address compares. */
interface Sides {
  setup: Setup;
  by: Dimension;
  a: string;
  b: string;
}
/** A case on both sides; without an interval, nothing compared them. */
interface Pair extends Shown {
  /** Of the second side, or of the first where the second is not measured. */
  series: Series;
  label: string;
  a: number;
  b: number;
  /** b / a. */
  ratio: number;
  /** The machine that measured it. */
  where: string;
}
