"""Finds which commit, or which torch release, changed the time of a case."""

from __future__ import annotations

from pathlib import Path

from torchspeed.errors import TorchspeedError
from torchspeed.exit_status import ExitStatus
from torchspeed.watch.asv.selection import EVERYTHING, matching
from torchspeed.watch.history.git import ask_git
from torchspeed.watch.jobs.workplace import open_workplace
from torchspeed.watch.turns.bisect import Culprit, candidates_between
from torchspeed.watch.turns.bisect import bisect as narrow
from torchspeed.watch.turns.cases import list_cases
from torchspeed.watch.turns.compare_report import describe
from torchspeed.watch.turns.sides import PACKAGES, side


def bisect(root: Path, *, before: str, after: str, cases: str, machine: str) -> ExitStatus:
    """Narrow the change of one case between two sides, and print what changed it.

    Args:
        root: the checkout.
        before: ``COMMIT[@RELEASE]``.
        after: the same.
        cases: regular expression that matches one case.
        machine: folder of results; the host's name if empty.

    Raises:
        TorchspeedError: the pattern matches no case or several, there is no range between the
            sides, or noise hides the change.
    """
    selection = matching(cases, otherwise=EVERYTHING).only_times()
    with open_workplace(root, "bisect", torch="all", machine=machine) as place:
        configuration = place.configuration
        candidates = candidates_between(root, configuration, before, after)
        pairs = {
            side(root, configuration, text, "newest", root / PACKAGES).pair.environment: None
            for text in (candidates[0], candidates[-1])
        }
        chosen = [pair for pair in place.pairs if pair.environment in pairs]
        head = ask_git(root, "rev-parse", "HEAD")
        listed = list_cases(root, chosen, place.machine, selection, head)
        if len(listed) > 1:
            raise TorchspeedError(
                f"{cases!r} matches {len(listed)} cases, such as {listed[0].name} and "
                f"{listed[1].name}; a bisection follows one"
            )
        print(f"{listed[0].name}: {len(candidates)} candidates", flush=True)
        culprits = narrow(root, configuration, place.machine, listed[0], candidates)
    if not culprits:
        print("\nThe ends of the range do not differ.")
    for culprit in culprits:
        print(f"\n{_sentence(root, culprit)}")
    return ExitStatus.DONE


def _sentence(root: Path, culprit: Culprit) -> str:
    before, after = culprit.before, culprit.after
    assert after.version is not None  # noqa: S101 - candidates are commits
    subject = ask_git(root, "log", "-1", "--format=%h %s", after.version.commit)
    same_commit = before.version is not None and before.version.commit == after.version.commit
    what = f"torch {after.pair.torch}" if same_commit else subject
    if culprit.between:
        what += f", or one of the {culprit.between} before it that could not be told apart"
    return f"{describe(culprit.ratio)}: {what} (after {before.name})"
