"""Stored interleaved comparisons: ``results/<machine>/comparisons/<time>-<kind>-<a>-<b>.jsonl``.

A file holds one comparison of two versions, *before* and *after*: of commits, or of releases of a
requirement. Its first line is a `Header`; each further line is one case: a `CaseRatio`, the
`CaseValues` of an exact count, or an `Unmeasured` case with the reason. A line is
written when its case is finished, so an interrupted comparison keeps the finished cases. The name
does not end in ``.json``, because asv takes such files for results.
"""

from __future__ import annotations

import datetime
import glob
import itertools
import math
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from asv_watch.records.json_lines import UNREADABLE, append_lines, read_lines
from asv_watch.records.records import Problem, Time, main_release

FOLDER = "comparisons"

Kind = Literal["compare", "reference", "confirm", "release", "null", "planted", "bisect"]
"""Why two versions were compared.

``compare``: a person asked, or a new commit against the one measured before it; ``reference``: a
commit against the machine's reference; ``confirm``: a change against its predecessor, again;
``release``: two releases of a requirement; ``null``: a version against itself; ``planted``:
against itself, slowed down on purpose; ``bisect``: a midpoint of a bisection.
"""

Positive = Annotated[float, msgspec.Meta(gt=0)]
Hash = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{8,64}$")]


class Version(msgspec.Struct, frozen=True, eq=False):
    """What one side of a comparison ran: a commit with the requirements of its environment.

    Versions are equal where commit, release and Python are.
    """

    commit: Hash
    """Full hash."""
    requirements: dict[str, str]
    """Name to release, in the order of asv.conf.json."""
    python: str

    @property
    def release(self) -> str:
        """Its main requirement, such as ``numpy 2.4.0``; empty where none is pinned."""
        return main_release(self.requirements)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._identity == other._identity

    def __ne__(self, other: object) -> bool:  # the one that is inherited compares objects
        return not self == other

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[str, str, str]:
        return self.commit, self.release, self.python


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What was compared, where and how."""

    kind: Kind
    at: Time
    """When it began, seconds since the epoch."""
    machine: str
    before: Version
    after: Version
    recipe: dict[str, float | str] = {}
    """How ratios were taken, such as rounds, samples and seconds a round."""
    format: Literal[2] = 2

    @property
    def requirement(self) -> str:
        """The requirement whose releases were compared; empty where both sides have the same."""
        old, new = self.before.requirements, self.after.requirements
        return next((name for name in new if name in old and new[name] != old[name]), "")


class CaseRatio(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One case whose time, peak memory or other value was measured on both sides, in rounds."""

    case: str
    """As asv names it: ``suite.Class.time_x('darnn', 'cpu')``."""
    at: Time
    """When it was finished, seconds since the epoch."""
    ratios: Annotated[tuple[Positive, ...], msgspec.Meta(min_length=2)]
    """After over before, a value for each round."""
    ratio: Positive
    """After over before: above 1 is slower."""
    interval: tuple[Positive, Positive]
    """Confidence interval of the ratio (99 %)."""
    before: Positive = msgspec.field(name="before_s")
    """Median of the samples before, in ``unit``: seconds a call."""
    after: Positive = msgspec.field(name="after_s")
    unit: str = "seconds"

    @property
    def kind(self) -> Literal["time", "memory"]:
        """What differs: a time, or something that there is more or less of."""
        return "time" if self.unit == "seconds" else "memory"

    def __post_init__(self) -> None:
        """Refuse an interval that does not hold the ratio."""
        if not self.interval[0] <= self.ratio <= self.interval[1] < math.inf:
            raise ValueError("the interval does not hold the ratio")


