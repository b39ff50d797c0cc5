"""The commits of changes that only separate runs or one comparison show, and their comparison.

Separate runs may have been disturbed. With thirty cases a night and a confidence of 99 %, a single
comparison now and then shows a change that does not exist. A change that two comparisons show is
real. The comparison is stored with kind ``confirm``, and all comparisons of two commits count
(`asv_watch.judge.graph`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from asv_watch.asv.selection import EVERYTHING
from asv_watch.asv.settings import NEWEST
from asv_watch.compare.measure import Compared, measure
from asv_watch.compare.report import differences_of
from asv_watch.engine.cases import list_cases
from asv_watch.engine.rounds import PRECISE
from asv_watch.engine.sides import side
from asv_watch.engine.workplace import Workplace
from asv_watch.errors import WatchError
from asv_watch.judge.changes import Change
from asv_watch.records.history import History
from asv_watch.text import quantities
from asv_watch.versions.releases import Release

MOST_COMPARISONS = 2
"""A change is not compared again after so many comparisons of its two commits."""


@dataclass(frozen=True, slots=True)
class Suspects:
    """Changes between two commits that are still to be compared once or twice."""

    before: str
    """Hash of the last commit measured before them."""
    after: str
    """Hash of the first commit measured after them."""
    release: Release
    """Main release with which both ran."""
    cases: frozenset[str]


def confirm_suspects(workplace: Workplace, suspects: Suspects) -> Compared:
    """Compare the two commits of changes, store the result, and print the answer for each.

    An interrupt keeps the finished cases.

    Raises:
        WatchError: a commit, the release or all of the cases cannot be measured now.
    """
    release = str(suspects.release) or NEWEST
    sides = side(workplace, suspects.before, release), side(workplace, suspects.after, release)
    listed = list_cases(workplace, sides[:1], EVERYTHING, "time", "memory")
    cases = [case for case in listed if case.name in suspects.cases]
    if not cases:
        raise WatchError(f"no suite has {', '.join(sorted(suspects.cases))} any more")
    print(
        f"{sides[1].name}\n  against {sides[0].name}: {quantities.counted(len(cases), 'change')}",
        flush=True,
    )
    compared = measure(workplace, sides, cases, "confirm", PRECISE).between(0, 1)
    for found in differences_of(compared, workplace.machine):
        if found.interval is not None:
            print(f"{found.verdict}: {found.case}, {found.change} ({found.ends})")
    return compared


def find_suspects(history: History, changes: Sequence[Change], machine: str) -> list[Suspects]:
    """Return the changes of times and peak memory on a machine that are to be compared.

    These are changes whose two commits were compared once, ratios of one sitting that are near a
    change, and suspicions. A change that the code cannot have caused (`Change.may_be_code`) is
    left out. They come in the order of ``changes``, those of the same two commits and release
    together.
    """
    compared = Counter(
        (before.commit, after.commit, before.release, comparison.case)
        for comparison in history.comparisons.get(machine, ())
        for before, after in combinations(comparison.sitting.versions, 2)
    )
    together: dict[tuple[str, str, Release], list[str]] = {}
    for change in changes:
        series = history.series[change.series]
        if not change.may_be_code or series.machine != machine:
            continue
        before, after = (history.commits[index].hash for index in (change.previous, change.commit))
        versions = before, after, history.environments[series.environment].release
        if compared[*versions, series.case.name] < MOST_COMPARISONS:
            together.setdefault(versions, []).append(series.case.name)
    return [Suspects(*versions, frozenset(cases)) for versions, cases in together.items()]
