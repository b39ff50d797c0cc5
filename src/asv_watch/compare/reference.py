"""Measures commits interleaved with the reference, and renews the reference.

The reference is a commit with a release that asv.conf.json names. Because every commit is
measured interleaved with it, the state of the machine cancels in their ratio
(`asv_watch.judge.measured_pairs`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from asv_watch.asv.selection import EVERYTHING, SHORT, Selection, matching
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.bench.coverage import ReferenceCoverage, selected_cases
from asv_watch.checkout.workplace import Workplace, open_workplace
from asv_watch.compare.measure import Compared, compare, compare_missing
from asv_watch.compare.report import summary
from asv_watch.errors import WatchError
from asv_watch.exit_status import ExitStatus
from asv_watch.interleave.cases import list_cases
from asv_watch.interleave.sides import Side, side
from asv_watch.options import Cases, Full, Machine, Release
from asv_watch.records.comparisons import read_comparisons

_ENTRY = re.compile(r'("reference"\s*:\s*)"[^"]*"')


def reference(
    *,
    commit: Annotated[str, typer.Option(help="The commit to measure.")] = "HEAD",
    renew: Annotated[
        str,
        typer.Option(
            metavar="COMMIT@RELEASE",
            help="Measure a new reference against the old one, and name it in asv.conf.json.",
        ),
    ] = "",
    full: Full = False,
    cases: Cases = "",
    release: Release = "newest",
    machine: Machine = "",
) -> ExitStatus:
    """Measure what is missing of a commit, interleaved with the reference; or renew that.

    Raises:
        WatchError: there is no reference, or nothing could be measured.
    """
    root = Path.cwd()
    selection = matching(cases, otherwise=EVERYTHING if full else SHORT).only_times()
    compared: list[Compared] = []
    errors: list[WatchError] = []
    with open_workplace(root, "reference", release=release, machine=machine) as place:
        if renew:
            compared = [_renew(place, renew, selection)]
        for environment in () if renew else place.environments:
            try:
                compared += measure_against_reference(place, commit, environment, selection)
            except WatchError as error:  # one release must not stop the others
                errors.append(error)
    if errors and not compared:
        raise errors[0]
    for problem in errors:
        print(problem)
    for result in compared:
        print(summary(result.ratios))
        if result.path is not None:
            print(f"  stored in {result.path.relative_to(root)}")
    if renew:
        print(f"asv.conf.json names {renew} now; commit it together with the results")
    elif not compared:
        print("nothing was missing")
    failed = errors or any(result.failed for result in compared)
    return ExitStatus.SOME_CASES_FAILED if failed else ExitStatus.DONE


def reference_side(place: Workplace) -> Side:
    """Return the side that everything is measured against.

    Raises:
        WatchError: asv.conf.json names none, or none that exists.
    """
    name = place.declared.reference
    if not name:
        raise WatchError(
            'asv.conf.json names no reference; add a line such as "reference": "COMMIT@RELEASE", '
            "with a commit and a release that will stay available"
        )
    try:
        return side(place, name)
    except WatchError as error:
        raise WatchError(f'"reference" in asv.conf.json: {error}') from error


def measure_against_reference(
    place: Workplace, commit: str, environment: EnvironmentSpec, selection: Selection
) -> list[Compared]:
    """Measure what is missing of a commit in an environment, interleaved with the reference.

    A case that has a stored ratio for the same reference, commit, environment and machine is not
    measured again, and neither is one that was skipped. An interrupt keeps the finished cases.

    Returns:
        The comparison, if anything was missing.

    Raises:
        WatchError: there is no reference, no such commit, or no case ran.
    """
    old, new = reference_side(place), side(place, commit, environment.version)
    assert old.version is not None  # noqa: S101 - it is no working tree
    results = place.configuration.results
    comparisons, _ = read_comparisons(results, place.machine)
    selected = selected_cases(results, place.machine, selection)
    coverage = ReferenceCoverage(comparisons, old.version, selected)
    known = coverage.measured(new.version) if new.version is not None else ()
    return compare_missing(place, (old, new), selection, known, "reference")


def _renew(place: Workplace, target: str, selection: Selection) -> Compared:
    """Measure a new reference against the old one, then name it in asv.conf.json.

    The comparison links the series before and after. A case that has no ratio in it starts a
    new series.

    Raises:
        WatchError: there is no old reference or no such target, they are the same, a case
            failed (asv.conf.json then stays as it was), or asv.conf.json cannot be changed.
    """
    old, new = reference_side(place), side(place, target)
    if old.version is None or new.version is None:
        raise WatchError("a reference is a commit; commit the changes of src/ first")
    if old.version == new.version:
        raise WatchError(f"{new.name} is the reference already")
    path = place.root / "asv.conf.json"
    entry = f'"{new.version.commit}@{new.environment.version}"'
    changed, count = _ENTRY.subn(
        lambda match: match.group(1) + entry, path.read_text(encoding="utf-8")
    )
    if count != 1:
        raise WatchError(
            f'asv.conf.json has {count} entries "reference": "COMMIT@RELEASE"; leave exactly one'
        )
    cases = list_cases(place, [old.environment, new.environment], selection, old.version.commit)
    compared = compare(place, (old, new), cases, "reference")
    if compared.failed:
        raise WatchError(
            "a case failed, so its series could not be linked; the reference stays as it was"
        )
    path.write_text(changed, encoding="utf-8")
    return compared
