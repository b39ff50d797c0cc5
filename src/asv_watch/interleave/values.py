"""Measures cases on two sides, also those that time nothing: peak memory and tracked values.

A round of such a case is one process of each side, so peak memory gets a ratio with its interval
as times do. Three rounds suffice for a case that does not differ; a difference rests on five or
more. A tracked value that both processes of each side repeat is compared by equality, as are exact
counts.
"""

from __future__ import annotations

import dataclasses
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from asv_watch import probes
from asv_watch.asv.commands import run_command
from asv_watch.errors import WatchError
from asv_watch.interleave.cases import MeasurableCase
from asv_watch.interleave.rounds import Keep, RoundsOfCases, Sampling, measure_interleaved
from asv_watch.interleave.sides import Side
from asv_watch.machine.room import check_machine
from asv_watch.records.comparisons import CaseResult, CaseValues, Unmeasured

_LONGEST_REASON = 2000
"""Characters: a C++ compiler that fails prints its whole command, and the code."""
_FEWEST_ROUNDS = 3
_DIGITS = 12
"""Of a tracked value that is no integer: sums in another order differ behind these."""
_ALIKE = 2
"""Rounds in which each side repeats its value, after which a tracked value counts as exact."""

_NO_VALUE = "the process ended before it gave a value (os._exit, sys.exit or SystemExit)"

Values = tuple[float, float]
"""Of the side before and of the side after."""


def measure_cases(
    sides: tuple[Side, Side],
    cases: Sequence[MeasurableCase],
    keep: Keep,
    sampling: Sampling,
) -> list[CaseResult]:
    """Measure cases interleaved, those that time something first."""
    timed = [case for case in cases if case.is_timed]
    others = [case for case in cases if not case.is_timed]
    results = measure_interleaved(sides, timed, keep, sampling) if timed else []
    return results + measure_repeatedly(sides, others, keep, sampling)


def measure_repeatedly(
    sides: tuple[Side, Side],
    cases: Sequence[MeasurableCase],
    keep: Keep,
    sampling: Sampling,
) -> list[CaseResult]:
    """Measure cases that time nothing, round after round, until each ratio is known.

    Returns:
        The cases in the order in which they were finished.

    Raises:
        MachineError: the machine is to blame for a failure, such as for a full disk.
    """
    sampling = dataclasses.replace(sampling, fewest_rounds=_FEWEST_ROUNDS)
    comparison = RoundsOfCases(cases, sampling, keep)
    first: dict[MeasurableCase, Values] = {}
    number = 0
    with comparison.keeping():
        while comparison.open:
            number += 1
            for case, values in _measure_once(sides, list(comparison.open)):
                if isinstance(values, Unmeasured):
                    comparison.close(case, values)
                    message = (
                        f"skipped: {values.skipped}"
                        if values.skipped
                        else f"failed: {values.failed}"
                    )
                else:
                    message = _add(
                        comparison, case, values, first.setdefault(case, values), number
                    )
                print(f"round {number}: {case.name}  {message}", flush=True)
            comparison.close_known()
    return comparison.results


def _measure_once(
    sides: tuple[Side, Side], cases: Sequence[MeasurableCase]
) -> Iterator[tuple[MeasurableCase, Values | Unmeasured]]:
    """Yield each case with its values, or why it has none, from one process a side."""
    by_process: dict[str, list[MeasurableCase]] = defaultdict(list)
    for case in cases:
        by_process[case.process].append(case)
    for together in by_process.values():
        answers = [_ask(side, together) for side in sides]
        for case, *of_sides in zip(together, *answers, strict=True):
            missing = [index for index in (0, 1) if "value" not in of_sides[index]]
            if missing:
                yield case, _unmeasured(case, sides, missing[0], of_sides[missing[0]])
            else:
                before, after = (_rounded(float(answer["value"])) for answer in of_sides)
                yield case, (before, after)


def _rounded(value: float) -> float:
    return value if value.is_integer() else float(f"{value:.{_DIGITS}g}")


def _add(
    comparison: RoundsOfCases, case: MeasurableCase, values: Values, first: Values, number: int
) -> str:
    """Add a round of a case, or close it where more would tell nothing; return it in words."""
    repeats = number == _ALIKE and values == first and case.measures == "value"
    is_exact = case.measures == "count" or repeats
    has_ratio = min(values) > 0
    if not has_ratio and number < _ALIKE and not is_exact:
        return "zero or below"
    if is_exact or not has_ratio:
        before, after = values
        result = CaseValues(
            case.name, int(time.time()), case.unit, exact=is_exact, before=before, after=after
        )
        comparison.close(case, result)
        return "same" if before == after else "differs"
    return comparison.add(case, ((values[0],), (values[1],)))


def _unmeasured(
    case: MeasurableCase, sides: tuple[Side, Side], index: int, answer: dict[str, Any]
) -> Unmeasured:
    """Say why a case has no value on a side."""
    side = sides[index]
    [(outcome, told)] = answer.items()
    reason = (
        str(told)
        .replace(str(side.environment.folder), "the environment")
        .replace(str(side.source), "the package")[:_LONGEST_REASON]
    )
    if outcome == "skipped":
        return Unmeasured(case.name, int(time.time()), skipped=reason)
    return Unmeasured(
        case.name, int(time.time()), failed=f"{side.name}: {reason}", failed_before=index == 0
    )


def _ask(side: Side, cases: Sequence[MeasurableCase]) -> list[dict[str, Any]]:
    """Measure cases in one process, or each in its own where that crashed or took too long."""
    command = side.command(probes.VALUES, *(case.identity for case in cases))
    timeout = max(case.timeout for case in cases)
    with tempfile.TemporaryDirectory(prefix="asv-watch-") as folder:  # for a `setup_cache`
        printed, reason = "", _NO_VALUE
        try:
            printed = run_command(command, timeout, cwd=folder, env=side.variables)
        except WatchError as error:
            reason = str(error)
        answers = [json.loads(line) for line in printed.splitlines()]
        for answer in answers:
            if "failed" in answer:
                check_machine(f"{side.name}: {answer['failed']}", Path(folder))
    if len(answers) == len(cases):
        return answers
    if len(cases) == 1:
        return [{"failed": reason}]
    return [answer for case in cases for answer in _ask(side, [case])]
