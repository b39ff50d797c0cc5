"""Which commits a night has to measure."""

from __future__ import annotations

from pathlib import Path

from torchspeed.exit_status import ExitStatus
from torchspeed.watch.asv.selection import EVERYTHING, matching
from torchspeed.watch.asv.settings import MEASURED_PATHS
from torchspeed.watch.history.git import ask_git
from torchspeed.watch.jobs.measuring import finish, measure
from torchspeed.watch.jobs.workplace import open_workplace


def nightly(root: Path, *, machine: str, cases: str) -> ExitStatus:
    """Measure every commit that is not measured yet, with every pair, and publish the site.

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
        return finish(place, measure(place, commits, selection, retry_failed=False))


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
