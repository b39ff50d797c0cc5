"""What the engine stores: of a few cases with known values, and of a project of a test."""

import json
from pathlib import Path
from typing import Any

import msgspec

from asv_watch.comparison import Comparison, Conditions, Sitting
from asv_watch.records.store import read_record
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


def result_file(project: Path) -> Path:
    """Return the one result file of asv that machine ``m`` has."""
    [path] = (project / "results/m").glob("*-*.json")
    return path


def record_file(project: Path) -> Path:
    """Return the one month of the record that machine ``m`` has."""
    [path] = (project / "results/m").glob("2*.jsonl")
    return path


def store_benchmarks(results: Path, *benchmarks: dict[str, Any]) -> None:
    """Write the list of benchmarks, and what describes machine ``m``."""
    (results / "m").mkdir(parents=True, exist_ok=True)
    (results / "m/machine.json").write_text('{"machine": "m", "version": 1}')
    listed = {benchmark["name"]: benchmark for benchmark in benchmarks}
    (results / "benchmarks.json").write_text(json.dumps({"version": 2, **listed}))


def store_run(
    results: Path,
    *cases: Comparison,
    commit: str,
    of_machine: str = "m",
    environment: str = ENVIRONMENT,
    at: int = 6,
    requirements: dict[str, str] | None = None,
    against: str = "",
    **described: Any,
) -> Path:
    """Store a run of a commit in the record, one that did not end; return the record's file.

    ``against`` is an earlier commit with which it was compared, and ``described`` are further
    fields of `Conditions`.
    """
    commits = filter(None, (against, commit))
    sitting = Sitting(
        kind="compare" if against else "run",
        at=at,
        machine=of_machine,
        versions=tuple(Version(name, requirements or {}, "3.11") for name in commits),
        conditions=Conditions(environment=environment, **described),
    )
    path = results / of_machine / "2025-10.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as stream:
        stream.write(msgspec.json.Encoder().encode_lines([{"sitting": sitting}, *cases]))
    return path


def stored_comparisons(project: Path) -> list[Comparison]:
    """Read the record of a project, which has to be sound."""
    comparisons, problems = read_record(project / "results")
    assert problems == []
    return comparisons
