"""Exports what the engine measured of a commit to asv's file of it, for asv's own commands.

The file is in asv's format 2, written by asv's own code, with value, spread and rounds of each
case, so that `asv show`, `asv compare`, `asv publish` and other tools read it. It is written anew
from the record (`asv_watch.records.store`) when a run ends; what a kill kept from it is written by
the next run. What plain `asv run` has stored in it stays.
"""

import datetime
import json
import math
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from asv.results import Results, get_filename
from asv.runner import BenchmarkResult

from asv_watch.asv.selection import cases_of
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.comparison import Comparison, Outcome
from asv_watch.files import make_folder, write_whole
from asv_watch.machine.facts import describe
from asv_watch.records.asv_files import DamagedError, read_results
from asv_watch.records.records import case_name
from asv_watch.versions.version import distribution


def export_run(
    path: Path,
    commit: str,
    date: int,
    environment: EnvironmentSpec,
    benchmarks: Iterable[Mapping[str, Any]],
    measured: Mapping[str, Comparison],
) -> None:
    """Write what was measured of a commit to asv's file; a damaged one is set aside."""
    requirements = {
        distribution(name): release for name, release in environment.requirements.items()
    }
    params = {"machine": path.parent.name, **describe(), "python": environment.python}
    results = Results(
        params | requirements,
        requirements,
        commit,
        date * 1000,
        environment.python,
        environment.name,
        dict(environment.variables),
    )
    if path.exists():
        try:
            read_results(path)
            results.load_data(str(path.parent.parent))
        except DamagedError:
            aside = f"{path.name}.damaged-{time.strftime('%Y%m%dT%H%M%S')}"
            path.rename(path.with_name(aside))
            print(f"  {path.name} is damaged; it is now {aside}, and written again", flush=True)
    for benchmark in benchmarks:
        cases = [
            measured.get(case_name(benchmark["name"], params))
            for params in cases_of(dict(benchmark))
        ]
        of_today = {
            index: case
            for index, case in enumerate(cases)
            if case is not None and case.benchmark_version == benchmark["version"]
        }
        if of_today:
            _add(results, benchmark, len(cases), of_today)
    with tempfile.TemporaryDirectory(prefix="asv-watch-") as folder:
        results.save(folder)
        content = (Path(folder) / path.parent.name / path.name).read_bytes()
    if not path.exists() or path.read_bytes() != content:
        make_folder(path.parent)
        write_whole(path, content)


def result_file(results: Path, machine: str, commit: str, environment: EnvironmentSpec) -> Path:
    """Return the path of asv's file of a commit in an environment."""
    return results / str(get_filename(machine, commit, environment.name))


def _add(
    results: Results, benchmark: Mapping[str, Any], count: int, cases: Mapping[int, Comparison]
) -> None:
    """Add the cases of a benchmark, by their index, to those that asv's file has."""
    values: list[float | None] = [math.nan] * count
    samples: list[list[float] | None] = [None] * count
    for index, case in cases.items():
        outcome, _ = case.outcome(0)
        values[index] = math.nan if outcome is Outcome.SKIPPED else case.value(0)
        if benchmark["type"] == "time" and case.rounds:
            samples[index] = [number for (number,) in case.numbers(0)]
    numbers = [None if of_case is None else 1 for of_case in samples]
    results.add_result(
        benchmark,
        BenchmarkResult(values, samples, numbers, 0, "", None),
        started_at=datetime.datetime.fromtimestamp(
            max(case.at for case in cases.values()), datetime.UTC
        ),
        record_samples=True,
        selected_idx=set(cases),
    )


def store_machine(results: Path, machine: str) -> None:
    """Write ``machine.json`` as asv does, with the facts of this machine."""
    path = results / machine / "machine.json"
    content = {"machine": machine, **describe(), "version": 1}
    text = json.dumps(content, indent=4, sort_keys=True)
    if not path.exists() or path.read_text(encoding="utf-8", errors="replace") != text:
        make_folder(path.parent)
        write_whole(path, text.encode())
