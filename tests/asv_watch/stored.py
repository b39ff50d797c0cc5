"""Result files and lists of benchmarks as asv stores them, of a few cases with known values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from asv.results import get_filename

ENVIRONMENT = "existing-py3.11"
TIME_A: dict[str, Any] = {
    "name": "s.time_a",
    "param_names": ["n"],
    "params": [["1", "2"]],
    "type": "time",
    "unit": "seconds",
    "version": "1",
    "code": "",
}
"""A benchmark with two cases."""
TRACK_WORDS = TIME_A | {
    "name": "s.track_words",
    "param_names": [],
    "params": [],
    "type": "track",
    "unit": "words",
}


def store_benchmarks(results: Path, *benchmarks: dict[str, Any], machine: str = "m") -> None:
    """Write the list of benchmarks, and what describes a machine."""
    (results / machine).mkdir(parents=True, exist_ok=True)
    described = json.dumps({"machine": machine, "version": 1})
    (results / machine / "machine.json").write_text(described)
    listed = {benchmark["name"]: benchmark for benchmark in benchmarks}
    (results / "benchmarks.json").write_text(json.dumps({"version": 2, **listed}))


def result_content(
    commit: str, rows: dict[str, list[Any]], machine: str = "m", **changes: Any
) -> dict[str, Any]:
    """The content of a result file.

    Args:
        commit: full hash.
        rows: name of a benchmark to values, parameters, version and, where they are known, both
            ends of the intervals.
        machine: where they were measured.
        changes: keys that are replaced or added.
    """
    content = {
        "version": 2,
        "commit_hash": commit,
        "date": 1000,
        "durations": {},
        "env_vars": {},
        "python": "3.11",
        "env_name": ENVIRONMENT,
        "params": {"machine": machine},
        "requirements": {},
        "result_columns": ["result", "params", "version", "stats_ci_99_a", "stats_ci_99_b"],
        "results": rows,
    }
    return content | changes


def store_result(results: Path, content: dict[str, Any]) -> Path:
    """Write a result file under the name that asv gives it."""
    names = content["params"]["machine"], content["commit_hash"], content["env_name"]
    path: Path = results / get_filename(*names)
    path.write_text(json.dumps(content))
    return path


def timed(*seconds: float, half: float = 0.02) -> list[Any]:
    """The row of `TIME_A`, whose intervals have a half-width as a share of each time."""
    low, high = ([time * end for time in seconds] for end in (1 - half, 1 + half))
    return [list(seconds), TIME_A["params"], "1", low, high]
