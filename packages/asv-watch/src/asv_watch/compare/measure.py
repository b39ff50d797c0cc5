"""Measures versions interleaved, case by case, and stores the result."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from asv_watch.asv.selection import Selection
from asv_watch.comparison import Comparison, Conditions, Kind, Outcome, Ratio, Sitting
from asv_watch.engine.cases import MeasurableCase, Measures, choose_cases, list_benchmarks
from asv_watch.engine.measuring import find_unfinished
from asv_watch.engine.processes import recipe_of_samples
from asv_watch.engine.rounds import DEFAULT, Sampling
from asv_watch.engine.runs import conditions_of, exported
from asv_watch.engine.sides import Side
from asv_watch.engine.workplace import Workplace
from asv_watch.errors import WatchError
from asv_watch.machine.budget import Budget, run_within
from asv_watch.machine.facts import machine_state
from asv_watch.records.store import SittingWriter, read_sitting
from asv_watch.statistics.ratio import ESTIMATE
from asv_watch.text import quantities


@dataclass(frozen=True, slots=True)
class Compared:
    """The result of a measurement, as a comparison of two of its versions."""

    cases: tuple[Comparison, ...]
    before: int
    """Index of a version."""
    after: int
    record: Path | None
    """File of the record; ``None`` if a side is not committed, so that nothing is stored."""

    @property
    def ratios(self) -> list[Ratio]:
        """The ratios of this sitting alone."""
        ratios = (case.ratio(self.before, self.after) for case in self.cases)
        return [ratio for ratio in ratios if ratio is not None]

    @property
    def failures(self) -> dict[str, str]:
        """Maps each case that failed on a side to the reason."""
        return self._without_ratio(Outcome.FAILED, Outcome.TIMED_OUT)

    @property
    def skipped(self) -> dict[str, str]:
        """Maps each other case without a ratio to the reason."""
        return self._without_ratio(Outcome.SKIPPED)

    def _without_ratio(self, *wanted: Outcome) -> dict[str, str]:
        reasons = {
            case.case: case.why_no_ratio(self.before, self.after)
            for case in self.cases
            if case.ratio(self.before, self.after) is None
        }
        return {case: reason for case, (outcome, reason) in reasons.items() if outcome in wanted}

    def between(self, before: int, after: int) -> Compared:
        """Return the comparison of two versions, by index.

        Raises:
            WatchError: no case ran on both.
        """
        compared = dataclasses.replace(self, before=before, after=after)
        if self.cases and not compared.ratios:
            _, reason = self.cases[0].why_no_ratio(before, after)
            raise WatchError(f"no case ran on both sides ({reason})")
        return compared


def measure(
    workplace: Workplace,
    sides: Sequence[Side],
    cases: Sequence[MeasurableCase],
    kind: Kind | None = None,
    sampling: Sampling = DEFAULT,
    extra: Sequence[Comparison] = (),
    budget: Budget | None = None,
    conditions: Conditions | None = None,
) -> Compared:
    """Measure sides interleaved, first times and then other values; store each finished case.

    An interrupted measurement continues with the rounds that it had stored, and so does one whose
    time was over. A working tree is recognised by its content.

    Args:
        workplace: the checkout, whose suites measure all sides.
        sides: the versions; each is compared with the next.
        cases: what to measure.
        kind: why they are compared; by default it follows from what differs between the sides.
        sampling: how many rounds a case gets.
        extra: results of the same comparison that no suite measures; stored first.
        budget: time limit; when it is over, the finished cases are returned, and what the rounds
            tell so far of others.
        conditions: of the last version, if this is also a run of it.

    Returns:
        The first version against the last.
    """
    sitting = _sitting(workplace, sides, kind, sampling, conditions)
    results = workplace.configuration.results
    unfinished = find_unfinished(workplace, sides, sitting.kind if sitting else "compare")
    writer, finished = None, dict[str, Comparison]()
    if sitting is not None:
        sitting = unfinished.continued(sitting)
        writer, finished = SittingWriter(results, sitting), read_sitting(results, sitting)
    elif all(side.version for side in sides):
        unfinished.forget()  # something else may be installed for the interpreters by now
    measured: list[Comparison] = []

    def store(result: Comparison) -> None:
        if writer is not None:
            writer.add(result)
        measured.append(result)

    known = [finished[case.name] for case in cases if case.name in finished]
    for result in extra:
        if result.case not in finished:
            store(result)
    missing = [case for case in cases if case.name not in finished]
    run_within(budget, partial(unfinished.measure, missing, store, sampling, budget))
    done = {result.case for result in measured}
    so_far = unfinished.so_far([case for case in missing if case.name not in done], sampling)
    if writer is not None:
        writer.end(machine_state() if conditions else None)
    old = [result for result in extra if result.case in finished]
    cases_so_far = *old, *known, *measured, *so_far
    return Compared(cases_so_far, 0, len(sides) - 1, writer.path if writer else None)


def compare_missing(
    workplace: Workplace,
    sides: tuple[Side, Side],
    selection: Selection,
    known: Collection[str],
    kind: Kind,
    *wanted: Measures,
) -> list[Compared]:
    """Compare two commits in the cases of the wanted kinds that are not known yet.

    It is also a run of the commit after. An interrupt keeps the finished cases.

    Returns:
        The comparison, if anything was missing.

    Raises:
        WatchError: a side is not committed, or no case ran.
    """
    old, new = sides
    if old.version is None:
        raise WatchError(f"{old.name} is not committed, so its comparison cannot be stored")
    benchmarks = list_benchmarks(workplace, (new, old)).benchmarks
    cases = choose_cases(benchmarks, selection, workplace.declared, *wanted)
    missing = [case for case in cases if case.name not in known]
    if not missing or old.version == new.version:
        return []
    print(
        f"{new.name}\n  against {old.name}: {quantities.counted(len(missing), 'case')}", flush=True
    )
    assert new.version is not None  # noqa: S101 - it is a commit
    with exported(workplace, new, new.version, benchmarks):
        conditions = conditions_of(workplace, new)
        measured = measure(workplace, sides, missing, kind, conditions=conditions)
    return [measured.between(0, 1)]


def _sitting(
    workplace: Workplace,
    sides: Sequence[Side],
    kind: Kind | None,
    sampling: Sampling,
    conditions: Conditions | None,
) -> Sitting | None:
    """Describe a measurement; ``None`` if a side has no version, so that it is not stored.

    Sides that are not committed have none, and neither do interpreters with the same releases.
    """
    versions = tuple(side.version for side in sides if side.version is not None)
    has_one_name = len(set(versions)) == 1 < len({side.python for side in sides})
    if len(versions) < len(sides) or has_one_name:
        return None
    planted = sides[-1].planted
    if planted:
        kind = "planted"
    elif any(side.other_cases for side in sides):
        kind = "cases"
    elif kind is None:
        commits = {version.commit for version in versions}
        kind = "release" if len(commits) == 1 else "compare"
        kind = "null" if len(set(versions)) == 1 else kind
    recipe = dataclasses.asdict(sampling)
    del recipe["usual_spread"]  # of the machine today, so no two comparisons would have one recipe
    del recipe["all_sides"]  # says nothing about a case that was measured
    if not sampling.change_if_busy:
        del recipe["change_if_busy"]  # as in all comparisons that were stored before it existed
    return Sitting(
        kind=kind,
        at=int(time.time()),
        machine=workplace.machine,
        versions=versions,
        conditions=conditions,
        recipe={
            **recipe,
            **recipe_of_samples(sides),
            "estimate": ESTIMATE,
            **({"planted": planted} if planted else {}),
        },
    )
