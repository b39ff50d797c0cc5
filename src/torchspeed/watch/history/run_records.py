"""Where each run was measured: the ``.environment.jsonl`` beside a result file.

A line is one run: ``at`` (seconds since the epoch), the facts of the ``machine`` and of the
``environment``, each text by name, and the machine's state ``before`` and ``after``. What
else a line holds, such as long ``details``, is for people who open the file. A run writes a line
when it has stored its first case and, as the state ``after`` is known then, another one when it
ends; of two lines with the same ``at`` the last one counts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torchspeed.watch.history.json_lines import read_lines, seconds
from torchspeed.watch.history.records import Problem, Record

SUFFIX = ".environment.jsonl"


def read_records(path: Path) -> tuple[tuple[Record, ...], list[Problem]]:
    """Read the records of a result file, oldest first, and a problem for each bad line."""
    entries, problems = read_lines(path)
    records: dict[int, Record] = {}
    for number, entry in entries:
        record = _record(entry)
        if record is None:
            problems.append(
                Problem(str(path), f"line {number} is no record of a run; it was left out")
            )
        else:
            records[record.at] = record
    return tuple(records[at] for at in sorted(records)), problems


def _record(entry: Any) -> Record | None:
    if not isinstance(entry, dict):
        return None
    at = seconds(entry.get("at"))
    machine, environment = _facts(entry.get("machine")), _facts(entry.get("environment"))
    if at is None or machine is None or environment is None:
        return None
    return Record(
        at,
        machine,
        environment,
        before=_flat(entry.get("before")),
        after=_flat(entry.get("after")),
    )


def _facts(stored: Any) -> dict[str, str] | None:
    if isinstance(stored, dict) and all(isinstance(value, str) for value in stored.values()):
        return stored
    return None


def _flat(state: Any, name: str = "") -> dict[str, str]:
    """A state as text by name: ``{"gpus": [{"celsius": 41}]}`` gives ``gpus 0 celsius: 41``."""
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
