"""Measures commits interleaved with the reference.

The reference is a commit with a release that asv.conf.json names. Because every commit is
measured interleaved with it, the state of the machine cancels in their ratio
(`asv_watch.judge.graph`). To replace it, name another one there, and measure the old one
against it: both then have a ratio.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from asv_watch.asv.selection import EVERYTHING, SHORT, Selection, matching
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.compare.measure import Compared, compare_missing
from asv_watch.compare.report import measured_ratios, summary
from asv_watch.coverage import ReferenceCoverage, selected_cases
from asv_watch.engine.sides import Side, side
from asv_watch.errors import ExitStatus, WatchError
from asv_watch.options import Cases, Full, Machine, Release
from asv_watch.records.measurements import read_comparisons
from asv_watch.workplace import Workplace, open_workplace


def reference(
    *,
    commit: Annotated[str, typer.Option(help="The commit to measure.")] = "HEAD",
    full: Full = False,
    cases: Cases = "",
    release: Release = "newest",
    machine: Machine = "",
) -> ExitStatus:
    """Measure what is missing of a commit, interleaved with the reference.

    Raises:
        WatchError: there is no reference, or nothing could be measured.
    """
    root = Path.cwd()
    selection = matching(cases, otherwise=EVERYTHING if full else SHORT)
    compared: list[Compared] = []
    errors: list[WatchError] = []
    with open_workplace(root, "reference", release=release, machine=machine) as workplace:
        for environment in workplace.environments:
            try:
                compared += measure_against_reference(workplace, commit, environment, selection)
            except WatchError as error:  # one release must not stop the others
                errors.append(error)
    if errors and not compared:
        raise errors[0]
    for problem in errors:
        print(problem)
    for result in compared:
        print(summary(measured_ratios(result)))
        if result.path is not None:
            print(f"  stored in {result.path.relative_to(root)}")
    if not compared:
        print("nothing was missing")
    failed = errors or any(result.failed for result in compared)
    return ExitStatus.SOME_CASES_FAILED if failed else ExitStatus.DONE


def reference_side(workplace: Workplace) -> Side:
    """Return the side that everything is measured against.

    Raises:
        WatchError: asv.conf.json names none, or none that exists.
    """
    name = workplace.declared.reference
    if not name:
        raise WatchError(
            'asv.conf.json names no reference; add a line such as "reference": "COMMIT@RELEASE", '
            "with a commit and a release that will stay available"
        )
    try:
        return side(workplace, name)
    except WatchError as error:
        raise WatchError(f'"reference" in asv.conf.json: {error}') from error


def measure_against_reference(
    workplace: Workplace, commit: str, environment: EnvironmentSpec, selection: Selection
) -> list[Compared]:
    """Measure what is missing of a commit in an environment, interleaved with the reference.

    A case that has a stored ratio for the same reference, commit, environment and machine is not
    measured again, and neither is one that was skipped. An interrupt keeps the finished cases.

    Returns:
        The comparison, if anything was missing.

    Raises:
        WatchError: there is no reference, no such commit, or no case ran.
    """
    old, new = reference_side(workplace), side(workplace, commit, environment.version)
    assert old.version is not None  # noqa: S101 - it is no working tree
    results = workplace.configuration.results
    comparisons, _ = read_comparisons(results, workplace.machine)
    selected = selected_cases(results, workplace.machine, selection)
    coverage = ReferenceCoverage(comparisons, old.version, selected)
    known = coverage.measured(new.version) if new.version is not None else ()
    return compare_missing(workplace, (old, new), selection, known, "reference", "time")
