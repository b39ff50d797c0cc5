"""Measures the suspected changes of this machine again, interleaved."""

from __future__ import annotations

from pathlib import Path

from torchspeed.exit_status import ExitStatus
from torchspeed.watch.analysis.findings import analyse
from torchspeed.watch.history.git import read_commits
from torchspeed.watch.history.history import History
from torchspeed.watch.history.loading import load_history
from torchspeed.watch.jobs.workplace import Workplace, open_workplace
from torchspeed.watch.turns.compare import Compared
from torchspeed.watch.turns.compare_report import describe
from torchspeed.watch.turns.confirm import confirm as measure
from torchspeed.watch.turns.confirm import find_suspects


def confirm(root: Path, *, machine: str) -> ExitStatus:
    """Measure every unconfirmed change of this machine, and print what became of it.

    Args:
        root: the checkout.
        machine: folder of results; the host's name if empty.

    Raises:
        TorchspeedError: the results cannot be read.
    """
    with open_workplace(root, "confirm", torch="all", machine=machine) as place:
        compared = confirm_suspects(place)
    if not compared:
        print("no change is waiting for a confirmation")
    failed = any(result.failed for result in compared)
    return ExitStatus.SOME_CASES_FAILED if failed else ExitStatus.DONE


def confirm_suspects(place: Workplace) -> list[Compared]:
    """Measure the unconfirmed changes of a machine and print the state of each.

    Raises:
        TorchspeedError: the results cannot be read.
    """
    suspects = find_suspects(_history(place), place.machine)
    if not suspects:
        return []
    compared = measure(place.root, place.configuration, place.machine, suspects)
    measured = {(case.case, case.at) for result in compared for case in result.ratios}
    history = _history(place)
    for change in analyse(history).changes:
        case = history.series[change.series].case.name
        if change.evidence is not None and (case, change.evidence.at) in measured:
            commit = history.commits[change.commit].hash[:8]
            print(f"{change.state.value}: {case} in {commit}, {describe(change.evidence)}")
    return compared


def _history(place: Workplace) -> History:
    commits = read_commits(place.root, place.configuration.branch)
    return load_history(place.configuration.results, commits)
