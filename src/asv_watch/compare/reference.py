"""Measures commits interleaved with the reference.

The reference is a commit with a release that asv.conf.json names. Because every commit is
measured interleaved with it, the state of the machine cancels in their ratio
(`asv_watch.judge.graph`). To replace it, name another one there, and compare the two, so
that ratios to either can be combined.
"""

from __future__ import annotations

from asv_watch.asv.selection import Selection
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.compare.measure import Compared, compare_missing
from asv_watch.engine.coverage import ReferenceCoverage, selected_cases
from asv_watch.engine.sides import Side, side
from asv_watch.engine.workplace import Workplace
from asv_watch.errors import WatchError
from asv_watch.records.measurements import read_comparisons


def reference_side(workplace: Workplace) -> Side:
    """Return the side that everything is measured against; asv.conf.json names one.

    Raises:
        WatchError: there is no such commit or release.
    """
    try:
        return side(workplace, workplace.declared.reference)
    except WatchError as error:
        raise WatchError(f'"reference" in asv.conf.json: {error}') from error


def measure_against_reference(
    workplace: Workplace, commit: str, environment: EnvironmentSpec, selection: Selection
) -> list[Compared]:
    """Measure the cases that a commit lacks in an environment, interleaved with the reference.

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
