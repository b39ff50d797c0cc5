"""Compares the two commits of a change that only separate runs, or a single comparison, show.

Separate runs may have met interference. A single comparison of some thirty cases a night shows a
change that is none once in a while, at a confidence of 99 %; one that both of two comparisons show
is real. The comparison is stored with kind ``confirm``, and the newest one of two commits counts
(`asv_watch.judge.measured_pairs`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from asv_watch import quantities
from asv_watch.asv.selection import EVERYTHING
from asv_watch.asv.settings import NEWEST
from asv_watch.compare.measure import Compared, compare
from asv_watch.errors import ExitStatus, WatchError
from asv_watch.interleave.cases import list_cases
from asv_watch.interleave.rounds import PRECISE
from asv_watch.interleave.sides import side
from asv_watch.judge.changes import Change
from asv_watch.judge.findings import analyse
from asv_watch.options import Machine
from asv_watch.records.git import read_commits
from asv_watch.records.history import History
from asv_watch.records.loading import load_history
from asv_watch.statistics.rule import Verdict, is_too_noisy, verdict
from asv_watch.workplace import Workplace, open_workplace

CONFIRMED = 2
"""Comparisons of its two commits after which a change is not compared again."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A change whose two commits are to be compared, for the first or the second time."""

    case: str
    release: str
    """Such as ``numpy 2.4.0``; empty where no requirement is pinned."""
    before: str
    """Hash of the last commit measured before it."""
    after: str
    """Hash of the first commit measured after it."""


def confirm(*, machine: Machine = "") -> ExitStatus:
    """Compare the two commits of each change that is suspected or was compared only once.

    Raises:
        WatchError: the results cannot be read.
    """
    with open_workplace(Path.cwd(), "confirm", release="all", machine=machine) as place:
        history = _history(place)
        suspects = find_suspects(history, analyse(history).changes, place.machine)
        compared = confirm_suspects(place, suspects)
    if not compared:
        print("no change has to be compared")
    failed = any(result.failed for result in compared)
    return ExitStatus.SOME_CASES_FAILED if failed else ExitStatus.DONE


def confirm_suspects(place: Workplace, suspects: Sequence[Suspect]) -> list[Compared]:
    """Compare the commits of changes, print the answer for each, and store the result.

    Changes of the same two commits and release are measured together. A comparison in which
    no case runs is reported and left out, so that it does not stop the others. An interrupt keeps
    the finished cases.

    Raises:
        WatchError: the results cannot be read, or none of the changes can be measured.
    """
    together: dict[tuple[str, str, str], set[str]] = {}
    for suspect in suspects:
        key = suspect.before, suspect.after, suspect.release
        together.setdefault(key, set()).add(suspect.case)
    compared, errors = [], []
    for versions, names in together.items():
        try:
            compared.append(_measure(place, *versions, names))
        except WatchError as error:
            print(f"  not measured: {error}", flush=True)
            errors.append(error)
    if errors and not compared:
        raise errors[0]
    for result in compared:
        for ratio in result.ratios:
            answer = "no change" if verdict(ratio) is Verdict.SAME else "measured"
            answer = "too noisy to tell" if is_too_noisy(ratio) else answer
            size = quantities.measured(ratio.ratio, ratio.interval, ratio.kind)
            print(f"{answer}: {ratio.case}, {size}")
    return compared


def find_suspects(history: History, changes: Sequence[Change], machine: str) -> list[Suspect]:
    """Return the changes of times and peak memory on a machine that are to be compared.

    These are suspicions whose two commits were not compared yet, and changes that one comparison
    shows. A change that is not the code's is none of them (`Change.may_be_code`).
    """
    compared = {
        (ratio.case, header.before.release, header.before.commit, header.after.commit)
        for comparison in history.comparisons.get(machine, ())
        for header in [comparison.header]
        for ratio in comparison.ratios
    }
    suspects = []
    for change in changes:
        series = history.series[change.series]
        wanted = change.may_be_code and change.comparisons < CONFIRMED
        if not wanted or series.machine != machine:
            continue
        before, after = (history.commits[at].hash for at in (change.previous, change.commit))
        release = history.environments[series.environment].release
        versions = (series.case.name, release, before, after)
        if change.is_measured or versions not in compared:
            suspects.append(Suspect(series.case.name, release, before, after))
    return suspects


def _measure(place: Workplace, before: str, after: str, release: str, names: set[str]) -> Compared:
    """Compare two commits in some cases.

    Raises:
        WatchError: a commit, the release or all of the cases cannot be measured now.
    """
    sides = side(place, before, release or NEWEST), side(place, after, release or NEWEST)
    listed = list_cases(place, sides[:1], EVERYTHING, "time", "memory")
    cases = [case for case in listed if case.name in names]
    if not cases:
        raise WatchError(f"no suite has {', '.join(sorted(names))} any more")
    print(f"{sides[1].name}\n  against {sides[0].name}: {len(cases)} changes", flush=True)
    return compare(place, sides, cases, "confirm", PRECISE)


def _history(place: Workplace) -> History:
    configuration = place.configuration
    commits = read_commits(configuration.repository, configuration.branch)
    layout = configuration.declared.layout
    return load_history(configuration.results, commits, place.machine, layout=layout)
