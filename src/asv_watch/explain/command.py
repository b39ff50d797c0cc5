"""Explains why a case takes longer, or less, on one side than on another."""

from __future__ import annotations

from pathlib import Path

from asv_watch.asv.selection import EVERYTHING, matching
from asv_watch.checkout.workplace import open_workplace
from asv_watch.exit_status import ExitStatus
from asv_watch.explain.operators import explain as compare_operators
from asv_watch.explain.report import report
from asv_watch.interleave.cases import find_case
from asv_watch.interleave.sides import side


def explain(
    root: Path, *, before: str, after: str, release: str, cases: str, machine: str
) -> ExitStatus:
    """Profile one case on two sides and print the operators that account for the difference.

    Args:
        root: the checkout.
        before: ``COMMIT[@RELEASE]``, or ``.`` for the working tree.
        after: the same.
        release: release of a side that names none.
        cases: regular expression that matches one case.
        machine: name of this machine in asv; the host's if empty.

    Raises:
        WatchError: the pattern matches no case or several, or a side cannot be profiled.
    """
    selection = matching(cases, otherwise=EVERYTHING).only_times()
    with open_workplace(root, "explain", release="all", machine=machine) as place:
        sides = side(place, before, release), side(place, after, release)
        case = find_case(place, [sides[0].environment, sides[1].environment], selection)
        print(f"profiling {case.name}", flush=True)
        explanation = compare_operators(place, sides, case)
    print(f"\n{report(explanation, sides[0].name, sides[1].name)}")
    return ExitStatus.DONE
