"""The two files beside a result file: what was measured, and records of runs.

``….measured.jsonl`` holds what the engine measured of this commit in this environment, alone or
as the newer commit of a night's comparison (`asv_watch.records.measurements`), and asv's file is
written from it. The newest line of a case counts. Runs before 2026-11-27 stored their numbers in
asv's file alone. It does not say why a number is missing, so they have an ``….outcomes.jsonl``,
of which each line is a `Report` with the reason.

A line of ``….environment.jsonl`` is one run: ``at`` (seconds since the epoch), the facts of the
``machine`` and of the ``environment``, each text by name, and the machine's state ``before`` and
``after``. What else a line holds, such as long ``details``, is for people who open the file. A run
writes a line when it has stored its first case and, as the state ``after`` is known then, another
one when it ends; of two lines with the same ``at`` the last one counts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from asv_watch.records.json_lines import read_lines
from asv_watch.records.measurements import MeasuredCase
from asv_watch.records.records import Outcome, Problem, Record, Time

MEASURED, OUTCOMES, RECORDS = ".measured.jsonl", ".outcomes.jsonl", ".environment.jsonl"
"""Endings of their names, instead of ``.json``."""


class Report(msgspec.Struct, frozen=True, omit_defaults=True):
    """The outcome of one case in one run."""

    case: str
    outcome: Outcome
    reason: str = ""
    at: Time | None = None
    """When the last round ended; ``None`` if unknown."""
    rounds: int = 0
    """Rounds that the engine measured: the stored value is the median of their numbers."""
    value: float | None = None
    """The value, if the record holds it."""
    version: str = ""
    """Version of its benchmark as asv stores it; empty if it was not recorded."""


_REPORT = msgspec.json.Decoder(Report)


def read_outcomes(path: Path) -> tuple[dict[str, Report], list[Problem]]:
    """Read the last report of each case by name, and a problem for each bad line."""
    lines, problems = read_lines(path, _REPORT.decode, "outcome of a case")
    return {report.case: report for _, report in lines}, problems


def report_of(case: MeasuredCase) -> Report:
    """Return the outcome of a case that was measured of a single version."""
    outcome, reason = case.outcome(0)
    return Report(
        case.case,
        outcome,
        reason,
        at=case.at,
        rounds=len(case.numbers(0)),
        value=case.value(0),
        version=case.benchmark_version,
    )


PROCESSES = "processes"
"""The fact of the environment that says how the cases of a run were started."""
FORKED, NOT_FORKED = "forked where they time something", "each starts its own Python"
"""Values of `PROCESSES`; runs before it was recorded have the second one."""


class _Line(msgspec.Struct):
    at: Time
    machine: dict[str, str]
    environment: dict[str, str]
    before: Any = None
    after: Any = None


_LINE = msgspec.json.Decoder(_Line)


def read_records(path: Path) -> tuple[tuple[Record, ...], list[Problem]]:
    """Read the records of a result file, oldest first, and a problem for each bad line."""
    lines, problems = read_lines(path, _LINE.decode, "record of a run")
    records = {
        line.at: Record(
            line.at,
            line.machine,
            {PROCESSES: NOT_FORKED} | line.environment,
            _flat(line.before),
            _flat(line.after),
        )
        for _, line in lines
    }
    return tuple(records[began_at] for began_at in sorted(records)), problems


def _flat(state: Any, name: str = "") -> dict[str, str]:
    """Flatten a state: ``{"gpus": [{"celsius": 41}]}`` gives ``gpus 0 celsius: 41``."""
    if isinstance(state, dict):
        members = [(str(key), value) for key, value in state.items()]
    elif isinstance(state, list) and any(isinstance(value, dict) for value in state):
        members = [(str(key), value) for key, value in enumerate(state)]
    elif isinstance(state, list):
        return {name: ", ".join(map(str, state))}
    else:
        return {} if state is None else {name: str(state)}
    flat: dict[str, str] = {}
    for key, value in members:
        flat |= _flat(value, f"{name} {key}".strip())
    return flat
