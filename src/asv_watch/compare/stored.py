"""Compares two stored results: of commits, environments or machines. Nothing is built or measured.

Where the two versions were compared in interleaved rounds on the machine, that ratio is shown. Any
other is the ratio of two values that were measured one after the other, perhaps days apart. Its
interval divides the ends of their intervals, and a difference is called a suspicion, because the
machine may have changed in between.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path

from asv_watch import quantities
from asv_watch.asv.selection import EVERYTHING, matching
from asv_watch.asv.settings import find_repository, load_settings
from asv_watch.compare.report import OTHER_WORDS, RULE, WORDS
from asv_watch.errors import WatchError
from asv_watch.files import read_regular
from asv_watch.markdown import table
from asv_watch.quantities import quantity
from asv_watch.records.comparisons import CaseRatio
from asv_watch.records.git import find_commit, read_commits
from asv_watch.records.history import History
from asv_watch.records.loading import load_history
from asv_watch.records.records import Commit, Point
from asv_watch.records.series import Series
from asv_watch.statistics.rule import Verdict, verdict

_SIDE = re.compile(r"(?:(?P<machine>[^:@]+):)?(?P<commit>[^:@]+)(?:@(?P<environment>.+))?")


@dataclass(frozen=True, slots=True)
class StoredResult:
    """A result file: what one machine measured of one commit in one environment."""

    machine: str
    environment: str
    """As the name of the file has it, after the commit."""
    commit: str
    """Full hash."""

    def __str__(self) -> str:
        return f"{self.machine}:{self.commit[:8]}@{self.environment}"


@dataclass(frozen=True, slots=True)
class _Values:
    """The ratio of two stored values, with its interval if both values have one."""

    ratio: float
    interval: tuple[float, float]


def compare_stored(root: Path, *, before: str, after: str, cases: str) -> str:
    """Compare two stored results; return the report.

    Args:
        root: folder of asv.conf.json.
        before: a result file, or ``MACHINE:COMMIT@ENVIRONMENT``. Machine and environment may be
            left out where no other result would be meant, and a part of the environment suffices.
        after: the same.
        cases: regular expression of cases; all that both have if empty.

    Raises:
        WatchError: a side is not stored or not clear, or the two have no case in common.
    """
    selection = matching(cases, otherwise=EVERYTHING)
    conf = load_settings(root)
    results = root / conf.results_dir
    repository, branch = find_repository(root, conf)
    first, second = find_results(results, repository, before, after)
    commits = read_commits(repository, branch)
    known = {commit.hash for commit in commits}
    others = dict.fromkeys(side.commit for side in (first, second) if side.commit not in known)
    history = load_history(results, (*commits, *(Commit(commit, 0, "") for commit in others)))
    ratios = _interleaved(history, first, second)
    series = {(row.machine, row.environment, row.case.name): row for row in history.series}
    rows = []
    for (machine, environment, name), old in series.items():
        if (machine, environment) != (first.machine, first.environment):
            continue
        new = series.get((second.machine, second.environment, name))
        if new is not None and re.search(selection.pattern, name):
            rows += _row(history, (old, first.commit), (new, second.commit), ratios.get(name))
    if not rows:
        raise WatchError(
            f"{first} and {second} have no case in common; `asv-watch results export` lists all"
        )
    head = ("case", "before", "after", "change", "interval", "measured", "verdict")
    return "\n\n".join(
        (
            f"**{second}** against **{first}**",
            table(head, rows),
            f"{RULE} Values of separate runs raise only a suspicion; "
            "`asv-watch compare` measures the two versions.",
        )
    )


def find_results(
    results: Path, repository: Path, before: str, after: str
) -> tuple[StoredResult, StoredResult]:
    """Find the two results that are meant.

    Raises:
        WatchError: one is not stored, or several may be meant.
    """
    found = [_find(results, repository, text) for text in (before, after)]
    for text, sides in zip((before, after), found, strict=True):
        if not sides:
            raise WatchError(
                f"no result of {text!r} is stored in {results}; name one as MACHINE:COMMIT@"
                "ENVIRONMENT, or its file"
            )
    pairs = [(old, new) for old in found[0] for new in found[1]]
    alike = [
        pair
        for pair in pairs
        if (pair[0].machine, pair[0].environment) == (pair[1].machine, pair[1].environment)
    ]
    for choice in (pairs, alike):
        if len(choice) == 1:
            return choice[0]
    listed = ", ".join(sorted({str(side) for sides in found for side in sides})[:6])
    raise WatchError(f"{before!r} and {after!r} may mean several results: {listed}; name one each")


def _find(results: Path, repository: Path, text: str) -> list[StoredResult]:
    path = Path(text)
    if path.suffix == ".json" and path.is_file():
        return [_read(path)]
    match = _SIDE.fullmatch(text)
    if match is None:
        return []
    hash_ = find_commit(repository, match["commit"]) or match["commit"]
    return [
        side
        for path in sorted(results.glob("*/*-*.json"))
        if path.name.startswith(hash_[:8])
        and match["machine"] in (None, path.parent.name)
        and (match["environment"] or "") in f"{path.stem} {_environment_name(path)}"
        and (side := _read(path)).commit.startswith(hash_)
    ]


def _environment_name(path: Path) -> str:
    return str(_content(path).get("env_name", ""))


def _read(path: Path) -> StoredResult:
    commit = str(_content(path).get("commit_hash", ""))
    return StoredResult(path.parent.name, path.stem.partition("-")[2], commit)


def _content(path: Path) -> dict[str, object]:
    try:
        content = json.loads(read_regular(path))
    except ValueError as error:
        raise WatchError(f"{path} is damaged ({error}); `asv-watch results check`") from error
    return content if isinstance(content, dict) else {}


def _interleaved(
    history: History, before: StoredResult, after: StoredResult
) -> dict[str, CaseRatio]:
    """Return the newest interleaved ratio of each case, where the two were compared so."""
    if before.machine != after.machine or before.environment != after.environment:
        return {}
    return {
        ratio.case: ratio
        for stored in history.comparisons.get(before.machine, ())
        if stored.header.before.commit == before.commit
        and stored.header.after.commit == after.commit
        and stored.header.kind != "planted"
        for ratio in stored.ratios
    }


def _row(
    history: History,
    before: tuple[Series, str],
    after: tuple[Series, str],
    interleaved: CaseRatio | None,
) -> list[tuple[str, ...]]:
    """Return the row of a case, or nothing where a side has no value."""
    points = [
        series.runs[commit].point for series, commit in (before, after) if commit in series.runs
    ]
    if len(points) < 2 or points[0] is None or points[1] is None:
        return []
    series = after[0]
    words = WORDS if series.unit == "seconds" else OTHER_WORDS
    values = [quantity(point.value, series.unit) for point in points if point]
    name = f"`{series.case.name}`"
    if interleaved is not None:
        size = quantities.change(interleaved.ratio, interleaved.kind)
        ends = quantities.interval(interleaved.interval)
        return [(name, *values, size, ends, "interleaved", words[verdict(interleaved)])]
    ratio, kind = _ratio(points[0], points[1]), "time" if words is WORDS else "memory"
    exact = history.benchmarks[series.case.benchmark].exact
    if ratio is None or exact:
        equality = "same" if points[0].value == points[1].value else "differs"
        size = "" if ratio is None else quantities.change(ratio.ratio, kind)
        return [(name, *values, size, "", "apart", equality)]
    answer = verdict(ratio)
    suspicion = "" if answer is Verdict.SAME else ", suspected"
    size, ends = quantities.about(ratio.ratio, kind), quantities.interval(ratio.interval)
    return [(name, *values, size, ends, "apart", f"{words[answer]}{suspicion}")]


def _ratio(before: Point, after: Point) -> _Values | None:
    """Divide two values and the ends of their intervals; ``None`` if one is not positive."""
    old, new = (sorted((point.value, *(point.interval or ()))) for point in (before, after))
    if old[0] <= 0 or new[0] <= 0 or math.isinf(old[-1]) or math.isinf(new[-1]):
        return None
    return _Values(after.value / before.value, (new[0] / old[-1], new[-1] / old[0]))
