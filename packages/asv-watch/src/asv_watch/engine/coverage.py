"""Which commits are measured completely, both alone and against the reference."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from asv_watch.asv.selection import Selection, cases_of
from asv_watch.comparison import Comparison, Outcome
from asv_watch.records.history import History
from asv_watch.records.records import case_name
from asv_watch.records.suite_lists import read_machine_list
from asv_watch.versions.releases import Release
from asv_watch.versions.version import Version


class Coverage:
    """The stored results of one machine: a value or a reason for each case of today's suites."""

    def __init__(
        self, results: Path, history: History | None, machine: str, selection: Selection
    ) -> None:
        self._finished: defaultdict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
        """Maps commit and environment to the wanted cases, and whether each is finished."""
        wanted = selected_cases(results, machine, selection)
        for series in history.series if history is not None else ():
            case = series.case.name
            if series.machine == machine and case in wanted:
                for commit, run in series.runs.items():
                    cases = self._finished[commit, series.environment]
                    cases[case] = run.outcome is not Outcome.NEVER_RUN

    def is_complete(self, commit: str, environment: str) -> bool:
        """Tell whether every case was measured, skipped, or failed with a reason."""
        cases = self._finished.get((commit, environment), {})
        return bool(cases) and all(cases.values())

    def is_begun(self, commit: str, environment: str) -> bool:
        """Tell whether any case was measured, skipped, or failed with a reason."""
        return any(self._finished.get((commit, environment), {}).values())

    def has(self, environment: str) -> bool:
        """Tell whether anything was ever measured in an environment."""
        return any(stored == environment for _, stored in self._finished)


class ReferenceCoverage:
    """The commits and releases that are measured completely against the reference."""

    def __init__(
        self, comparisons: Iterable[Comparison], reference: Version, selected: set[str]
    ) -> None:
        self._reference = (reference.commit, reference.release)
        self._cases: defaultdict[tuple[str, Release], set[str]] = defaultdict(set)
        """Maps commit and release to the cases that were measured or skipped."""
        for comparison in comparisons:
            sitting = comparison.sitting
            if (sitting.kind, sitting.versions[0]) == ("reference", reference):
                after = sitting.versions[-1]
                if not comparison.failed:
                    self._cases[after.commit, after.release].add(comparison.case)
        compared = set[str]().union(*self._cases.values())
        self._wanted = compared & selected

    def measured(self, commit: str, release: Release) -> set[str]:
        """Return the names of the cases that need no further measurement."""
        return self._cases.get((commit, release), set())

    def is_complete(self, commit: str, release: Release) -> bool:
        """Tell whether a commit has every selected case that any commit has.

        The reference itself always counts as complete.
        """
        cases = self.measured(commit, release)
        return (commit, release) == self._reference or (bool(cases) and cases >= self._wanted)


def selected_cases(results: Path, machine: str, selection: Selection) -> set[str]:
    """Name the selected cases of the machine's suites."""
    return {
        case_name(benchmark["name"], params)
        for benchmark in read_machine_list(results, machine).values()
        for params in cases_of(benchmark)
        if selection.includes(benchmark, params)
    }
