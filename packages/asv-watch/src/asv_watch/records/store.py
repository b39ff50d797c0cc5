"""The record: what the engine measured, one file a machine and month; and explanations of it.

``docs/storing.md`` describes the files. Of a sitting, the first line is ``{"sitting": …}``, each
further line is a `asv_watch.comparison.Comparison`, and the last line is ``{"end": …}``. When an
interrupted sitting is continued, its first line is written again.

If the first line says in what environment the last version was measured, its values are those of
its commit there, too: so a run is a sitting of one version, and a night's comparison is also a run
of the newer commit.

git merges two branches of a file by keeping the lines of both (``.gitattributes``). The name does
not end in ``.json``, because asv takes such files for results.

``explanations.jsonl`` beside it says, a line each, why one case takes longer, or less, with one
version than with another, operator by operator (``asv-watch explain``).
"""

import contextlib
import datetime
import glob
import hashlib
from collections.abc import Hashable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import msgspec

from asv_watch.comparison import UNSTORED, Comparison, Sitting, Time
from asv_watch.errors import WatchError
from asv_watch.files import append_durably
from asv_watch.records.asv_files import read_benchmarks
from asv_watch.records.records import Benchmark, Problem, benchmark_of
from asv_watch.text.quantities import more_is_better
from asv_watch.versions.version import Version

T = TypeVar("T")


def read_stored(path: Path, kind: type[T], name: str) -> tuple[tuple[T, ...], tuple[Problem, ...]]:
    """Read a file whose lines are all of one kind, oldest first; a missing file has none.

    ``name`` is what people call a line: ``explanation``.

    Returns:
        The records, and a problem for a file that cannot be read and for each damaged line.
    """
    if not path.exists():
        return (), ()
    decoder = msgspec.json.Decoder(kind)
    records: list[T] = []
    problems: list[Problem] = []
    for number, line in lines_of(path, problems):
        try:
            records.append(decoder.decode(line))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            message = f"line {number} is not a valid {name}; it was left out"
            problems.append(Problem(str(path), message))
    return tuple(records), tuple(problems)