class Unmeasured(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One case without a ratio: it was skipped or it failed on a side."""

    case: str
    at: Time
    skipped: str = ""
    """Why it cannot run here; empty where it failed."""
    failed: str = ""
    """What went wrong; empty where it was skipped."""
    failed_before: bool = False
    """Whether it failed on the side before; not known of comparisons before 2026-11-22."""

    def __post_init__(self) -> None:
        """Refuse a case without a reason, or with two."""
        if bool(self.skipped) == bool(self.failed) or (self.failed_before and self.skipped):
            raise ValueError("a case without a ratio is either skipped or failed")


class CaseValues(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One case with a single value on each side: an exact count, or a release's peak memory."""

    case: str
    """As asv names it: ``suite.Class.peakmem_x('darnn', 'cpu')``."""
    at: Time
    """When it was measured, seconds since the epoch."""
    unit: str
    exact: bool = False
    """Whether every process gives the same value, so that any difference counts."""
    before: float | dict[str, str] | None = None
    """In ``unit``. Comparisons before 2026-11-24 may hold why there is none, or nothing."""
    after: float | dict[str, str] | None = None


CaseResult = CaseRatio | Unmeasured | CaseValues


def import_case(requirement: str) -> str:
    """Name the case of the CPU seconds of an import in a process of its own."""
    return f"import {requirement}"


class StoredComparison(msgspec.Struct, frozen=True):
    """A comparison as its file holds it; a case that was measured again counts once."""

    path: Path
    header: Header
    ratios: tuple[CaseRatio, ...]
    unmeasured: tuple[Unmeasured, ...]
    values: tuple[CaseValues, ...] = ()

    @property
    def times(self) -> tuple[CaseRatio, ...]:
        """The ratios of times."""
        return tuple(ratio for ratio in self.ratios if ratio.kind == "time")

    @property
    def failed_import(self) -> Unmeasured | None:
        """Why a release could not be installed or imported, so that nothing was measured."""
        imported = import_case(self.header.after.release.partition(" ")[0])
        return next((case for case in self.unmeasured if case.case == imported), None)


class ComparisonWriter:
    """Writes a comparison case by case.

    The file appears with the first case, and each case is one write of one whole line.
    """

    def __init__(self, results: Path, header: Header) -> None:
        """Choose the file's name."""
        folder = results / header.machine / FOLDER
        begun = datetime.datetime.fromtimestamp(header.at, datetime.UTC)
        versions = f"{header.before.commit[:8]}-{header.after.commit[:8]}"
        name = f"{begun:%Y%m%dT%H%M%S}-{header.kind}-{versions}"
        copies = (folder / f"{name}-{copy}.jsonl" for copy in itertools.count(2))
        names = itertools.chain([folder / f"{name}.jsonl"], copies)
        self._header = [header]
        self.path = next(path for path in names if not path.exists())
        """Where the comparison is stored."""

    def add(self, result: CaseResult) -> None:
        """Append a finished case and wait until it is on the disk."""
        append_lines(self.path, [*self._header, result])
        self._header = []


def read_comparisons(
    results: Path, machine: str = ""
) -> tuple[tuple[StoredComparison, ...], tuple[Problem, ...]]:
    """Read the comparisons of a machine, or of all, oldest first.

    Returns:
        The comparisons, and a problem for each file or line that is damaged and left out.
    """
    comparisons, problems = [], []
    for path in sorted(results.glob(f"{glob.escape(machine) or '*'}/{FOLDER}/*.jsonl")):
        comparison, damaged = read_comparison(path)
        problems += damaged
        if comparison is not None:
            comparisons.append(comparison)
    comparisons.sort(key=lambda comparison: (comparison.header.at, comparison.path))
    return tuple(comparisons), tuple(problems)


def read_comparison(path: Path) -> tuple[StoredComparison | None, list[Problem]]:
    """Read one file.

    Returns:
        The comparison, or ``None`` where the file or its header cannot be read; and a problem
        for each damaged line, which is left out.
    """
    records, problems = read_lines(path, _decode, "case")
    results: dict[str, CaseResult] = {}
    header = None
    for number, record in records:
        if number == 1 and isinstance(record, Header):
            header = record
        elif not isinstance(record, Header):
            results[record.case] = record
    if header is None:
        unreadable = [problem for problem in problems if problem.message.startswith(UNREADABLE)]
        message = "line 1 is not the header of a comparison; the file was left out"
        return None, unreadable or [Problem(str(path), message)]
    comparison = StoredComparison(
        path,
        header,
        tuple(result for result in results.values() if isinstance(result, CaseRatio)),
        tuple(result for result in results.values() if isinstance(result, Unmeasured)),
        tuple(result for result in results.values() if isinstance(result, CaseValues)),
    )
    return comparison, problems


_HEADER = msgspec.json.Decoder(Header)
_RATIO = msgspec.json.Decoder(CaseRatio)
_UNMEASURED = msgspec.json.Decoder(Unmeasured)
_VALUES = msgspec.json.Decoder(CaseValues)


def _decode(line: bytes) -> Header | CaseResult:
    if b'"kind"' in line:
        return _HEADER.decode(line)
    if b'"ratios"' in line:
        return _RATIO.decode(line)
    return _VALUES.decode(line) if b'"unit"' in line else _UNMEASURED.decode(line)
