"""Compares two commits or torch releases."""

from __future__ import annotations

from pathlib import Path

from torchspeed.exit_status import ExitStatus
from torchspeed.watch.analysis.ratio import verdict
from torchspeed.watch.analysis.rule import Verdict
from torchspeed.watch.asv.selection import SHORT, matching
from torchspeed.watch.jobs import preflight
from torchspeed.watch.jobs.workplace import open_workplace
from torchspeed.watch.turns import compare_report
from torchspeed.watch.turns.cases import list_cases
from torchspeed.watch.turns.compare import compare as measure
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
    """Compare two sides in interleaved rounds and print the table; store the result.

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
    selection = matching(cases, otherwise=SHORT).only_times()
    with open_workplace(root, "compare", torch=torch, machine=machine, committed=False) as place:
        sides = side(place, before, torch), side(place, after, torch)
        pairs = sides[0].pair, sides[1].pair
        preflight.check_room(place.configuration, pairs)
        print(f"before: {sides[0].name}\nafter:  {sides[1].name}", flush=True)
        compared = measure(place, sides, list_cases(place, pairs, selection))
    print(f"\n{compare_report.report(compared, sides[0].name, sides[1].name)}")
    if compared.path is None:
        print("not stored: no commit names the working tree's changes")
    else:
        print(f"stored in {compared.path.relative_to(root)}")
    if compared.failed:
        return ExitStatus.SOME_CASES_FAILED
    slower = any(verdict(case) is Verdict.WORSE for case in compared.ratios)
    return ExitStatus.SLOWER if slower and fail_if_slower else ExitStatus.DONE