def lines_of(path: Path, problems: list[Problem]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not empty, with their numbers; add a problem if there are none."""
    if not path.is_file():  # reading a fifo would never end
        problems.append(Problem(str(path), "it is not a regular file; it was left out"))
        return
    try:
        with path.open("rb") as stream:
            yield from ((n, line) for n, line in enumerate(stream, start=1) if line.strip())
    except OSError as error:
        problems.append(Problem(str(path), f"it cannot be read: {error.strerror}"))


def append_lines(path: Path, entries: Iterable[Any]) -> None:
    """Add a line for each entry (a msgspec struct or plain data), and wait until they are stored.

    Raises:
        OSError: The disk is full, or the file cannot be written.
    """
    append_durably(path, msgspec.json.Encoder().encode_lines(list(entries)))


Benchmarks = Mapping[str, Benchmark]
_NAME = "[0-9][0-9][0-9][0-9]-[0-9][0-9].jsonl"


class _End(msgspec.Struct, frozen=True, omit_defaults=True):
    """Last line of a sitting."""

    cases: int
    sha256: str
    """Of its other lines, the first one included: 16 digits."""
    after: Any = None
    """State of the machine when it ended, if it was described at the beginning."""


_BEGIN = msgspec.json.Decoder(dict[Literal["sitting"], Sitting])
_ENDED = msgspec.json.Decoder(dict[Literal["end"], _End])
_CASE = msgspec.json.Decoder(Comparison)


def check_machine(results: Path, machine: str) -> None:
    """Refuse a machine without results where others have some; an empty name is no machine."""
    known = sorted(path.name for path in results.glob("[!.]*") if path.is_dir())
    if machine and known and machine not in known:
        raise WatchError(
            f"machine {machine[:100]!r} has no results in {results}; give --machine "
            f"{' or '.join(known)}"
        )


def file_of(results: Path, sitting: Sitting) -> Path:
    """Return the file of the record that has a sitting."""
    begun = datetime.datetime.fromtimestamp(sitting.at, datetime.UTC)
    return results / sitting.machine / f"{begun:%Y-%m}.jsonl"


class SittingWriter:
    """Appends a sitting to the record, case by case."""

    def __init__(self, results: Path, sitting: Sitting) -> None:
        self.sitting = sitting
        self.path = file_of(results, sitting)
        self._digest = hashlib.sha256()
        self._cases = 0

    def add(self, comparison: Comparison) -> None:
        """Append a finished case and wait until it is on the disk."""
        first = [] if self._cases else [{"sitting": self.sitting}]
        case = msgspec.structs.replace(comparison, sitting=UNSTORED)
        content = msgspec.json.Encoder().encode_lines([*first, case])
        append_durably(self.path, content)
        self._digest.update(content)
        self._cases += 1

    def end(self, after: Any = None) -> None:
        """Append the last line, if any case was added, with the state of the machine."""
        if self._cases:
            end = _End(self._cases, self._digest.hexdigest()[:16], after)
            append_lines(self.path, [{"end": end}])


def read_record(
    results: Path, machine: str = "", benchmarks: Benchmarks | None = None
) -> tuple[list[Comparison], list[Problem]]:
    """Read what a machine measured, or all machines, the oldest sitting first.

    Of several lines of a case in one sitting the newest counts. ``benchmarks`` are today's suites,
    which say whether more of a value is better; by default those of ``benchmarks.json``.

    Returns:
        The comparisons, and a problem for each file or line that is damaged and left out.
    """
    if benchmarks is None:
        benchmarks = {}
        with contextlib.suppress(WatchError):  # the list is missing or damaged
            benchmarks, _ = read_benchmarks(results)
    newest: dict[tuple[Hashable, str], Comparison] = {}
    problems: list[Problem] = []
    for path in sorted(results.glob(f"{glob.escape(machine) or '*'}/{_NAME}")):
        for comparison in _read_file(path, problems):
            key = comparison.sitting.key, comparison.case
            if key not in newest or newest[key].at <= comparison.at:
                newest[key] = with_direction(comparison, benchmarks)
    return sorted(newest.values(), key=lambda each: (each.sitting.at, each.at)), problems


class RunKey(NamedTuple):
    """What a run measured, and where."""

    machine: str
    environment: str
    """asv's name of it, as in the names of result files."""
    commit: str


def run_of(sitting: Sitting) -> RunKey | None:
    """Return the run that a sitting belongs to; ``None`` if it describes no environment."""
    if sitting.conditions is None:
        return None
    return RunKey(sitting.machine, sitting.conditions.environment, sitting.versions[-1].commit)


def newest_of_runs(comparisons: Iterable[Comparison]) -> dict[RunKey, dict[str, Comparison]]:
    """Return the newest measurement of each case of each run, by their names, of it alone.

    A failure in a comparison of several versions is none of a run. Where all that a run gave is in
    asv's file, as before 2026-11-27, a line without number or reason holds its conditions.
    """
    runs: dict[RunKey, dict[str, Comparison]] = {}
    for comparison in sorted(comparisons, key=lambda each: each.at):
        key, last = run_of(comparison.sitting), len(comparison.sitting.versions) - 1
        if key is not None and (not last or comparison.numbers(last)):
            runs.setdefault(key, {})[comparison.case] = comparison.alone(last)
    return runs


def _read_file(path: Path, problems: list[Problem]) -> Iterator[Comparison]:
    """Yield the comparisons of a file, and add a problem for each damaged line."""
    sitting: Sitting | None = None
    digest, cases, first = hashlib.sha256(), 0, 0
    for number, line in lines_of(path, problems):
        try:
            if line.startswith(b'{"sitting"'):
                sitting = None  # cases after a damaged line have none
                digest, cases, first = hashlib.sha256(line), 0, number
                sitting = _BEGIN.decode(line)["sitting"]
            elif line.startswith(b'{"end"'):
                end = _ENDED.decode(line)["end"]
                if (end.cases, end.sha256) != (cases, digest.hexdigest()[:16]):
                    message = f"of lines {first} to {number} some were changed or removed"
                    problems.append(Problem(str(path), message))
                if sitting is not None and sitting.conditions is not None:
                    sitting.conditions.after = end.after  # its comparisons share them
                sitting, first = None, number + 1
            else:
                digest.update(line)
                cases += 1
                yield _placed(_CASE.decode(line), sitting)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            message = f"line {number} is not a valid case ({error}); it was left out"
            problems.append(Problem(str(path), message))


def _placed(comparison: Comparison, sitting: Sitting | None) -> Comparison:
    """Return a comparison in its sitting.

    Raises:
        ValueError: it belongs to none, or has not one number or case for each version.
    """
    if sitting is None:
        raise ValueError("no sitting begins before it")
    count = len(sitting.versions)
    if any(len(r) != count for r in (*comparison.rounds, *comparison.wall, *comparison.cpu)):
        raise ValueError(f"a round does not have {count} numbers")
    if comparison.cases and len(comparison.cases) != count:
        raise ValueError(f"it does not name {count} cases")
    return msgspec.structs.replace(comparison, sitting=sitting)


def with_direction(comparison: Comparison, benchmarks: Benchmarks) -> Comparison:
    """Return a comparison with the direction of today's suites, as the series of its case has it.

    If the suites lack the benchmark, the direction is the stored one, or that of the unit.
    """
    benchmark = benchmarks.get(benchmark_of(comparison.case))
    better = comparison.higher_is_better or more_is_better(comparison.unit)
    if benchmark is not None:
        better = benchmark.higher_is_better
    if better == comparison.higher_is_better:
        return comparison
    return msgspec.structs.replace(comparison, higher_is_better=better)


EXPLANATIONS = "explanations.jsonl"

Seconds = Annotated[float, msgspec.Meta(ge=0)]
Count = Annotated[float, msgspec.Meta(ge=0)]


class OperatorDifference(msgspec.Struct, frozen=True):
    """One operator with one set of input shapes, before and after, in one call of the case."""

    name: str
    """Name, such as ``aten::convolution``."""
    shapes: str
    """Shapes of its inputs, such as ``[[8, 3, 32, 32], [6, 3, 5, 5]]``."""
    calls: tuple[Count, Count]
    seconds: tuple[Seconds, Seconds]
    """Smallest self time, which excludes the operators that it calls."""
    clear: bool
    """Whether all times of one side are above all times of the other."""

    @property
    def difference(self) -> float:
        """Seconds after minus seconds before."""
        return self.seconds[1] - self.seconds[0]


class KernelChange(msgspec.Struct, frozen=True):
    """A problem for which a library, such as oneDNN, chose different kernels."""

    primitive: str
    """Name, such as ``convolution``."""
    problem: str
    """Its sizes, as the library writes them."""
    before: tuple[str, ...]
    """Implementations, such as ``ref:any``; empty if the problem did not occur."""
    after: tuple[str, ...]


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between two versions in one call of a case."""

    seconds: tuple[Seconds, Seconds]
    """Sum of all operators' self times, before and after."""
    operators: tuple[OperatorDifference, ...]
    """Operators, those that differ clearly first, the largest difference first."""
    kernels: tuple[KernelChange, ...] = ()
    counts: dict[str, tuple[Count, Count]] = {}
    """What the profiler counted, before and after, such as ``allocations``."""


class StoredExplanation(msgspec.Struct, frozen=True, kw_only=True):
    """An explanation with its case and versions."""

    case: str
    """asv's name of the case: ``suite.Class.time_x('darnn', 'cpu')``."""
    at: Time
    """When it was made, seconds since the epoch."""
    before: Version
    after: Version
    explanation: Explanation
    format: Literal[2] = 2
