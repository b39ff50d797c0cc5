"""Explains why a case takes longer, or less, on one side than on another."""

from __future__ import annotations

from pathlib import Path

from torchspeed.errors import TorchspeedError
from torchspeed.exit_status import ExitStatus
from torchspeed.watch.asv.selection import EVERYTHING, matching
from torchspeed.watch.history.git import ask_git
from torchspeed.watch.jobs.workplace import open_workplace
from torchspeed.watch.turns.cases import list_cases
from torchspeed.watch.turns.explain import explain as compare_operators
from torchspeed.watch.turns.explain_report import report
from torchspeed.watch.turns.sides import PACKAGES, side


def explain(
    root: Path, *, before: str, after: str, torch: str, cases: str, machine: str
) -> ExitStatus:
    """Profile one case on two sides and print the operators that account for the difference.

    Args:
        root: the checkout.
        before: ``COMMIT[@RELEASE]``, or ``.`` for the working tree.
        after: the same.
        torch: release of a side that names none.
        cases: regular expression that matches one case.
        machine: name of this machine in asv; the host's if empty.

    Raises:
        TorchspeedError: the pattern matches no case or several, or a side cannot be profiled.
    """
    selection = matching(cases, otherwise=EVERYTHING).only_times()
    with open_workplace(root, "explain", torch="all", machine=machine) as place:
        configuration = place.configuration
        old = side(root, configuration, before, torch, root / PACKAGES)
        new = side(root, configuration, after, torch, root / PACKAGES)
        head = ask_git(root, "rev-parse", "HEAD")
        listed = list_cases(root, [old.pair, new.pair], place.machine, selection, head)
        if len(listed) > 1:
            raise TorchspeedError(
                f"{cases!r} matches {len(listed)} cases, such as {listed[0].name} and "
                f"{listed[1].name}; name one"
            )
        print(f"profiling {listed[0].name}", flush=True)
        explanation = compare_operators((old, new), configuration.suites, listed[0])
    print(f"\n{report(explanation, old.name, new.name)}")
    return ExitStatus.DONE
