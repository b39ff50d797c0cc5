"""Which commits a night has to measure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from torchspeed.errors import TorchspeedError
from torchspeed.exit_status import ExitStatus
from torchspeed.watch.asv.selection import EVERYTHING, SHORT, Selection, matching
from torchspeed.watch.asv.settings import MEASURED_PATHS
from torchspeed.watch.history.git import ask_git
from torchspeed.watch.jobs.measuring import finish, measure
from torchspeed.watch.jobs.workplace import Workplace, open_workplace
from torchspeed.watch.turns.reference import measure_against_reference


def nightly(root: Path, *, machine: str, cases: str) -> ExitStatus:
    """Measure every commit that is not measured yet, with every pair, and publish the site.

    Where asv.conf.json names a reference, the times of the commits are also measured interleaved
    with it.

    Args:
        root: the checkout.
        machine: folder of results; the host's name if empty.
        cases: regular expression of cases; every case if empty.

    Raises:
        TorchspeedError: nothing could be measured, or the site could not be written.
    """
    selection = matching(cases, otherwise=EVERYTHING)
    with open_workplace(root, "nightly", torch="all", machine=machine) as place:
        configuration = place.configuration
        commits = commits_to_measure(
            root, configuration.branch, configuration.results, place.machine
        )
        tally = measure(place, commits, selection, retry_failed=False)
        if configuration.reference:
            times = matching(cases, otherwise=SHORT).only_times()
            tally.failures += _measure_against_reference(place, commits, times)
        return finish(place, tally)


def _measure_against_reference(
    place: Workplace, commits: Sequence[str], selection: Selection
) -> list[str]:
    """Measure what is missing against the reference; return a line for each failure."""
    try:
        compared = measure_against_reference(
            place.root, place.configuration, place.machine, commits, place.pairs, selection
        )
    except TorchspeedError as error:  # the night's own results must be published all the same
        return [f"nothing was measured against the reference: {error}"]
    return [
        f"{case.case} against the reference failed: {case.failed}"
        for result in compared
        for case in result.unmeasured
        if case.failed
    ]


def measured_commits(results: Path, machine: str) -> set[str]:
    """Abbreviated hashes of the commits that have results of this machine."""
    return {
        path.name.split("-", 1)[0]
        for path in (results / machine).glob("*.json")
        if path.name != "machine.json"
    }


def commits_to_measure(root: Path, branch: str, results: Path, machine: str) -> list[str]:
    """The commits of ``branch`` that a night measures, oldest first.

    Of all commits since the newest one measured on this machine (that one
    included, in case it is not complete), those that touch what is measured: a
    commit that only changes the site, the docs or the results cannot change a
    figure. On a machine without results only the newest such commit.
    """
    every = ask_git(root, "rev-list", "--first-parent", branch).split()
    changing = ask_git(root, "rev-list", "--first-parent", branch, "--", *MEASURED_PATHS).split()
    touching = set(changing)
    known = measured_commits(results, machine)
    chosen: list[str] = []
    for commit in every:
        if commit[:8] in known:
            return [commit, *reversed(chosen)]
        if commit in touching:
            chosen.append(commit)
    return changing[:1]
