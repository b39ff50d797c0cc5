"""Measures a random commit of a machine again, to see whether its stored results are its own."""

from __future__ import annotations

import secrets
import shutil
import time
from pathlib import Path

from torchspeed.errors import TorchspeedError
from torchspeed.exit_status import ExitStatus
from torchspeed.watch.asv.scratch import ScratchProject
from torchspeed.watch.asv.selection import SHORT
from torchspeed.watch.asv.settings import tracked_commits
from torchspeed.watch.history.history import History
from torchspeed.watch.history.json_lines import append_lines
from torchspeed.watch.history.loading import load_history
from torchspeed.watch.history.outcomes import round_seconds
from torchspeed.watch.history.verifications import AGREES_UP_TO, FILE_NAME, Verification
from torchspeed.watch.jobs.workplace import open_workplace
from torchspeed.watch.progress import Progress
from torchspeed.watch.turns.workplace import Workplace


def verify(root: Path, *, torch: str, machine: str) -> ExitStatus:
    """Measure one of the stored commits again, print whether the values agree, and store that.

    Args:
        root: the checkout.
        torch: a release that asv.conf.json pins, or ``newest``.
        machine: folder of results; the host's name if empty.

    Raises:
        TorchspeedError: nothing is stored of this machine with that release, or no case has a
            value again.
    """
    with open_workplace(root, "verify", torch=torch, machine=machine) as place:
        history = load_history(place.configuration.results, tracked_commits(root))
        stored = _values(history, place)
        if not stored:
            raise TorchspeedError(
                f"{place.machine} has no results with {place.pairs[0]}; give --machine, or measure"
            )
        commit = secrets.choice(sorted({commit for commit, _ in stored}))
        print(f"measuring {commit[:8]} again, on {place.machine}", flush=True)
        again = _measure(place, commit)
        ratios = [
            max(value / stored[key], stored[key] / value)
            for key, value in again.items()
            if key in stored
        ]
        if not ratios:
            raise TorchspeedError(
                f"measuring commit {commit[:8]} again gave no value for any stored case; "
                "run `torchspeed verify` again, which draws another commit"
            )
        agreeing = sum(ratio <= AGREES_UP_TO for ratio in ratios)
        verification = Verification(int(time.time()), commit, len(ratios), agreeing)
        append_lines(place.results / FILE_NAME, [verification])
    print(
        f"{agreeing} of {len(ratios)} cases of {commit[:8]} agree within {AGREES_UP_TO - 1:.0%}: "
        f"{'verified' if verification.passed else 'not verified'}"
    )
    return ExitStatus.DONE if verification.passed else ExitStatus.FAILED


def _values(history: History, place: Workplace) -> dict[tuple[str, str], float]:
    """Return the positive values of the machine and environment: (commit, case) to value."""
    return {
        (commit, series.case.name): run.point.value
        for series in history.series
        if (series.machine, series.environment) == (place.machine, place.pairs[0].environment)
        for commit, run in series.runs.items()
        if run.point is not None and run.point.value > 0
    }


def _measure(place: Workplace, commit: str) -> dict[tuple[str, str], float]:
    """Measure the short set of a commit outside the stored results."""
    folder = place.root / ".asv" / "verification"
    shutil.rmtree(folder, ignore_errors=True)
    project = ScratchProject(folder, place.root)
    progress = Progress(round_seconds(place.results))
    project.measure(commit, place.pairs[0], place.machine, SHORT, progress)
    return _values(project.history(commit), place)
