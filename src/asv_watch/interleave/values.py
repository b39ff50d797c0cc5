"""Measures peak memory and exact counts on two sides, which need no interleaving."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from asv_watch import probes
from asv_watch.asv.commands import run_command
from asv_watch.asv.processes import CASES
from asv_watch.errors import PlaceError, WatchError
from asv_watch.interleave.cases import ValueCase
from asv_watch.interleave.sides import Side
from asv_watch.machine.room import check_machine
from asv_watch.records.comparisons import CaseValues, NoValue

_LONGEST_REASON = 2000
"""Characters: a C++ compiler that fails prints its whole command, and the code."""

_NO_VALUE = "the process ended before it gave a value (os._exit, sys.exit or SystemExit)"

Known = Mapping[str, float | NoValue]
"""Case to what is known of it on a side."""


def measure_values(
    sides: tuple[Side, Side],
    suites: Path,
    cases: Sequence[ValueCase],
    known: tuple[Known, Known] = ({}, {}),
) -> Iterator[CaseValues]:
    """Measure cases that time nothing, each in one process a side.

    Args:
        sides: before and after.
        suites: folder of the suites.
        cases: what to measure.
        known: what was measured before of each side's version.

    Yields:
        Each case with its values, or with the reasons why it has none.

    Raises:
        PlaceError: the machine is to blame, such as for a full disk.
    """
    by_process: dict[str, list[ValueCase]] = defaultdict(list)
    for case in cases:
        by_process[case.process].append(case)
    for together in by_process.values():
        measured = []
        for side, of_side in zip(sides, known, strict=True):
            missing = [case for case in together if case.name not in of_side]
            answers = _ask(side, suites, missing) if missing else []
            new = {
                case.name: _value(side, answer)
                for case, answer in zip(missing, answers, strict=True)
            }
            measured.append({**of_side, **new})
        for case in together:
            before, after = (of_side[case.name] for of_side in measured)
            yield CaseValues(
                case.name,
                int(time.time()),
                case.unit,
                exact=case.exact,
                before=before,
                after=after,
            )


def _value(side: Side, answer: dict[str, Any]) -> float | NoValue:
    if "value" in answer:
        return float(answer["value"])
    reasons = {
        name: str(reason)
        .replace(str(side.environment.folder), "the environment")
        .replace(str(side.source), "the package")[:_LONGEST_REASON]
        for name, reason in answer.items()
    }
    return msgspec.convert(reasons, NoValue)


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
        except PlaceError:
            raise
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
