"""Compares two stored results: of commits, environments or machines. Nothing is built or measured.

If interleaved comparisons on the machine lead from one version to the other, values and ratio come
from all of them. Otherwise the ratio is that of two separate runs (`asv_watch.compare.apart`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from asv_watch.answers import Answer, Difference, measured_difference
from asv_watch.asv.repository import find_repository
from asv_watch.asv.selection import EVERYTHING, matching
from asv_watch.asv.settings import load_settings
from asv_watch.compare.apart import compare_apart
from asv_watch.compare.report import RULE
from asv_watch.errors import WatchError
from asv_watch.judge.graph import MachineGraphs, PairRatio
from asv_watch.records.history import History
from asv_watch.records.loading import load_history
from asv_watch.records.records import Point, benchmark_of
from asv_watch.text.markdown import table
from asv_watch.versions.commits import Commit
from asv_watch.versions.git import find_commit, read_commits
from asv_watch.versions.version import VersionKey

_SIDE = re.compile(r"(?:(?P<machine>[^:@]+):)?(?P<commit>[^:@]+)(?:@(?P<environment>.+))?")


@dataclass(frozen=True, slots=True)
class StoredSide:
    """The results of one machine, commit and environment; an empty field means any."""

    machine: str
    environment: str
    commit: str
    """Full hash."""

    def __str__(self) -> str:
        return f"{self.machine}:{self.commit[:8]}@{self.environment}"


def compare_stored(root: Path, before: str, after: str, *, cases: str) -> tuple[str, Answer]:
    """Compare two stored results.

    Args:
        root: folder of asv.conf.json.
        before: ``MACHINE:COMMIT@ENVIRONMENT``. Machine and environment may be left out if only
            one result fits, and a part of the environment suffices.
        after: the same.
        cases: regular expression of cases; all that both have if empty.

    Returns:
        The report in Markdown, aligned for the terminal, and the answer.

    Raises:
        WatchError: a side is not stored or not clear, or the two have no case in common.
    """
    selection = matching(cases, otherwise=EVERYTHING)
    conf = load_settings(root)
    repository, branch = find_repository(root, conf)
    typed = {text: _parse(text, repository) for text in (before, after)}
    commits = read_commits(repository, branch)
    others = {side.commit for side in typed.values()} - {commit.hash for commit in commits}
    history = load_history(
        Path(conf.results_dir),
        (*commits, *(Commit(hash_, 0, "") for hash_ in others)),
        layout=conf.declared.layout,
    )
    first, second = _find(history, typed, before, after)
    interleaved = _interleaved(history, first, second)
    old, new = (_points(history, side) for side in (first, second))
    differences = [
        measured_difference(interleaved[name], second.machine)
        if name in interleaved
        else compare_apart(
            name, old[name], new[name], history.benchmarks[benchmark_of(name)], second.machine
        )
        for name in old
        if name in new and selection.matches(name)
    ]
    if not differences:
        raise WatchError(
            f"{first} and {second} have no case in common; `asv-watch results export` lists all"
        )
    head = ("case", "before", "after", "change", "interval", "measured", "verdict")
    rows = [_row(difference, interleaved.get(difference.case)) for difference in differences]
    text = (
        f"**{second}** against **{first}**\n\n{table(head, rows)}\n\n"
        f"{RULE} Rows marked apart come from separate runs, so a difference is only suspected; "
        "`asv-watch compare` measures the two versions."
    )
    return text, Answer("compare", str(first), str(second), differences)


def _parse(text: str, repository: Path) -> StoredSide:
    match = _SIDE.fullmatch(text)
    commit = find_commit(repository, match["commit"]) if match else ""
    if match is None or not commit:
        raise _not_stored(text)
    return StoredSide(match["machine"] or "", match["environment"] or "", commit)


def _not_stored(text: str) -> WatchError:
    return WatchError(f"no result of {text!r} is stored; name one as MACHINE:COMMIT@ENVIRONMENT")


def _find(
    history: History, typed: dict[str, StoredSide], before: str, after: str
) -> tuple[StoredSide, StoredSide]:
    """Find the two results; if several fit, those of one machine and environment."""
    stored_sides = {
        text: [
            StoredSide(machine, environment, side.commit)
            for (machine, environment), facts in history.facts.items()
            if side.commit in facts
            and side.machine in {"", machine}
            and side.environment in f"{environment} {history.environments[environment].release}"
        ]
        for text, side in typed.items()
    }
    for text, sides in stored_sides.items():
        if not sides:
            raise _not_stored(text)
    pairs = [(old, new) for old in stored_sides[before] for new in stored_sides[after]]
    same_setup = [
        (old, new)
        for old, new in pairs
        if (old.machine, old.environment) == (new.machine, new.environment)
    ]
    for choice in (pairs, same_setup):
        if len(choice) == 1:
            return choice[0]
    listed = ", ".join(
        sorted({str(side) for sides in stored_sides.values() for side in sides})[:6]
    )
    raise WatchError(f"{before!r} and {after!r} may mean several results: {listed}; name one each")


def _points(history: History, side: StoredSide) -> dict[str, Point]:
    """Return the values of a stored result by case."""
    return {
        series.case.name: run.point
        for series in history.series
        if (series.machine, series.environment) == (side.machine, side.environment)
        and (run := series.runs.get(side.commit)) is not None
        and run.point is not None
    }


def _interleaved(history: History, before: StoredSide, after: StoredSide) -> dict[str, PairRatio]:
    """Return the ratio of each case for which interleaved comparisons link the two versions."""
    if before.machine != after.machine:
        return {}
    graphs = MachineGraphs(history.comparisons.get(before.machine, ()))
    nodes = [
        VersionKey(side.commit, environment.release, environment.python)
        for side in (before, after)
        for environment in [history.environments[side.environment]]
    ]
    ratios = {}
    for case in graphs.cases:
        graph = graphs.versions(case)
        if graph is not None and (ratio := graph.ratio(*nodes)) is not None:
            ratios[case] = ratio
    return ratios


def _row(difference: Difference, interleaved: PairRatio | None) -> tuple[str, ...]:
    way = "apart"
    if interleaved is not None:
        way = "interleaved" if interleaved.is_direct else "through others"
    cells = *difference.values, difference.change, difference.ends
    return (f"`{difference.case}`", *cells, way, difference.word)
