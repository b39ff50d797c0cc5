"""The two files beside a result file: what was measured, and records of runs.

``….measured.jsonl`` holds what the engine measured of this commit in this environment, alone or
as the newer commit of a night's comparison (`asv_watch.comparison`), and asv's file is
written from it. The newest line of a case counts. Runs before 2026-11-27 stored their numbers in
asv's file alone, so their lines have none: they say when a case ran, and why a value is missing.

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

from asv_watch.comparison import Comparison, Sitting, Time
from asv_watch.records.json_lines import read_lines
from asv_watch.records.records import Problem, Record

MEASURED, RECORDS = ".measured.jsonl", ".environment.jsonl"
"""Endings of their names, instead of ``.json``."""

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


_SITTING, _CASE = msgspec.json.Decoder(Sitting), msgspec.json.Decoder(Comparison)


def read_measured(
    path: Path, machine: str = "", commit: str = ""
) -> tuple[dict[str, Comparison], list[Problem]]:
    """Read the newest line of each case in the record of a result file, by name.

    Where branches were merged, the newest line need not be the last one.

    Args:
        path: The file.
        machine: The machine that its first lines should name; any if empty.
        commit: The commit that they should name; any if empty.

    Returns:
        The cases, and a problem for each damaged line, which is left out. If a first line names
        another machine or commit, there are no cases, and a problem for the file.
    """
    records, problems = read_lines(path, _decode_measured, "case")
    cases: dict[str, Comparison] = {}
    for number, record in records:
        if isinstance(record, Sitting):
            measured = record.machine, record.versions[0].commit
            wanted = machine or record.machine, commit or record.versions[0].commit
            if measured != wanted:
                message = "line {} names machine {!r} and commit {}, not {!r} and {}"
                in_words = message.format(number, *measured, *wanted)
                return {}, [*problems, Problem(str(path), f"{in_words}; the file was left out")]
        elif record.case not in cases or record.at >= cases[record.case].at:
            cases[record.case] = record
    return cases, problems


def _decode_measured(line: bytes) -> Comparison | Sitting:
    """Decode a case of a single version, or the first line of its sitting."""
    if b'"kind"' in line:
        sitting = _SITTING.decode(line)
        if len(sitting.versions) != 1:
            raise msgspec.ValidationError("it is a comparison")
        return sitting
    case = _CASE.decode(line)
    if any(len(numbers) != 1 for numbers in (*case.rounds, *case.wall, *case.cpu)):
        raise msgspec.ValidationError("a round does not have one number")
    return case


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
