"""Compares two commits or torch releases."""

from __future__ import annotations

from pathlib import Path

from torchspeed.exit_status import ExitStatus
from torchspeed.watch.analysis.rule import Verdict
from torchspeed.watch.asv import selection
from torchspeed.watch.asv.registration import register
from torchspeed.watch.asv.settings import read_configuration
from torchspeed.watch.history.git import ask_git
from torchspeed.watch.jobs import preflight
from torchspeed.watch.machine.description import default_name
from torchspeed.watch.turns import compare as comparing
from torchspeed.watch.turns import compare_report
from torchspeed.watch.turns.rounds import measure_side_by_side
from torchspeed.watch.turns.sides import side


def compare(
    root: Path,
    *,
    before: str,
    after: str,
    torch: str,
    machine: str,
    cases: str,
    fail_if_slower: bool,
) -> ExitStatus:
    """Compare two sides in interleaved rounds and print the table.

    Args:
        root: the checkout.
        before: the baseline, ``COMMIT[@RELEASE]``, or ``.`` for the working tree.
        after: what is compared with it.
        torch: release of a side that names none.
        machine: name of this machine; the host's if empty.
        cases: regular expression of cases; the short set if empty.
        fail_if_slower: return `ExitStatus.SLOWER` where a case got slower.

    Raises:
        TorchspeedError: a side does not exist, or no case ran on both.
    """
    preflight.check_checkout(root)
    configuration = read_configuration(root)
    packages = root / ".asv" / "side-by-side" / "packages"
    sides = (
        side(root, configuration, before, torch, packages),
        side(root, configuration, after, torch, packages),
    )
    patterns = (selection.checked(cases),) if cases else selection.SHORT
    pairs = tuple(one.pair for one in sides)
    preflight.check_room(configuration, pairs)
    name = machine or default_name()
    register(name)
    print(f"before: {sides[0].name}\nafter:  {sides[1].name}", flush=True)
    listed = comparing.list_cases(
        root, pairs, name, selection.timings(patterns), ask_git(root, "rev-parse", "HEAD")
    )
    measured = measure_side_by_side(sides, comparing.suites(root), listed)
    compared = comparing.judge(measured)
    print(f"\n{compare_report.report(compared, measured, sides[0].name, sides[1].name)}")
    if measured.failed:
        return ExitStatus.SOME_CASES_FAILED
    slower = any(case.ratio.verdict is Verdict.WORSE for case in compared)
    return ExitStatus.SLOWER if slower and fail_if_slower else ExitStatus.DONE
