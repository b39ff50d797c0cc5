"""Compares peak memory and tracked values in repeated processes.

A value that every process of a side repeats is compared by equality. Any other is measured by five
processes of each side in turn, and differs where the two ranges do not overlap, which happens by
chance in 0.8 % of cases, and the medians are `MINIMUM_EFFECT` apart.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from asv_watch.interleave.cases import ValueCase
from asv_watch.interleave.sides import Side
from asv_watch.interleave.values import measure_values
from asv_watch.markdown import table
from asv_watch.quantities import quantity
from asv_watch.records.comparisons import CaseValues, NoValue
from asv_watch.statistics.rule import MINIMUM_EFFECT, Verdict

_PROCESSES = 5
"""Of each side: as many more would be needed to tell a smaller difference."""
_ALIKE = 2
"""Processes that give the same value, after which a value counts as exact."""
_WORDS = {Verdict.WORSE: "more", Verdict.BETTER: "less", Verdict.SAME: "same"}


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """One case, from several processes of each side."""

    case: str
    unit: str
    before: tuple[float, ...]
    after: tuple[float, ...]
    last: CaseValues
    """The last measurement; it holds the reason where a side has no value."""

    @property
    def is_exact(self) -> bool:
        """Whether each side repeats its value."""
        return len(set(self.before)) == len(set(self.after)) == 1

    @property
    def has_failed(self) -> bool:
        """Whether it failed on a side."""
        sides = (self.last.before, self.last.after)
        return any(isinstance(side, NoValue) and bool(side.failed) for side in sides)

    @property
    def stored(self) -> CaseValues:
        """The medians, as a comparison stores them."""
        if not (self.before and self.after):
            return self.last
        return msgspec.structs.replace(
            self.last,
            exact=self.is_exact,
            before=statistics.median(self.before),
            after=statistics.median(self.after),
        )

    @property
    def verdict(self) -> Verdict:
        """Whether after has more than before (`WORSE`), less (`BETTER`), or neither."""
        if not (self.before and self.after):
            return Verdict.SAME
        before, after = statistics.median(self.before), statistics.median(self.after)
        if not self.is_exact:
            apart = max(self.before) < min(self.after) or max(self.after) < min(self.before)
            if not apart or abs(after - before) < MINIMUM_EFFECT * abs(before):
                return Verdict.SAME
        if before == after:
            return Verdict.SAME
        return Verdict.WORSE if after > before else Verdict.BETTER


def compare_values(
    sides: tuple[Side, Side], suites: Path, cases: Sequence[ValueCase]
) -> Iterator[ComparedValue]:
    """Measure cases that time nothing on both sides, and print each round.

    Args:
        sides: before and after.
        suites: folder of the suites.
        cases: what to measure.
    """
    rounds: dict[str, list[CaseValues]] = defaultdict(list)
    waiting = list(cases)
    for number in range(1, _PROCESSES + 1):
        for result in measure_values(sides, suites, waiting):
            rounds[result.case].append(result)
            print(f"process {number} of each side: {result.case}", flush=True)
        waiting = [case for case in waiting if not _is_finished(case, rounds[case.name])]
    for case in cases:
        yield _compared(rounds[case.name])


def report_values(values: Sequence[ComparedValue]) -> str:
    """Return the table of the cases, differences first, and the rule."""
    rows = sorted(values, key=lambda value: value.verdict is Verdict.SAME)
    head = ("case", "before", "after", "processes", "verdict")
    return "\n\n".join(
        (
            table(head, [_row(value) for value in rows]),
            "A value that all processes of a side repeat is compared by equality. Any other "
            f"differs where the ranges of {_PROCESSES} processes a side do not overlap and the "
            f"medians are {MINIMUM_EFFECT:.1%} or more apart.",
        )
    )


def _is_finished(case: ValueCase, results: Sequence[CaseValues]) -> bool:
    compared = _compared(results)
    if case.exact or len(compared.before) < len(results) or len(compared.after) < len(results):
        return True
    return len(results) >= _ALIKE and compared.is_exact


def _compared(results: Sequence[CaseValues]) -> ComparedValue:
    before, after = (
        tuple(value for value in side if isinstance(value, float | int))
        for side in zip(*((result.before, result.after) for result in results), strict=True)
    )
    last = results[-1]
    return ComparedValue(last.case, last.unit, before, after, last)


def _row(value: ComparedValue) -> tuple[str, ...]:
    reasons = [
        side.failed or side.skipped
        for side in (value.last.before, value.last.after)
        if isinstance(side, NoValue)
    ]
    stored = value.stored
    cells = [
        quantity(side, value.unit) if isinstance(side, float | int) else ""
        for side in (stored.before, stored.after)
    ]
    processes = str(max(len(value.before), len(value.after)))
    return (f"`{value.case}`", *cells, processes, reasons[0] if reasons else _WORDS[value.verdict])
