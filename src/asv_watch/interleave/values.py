"""Measures cases on two sides, also those that time nothing: peak memory and tracked values.

A round of such a case is one process of each side, so peak memory gets a ratio with its interval
as times do. Three rounds suffice for a case that does not differ; a difference rests on five or
more. A tracked value that both processes of each side repeat is compared by equality, as are exact
counts.
"""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from asv_watch import probes
from asv_watch.asv.commands import run_command
from asv_watch.asv.processes import CASES
from asv_watch.errors import WatchError
from asv_watch.interleave.cases import MeasurableCase, ValueCase
from asv_watch.interleave.processes import TimedCase
from asv_watch.interleave.rounds import Keep, RoundsOfCases, Sampling, measure_interleaved
from asv_watch.interleave.sides import Side
from asv_watch.machine.room import check_machine
from asv_watch.records.comparisons import CaseResult, CaseValues, NoValue, Unmeasured

_LONGEST_REASON = 2000
"""Characters: a C++ compiler that fails prints its whole command, and the code."""
_FEWEST_ROUNDS = 3
_ALIKE = 2
"""Rounds in which each side repeats its value, after which a tracked value counts as exact."""

_NO_VALUE = "the process ended before it gave a value (os._exit, sys.exit or SystemExit)"


def _measure_once(
    sides: tuple[Side, Side], suites: Path, cases: Sequence[ValueCase]
) -> Iterator[CaseValues]:
    """Measure cases that time nothing, each in one process a side.

    Yields:
        Each case with its values, or with the reasons why it has none.

    Raises:
        MachineError: the machine is to blame, such as for a full disk.
    """
    by_process: dict[str, list[ValueCase]] = defaultdict(list)
    for case in cases:
        by_process[case.process].append(case)
    for together in by_process.values():
        measured = [
            [_value(side, answer) for answer in _ask(side, suites, together)] for side in sides
        ]
        for case, before, after in zip(together, *measured, strict=True):
            yield CaseValues(
                case.name,
                int(time.time()),
                case.unit,
                exact=case.exact,
                before=before,
                after=after,
            )


def measure_cases(
    sides: tuple[Side, Side],
    suites: Path,
    cases: Sequence[MeasurableCase],
    keep: Keep,
    sampling: Sampling,
) -> list[CaseResult]:
    """Measure cases interleaved, those that time something first."""
    timed = [case for case in cases if isinstance(case, TimedCase)]
    others = [case for case in cases if isinstance(case, ValueCase)]
    results = measure_interleaved(sides, suites, timed, keep, sampling) if timed else []
    return results + measure_repeatedly(sides, suites, others, keep, sampling)


def measure_repeatedly(
    sides: tuple[Side, Side],
    suites: Path,
    cases: Sequence[ValueCase],
    keep: Keep,
    sampling: Sampling,
) -> list[CaseResult]:
    """Measure cases that time nothing, round after round, until each ratio is known.

    Returns:
        The cases in the order in which they were finished.
    """
    sampling = dataclasses.replace(sampling, fewest_rounds=_FEWEST_ROUNDS)
    comparison = RoundsOfCases(cases, sampling, keep)
    first: dict[str, CaseValues] = {}
    by_name = {case.name: case for case in cases}
    number = 0
    with comparison.keeping():
        while comparison.open:
            number += 1
            for values in _measure_once(sides, suites, list(comparison.open)):
                case = by_name[values.case]
                message = _add(
                    comparison, case, values, first.setdefault(case.name, values), number
                )
                print(f"round {number}: {case.name}  {message}", flush=True)
            comparison.close_known()
    return comparison.results


def _add(
    comparison: RoundsOfCases[ValueCase],
    case: ValueCase,
    values: CaseValues,
    first: CaseValues,
    number: int,
) -> str:
    """Add a round of a case, or close it where more would tell nothing; return it in words."""
    for side in (values.before, values.after):
        if isinstance(side, NoValue):
            on_before = side is values.before and bool(side.failed)
            comparison.close(
                case, Unmeasured(case.name, values.at, side.skipped, side.failed, on_before)
            )
            return f"skipped: {side.skipped}" if side.skipped else f"failed: {side.failed}"
    assert isinstance(values.before, float) and isinstance(values.after, float)  # noqa: PT018, S101
    repeats = (values.before, values.after) == (first.before, first.after)
    is_exact = case.exact or (number == _ALIKE and repeats and not case.is_peak)
    has_ratio = min(values.before, values.after) > 0
    if not has_ratio and number < _ALIKE and not is_exact:
        return "zero or below"
    if is_exact or not has_ratio:
        comparison.close(case, msgspec.structs.replace(values, exact=is_exact))
        return "same" if values.before == values.after else "differs"
    return comparison.add(case, ((values.before,), (values.after,)))


def _value(side: Side, answer: dict[str, Any]) -> float | NoValue:
    if "value" in answer:
        return float(answer["value"])
    [(outcome, told)] = answer.items()
    reason = (
        str(told)
        .replace(str(side.environment.folder), "the environment")
        .replace(str(side.source), "the package")[:_LONGEST_REASON]
    )
    return (
        NoValue(skipped=reason)
        if outcome == "skipped"
        else NoValue(failed=f"{side.name}: {reason}")
    )


def _ask(side: Side, suites: Path, cases: Sequence[ValueCase]) -> list[dict[str, Any]]:
    """Measure cases in one process, or each in its own where that crashed or took too long."""
    environment = os.environ | dict(side.environment.variables) | {"PYTHONPATH": str(side.source)}
    command = [str(side.python), "-P", str(probes.VALUES), str(suites)]
    timeout = max(case.timeout for case in cases)
    selected: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for case in cases:
        if case.parameters not in selected[case.suite]:
            selected[case.suite].append(case.parameters)
    with tempfile.TemporaryDirectory(prefix="asv-watch-") as folder:  # for a `setup_cache`
        Path(folder, CASES).write_text(json.dumps(selected), encoding="utf-8")
        printed, reason = "", _NO_VALUE
        try:
            printed = run_command(
                [*command, *(case.identity for case in cases)],
                timeout,
                cwd=folder,
                env=environment,
            )
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
    return [answer for case in cases for answer in _ask(side, suites, [case])]
