"""Measures HEAD against the reference, or renews the reference."""

from __future__ import annotations

from pathlib import Path

from torchspeed.errors import TorchspeedError
from torchspeed.exit_status import ExitStatus
from torchspeed.watch.asv.selection import EVERYTHING, SHORT, matching
from torchspeed.watch.history.git import ask_git
from torchspeed.watch.jobs.workplace import open_workplace
from torchspeed.watch.turns import compare_report
from torchspeed.watch.turns.reference import measure_against_reference, renew_reference


def reference(
    root: Path, *, commit: str, renew: str, torch: str, machine: str, cases: str, full: bool
) -> ExitStatus:
    """Measure what is missing of a commit, interleaved with the reference; or renew that.

    Args:
        root: the checkout.
        commit: what is measured.
        renew: the new reference, ``COMMIT@RELEASE``; empty to measure ``commit``.
        torch: releases to measure the commit with: one, ``newest`` or ``all``.
        machine: folder of results; the host's name if empty.
        cases: regular expression of cases; the short set if empty.
        full: an empty ``cases`` means every case.

    Raises:
        TorchspeedError: there is no reference, or nothing could be measured.
    """
    selection = matching(cases, otherwise=EVERYTHING if full else SHORT).only_times()
    with open_workplace(root, "reference", torch=torch, machine=machine) as place:
        where = (root, place.configuration, place.machine)
        if renew:
            compared = [renew_reference(*where, renew, selection)]
        else:
            full_hash = ask_git(root, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
            if not full_hash:
                raise TorchspeedError(f"{commit!r} is no commit, tag or branch of this repository")
            compared = measure_against_reference(*where, [full_hash], place.pairs, selection)
    for result in compared:
        print(f"{compare_report.summary(result.ratios)}")
        if result.path is not None:
            print(f"  stored in {result.path.relative_to(root)}")
    if renew:
        print(f"asv.conf.json names {renew} now; commit it together with the results")
    elif not compared:
        print("nothing was missing")
    failed = any(result.failed for result in compared)
    return ExitStatus.SOME_CASES_FAILED if failed else ExitStatus.DONE
