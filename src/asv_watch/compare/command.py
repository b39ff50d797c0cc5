"""Compares two commits or releases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from asv_watch.asv.selection import SHORT, matching
from asv_watch.compare import report as compare_report
from asv_watch.compare.measure import compare as measure
from asv_watch.compare.stored import compare_stored
from asv_watch.engine.cases import list_cases
from asv_watch.engine.sides import side
from asv_watch.errors import ExitStatus
from asv_watch.options import After, Before, Cases, Machine, Release
from asv_watch.statistics.rule import Verdict, judged, value_verdict, verdict
from asv_watch.workplace import check_room, open_workplace


def compare(
    *,
    before: Before = "HEAD~1",
    after: After = "HEAD",
    stored: Annotated[
        bool,
        typer.Option(
            "--stored",
            help="Compare what is stored, and measure nothing. A side is a result file or "
            "MACHINE:COMMIT@ENVIRONMENT, of which all but the commit may be left out.",
        ),
    ] = False,
    values: Annotated[
        bool,
        typer.Option(
            "--values",
            help="Compare peak memory and tracked values too, as always where no case is timed.",
        ),
    ] = False,
    fail_if_slower: Annotated[
        bool, typer.Option("--fail-if-slower", help="Exit with status 4 if a case got slower.")
    ] = False,
    cases: Cases = "",
    release: Release = "newest",
    machine: Machine = "",
) -> ExitStatus:
    """Compare two sides in interleaved rounds and print the table; store the result.

    Raises:
        WatchError: a side does not exist, or no case ran on both.
    """
    root = Path.cwd()
    if stored:
        print(compare_stored(root, before=before, after=after, cases=cases))
        return ExitStatus.DONE
    selection = matching(cases, otherwise=SHORT)
    with open_workplace(
        root, "compare", release=release, machine=machine, committed=False
    ) as place:
        sides = side(place, before, release), side(place, after, release)
        check_room(place.configuration, tuple(each.environment for each in sides))
        print(f"before: {sides[0].name}\nafter:  {sides[1].name}", flush=True)
        chosen = list_cases(place, sides, selection)
        timed = [case for case in chosen if case.is_timed]
        compared = measure(place, sides, chosen if values or not timed else timed)
    print(f"\n{compare_report.report(compared, sides[0].name, sides[1].name)}")
    if compared.path is None:
        print("not stored: no commit names the working tree's changes")
    else:
        print(f"stored in {compared.path.relative_to(root)}")
    if compared.failed:
        return ExitStatus.SOME_CASES_FAILED
    ratios = compare_report.measured_ratios(compared)
    verdicts = [judged(verdict(ratio), ratio.unit) for ratio in ratios]
    verdicts += [
        judged(value_verdict(values) or Verdict.SAME, values.unit) for values in compared.values
    ]
    slower = Verdict.WORSE in verdicts
    return ExitStatus.SLOWER if slower and fail_if_slower else ExitStatus.DONE
