"""What asv and the engine store, of a few cases with known values."""

import json
from pathlib import Path
from typing import Any

import msgspec
from asv.results import get_filename

from asv_watch.comparison import Comparison, Conditions, Sitting
from asv_watch.versions.version import Version

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


def store_benchmarks(results: Path, *benchmarks: dict[str, Any]) -> None:
    """Write the list of benchmarks, and what describes machine ``m``."""
    (results / "m").mkdir(parents=True, exist_ok=True)
    (results / "m/machine.json").write_text('{"machine": "m", "version": 1}')
    listed = {benchmark["name"]: benchmark for benchmark in benchmarks}
    (results / "benchmarks.json").write_text(json.dumps({"version": 2, **listed}))


def result_content(commit: str, rows: dict[str, list[Any]], **changes: Any) -> dict[str, Any]:
    """The content of a result file.

    Args:
        commit: full hash.
        rows: name of a benchmark to values, parameters, version and, where they are known, both
            ends of the intervals.
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
        "params": {"machine": "m"},
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


def store_run(
    results: Path,
    *cases: Comparison,
    commit: str,
    of_machine: str = "m",
    environment: str = ENVIRONMENT,
    at: int = 6,
    requirements: dict[str, str] | None = None,
    **described: Any,
) -> Path:
    """Store a run of a commit in the record, one that did not end; return the record's file.

    ``described`` are further fields of `Conditions`.
    """
    sitting = Sitting(
        kind="run",
        at=at,
        machine=of_machine,
        versions=(Version(commit, requirements or {}, "3.11"),),
        conditions=Conditions(environment=environment, **described),
    )
    path = results / of_machine / "2025-10.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as stream:
        stream.write(msgspec.json.Encoder().encode_lines([{"sitting": sitting}, *cases]))
    return path


def timed(*seconds: float) -> list[Any]:
    """The row of `TIME_A`, whose intervals have a half-width of 2 % of each time."""
    low, high = ([time * end for time in seconds] for end in (0.98, 1.02))
    return [list(seconds), TIME_A["params"], "1", low, high]
