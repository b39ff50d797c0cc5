"""Checks a folder of results against the schema of its files, and names each fault.

Loading a history names damaged files, but skips results of other commits or benchmarks. Here every
result file is read whole.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from asv_watch.errors import WatchError
from asv_watch.records import suite_lists
from asv_watch.records.loading import load_history
from asv_watch.records.records import Benchmark, Problem, case_name
from asv_watch.records.result_files import (
    ROW_COLUMNS,
    DamagedError,
    ResultFile,
    Row,
    is_finite_number,
    is_missing,
    read_json,
    read_result_file,
)
from asv_watch.records.side_files import RECORDS, read_records
from asv_watch.records.suite_lists import read_benchmarks
from asv_watch.versions.commits import is_full_hash

_PLAUSIBLE = {"seconds": (1e-12, 1e8), "bytes": (0.0, 1e16)}
"""Maps a unit to the least and the largest plausible value."""
_IDENTITY = ("arch", "cpu", "num_cpu")
"""Facts in which descriptions of one machine agree."""


def check_results(results: Path, machines: Collection[str] = ()) -> tuple[Problem, ...]:
    """Check every file of a results folder.

    Args:
        results: Folder that holds ``benchmarks.json`` and a folder for each machine.
        machines: Names of the machines that may be there, each result with a record of its
            machine; empty if any machine may.

    Returns:
        The faults, each with its file; none if the folder is sound.

    Raises:
        WatchError: There is no such folder.
    """
    if not results.is_dir():
        raise WatchError(f"{results} is not a folder: give asv's results folder")
    faults = _faults(results)
    return tuple(itertools.chain(faults, _faults_of_origin(results, machines) if machines else ()))


def _faults(results: Path) -> Iterator[Problem]:
    benchmarks: dict[str, Benchmark] = {}
    problems: list[Problem] = []
    path = results / suite_lists.FILE_NAME
    if os.path.lexists(path) or any(results.glob("*/*-*.json")):  # comparisons alone need none
        try:
            benchmarks, problems = read_benchmarks(results)
        except WatchError as error:
            problems = [Problem(str(path), str(error).removeprefix(f"{path} "))]
    yield from problems
    yield from load_history(results, (), benchmarks=benchmarks).problems
    for folder in _machine_folders(results):
        yield from _faults_of_machine(folder, benchmarks)


def _machine_folders(results: Path) -> list[Path]:
    return sorted(
        path for path in results.iterdir() if path.is_dir() and not path.name.startswith(".")
    )


def _faults_of_origin(results: Path, machines: Collection[str]) -> Iterator[Problem]:
    """Yield results of machines that are not allowed, or without a record of the machine."""
    for folder in _machine_folders(results):
        if folder.name not in machines:
            message = f'{folder.name} is not listed under "machines" of asv.conf.json'
            yield Problem(str(folder), message)
            continue
        try:
            stated = read_json(folder / "machine.json", dict[str, Any])
        except DamagedError:  # named already
            continue
        for path in sorted(folder.glob("*-*.json")):
            records, _ = read_records(path.with_suffix(RECORDS))
            if not records:
                yield Problem(str(path), "no record says where it was measured")
            for name, value in different_facts(stated, records[-1].machine if records else {}):
                yield Problem(str(path), f"{name} is {value!r}, but machine.json says otherwise")


def different_facts(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[tuple[str, str]]:
    """List the identifying facts in which two descriptions differ, with the second's values."""
    return [
        (name, str(second[name]))
        for name in _IDENTITY
        if name in first and name in second and str(first[name]) != str(second[name])
    ]


def _faults_of_machine(folder: Path, benchmarks: dict[str, Benchmark]) -> Iterator[Problem]:
    """Yield the faults that loading does not report."""
    path = folder / "machine.json"
    with contextlib.suppress(DamagedError):
        name = read_json(path, dict[str, Any]).get("machine")
        if name != folder.name:
            yield Problem(str(path), f"it names the machine {name!r}")
    for path in sorted(folder.glob("*.json")):
        if path.name not in {"machine.json", suite_lists.FILE_NAME}:
            with contextlib.suppress(DamagedError):
                for message in _faults_of_file(path, read_result_file(path), benchmarks):
                    yield Problem(str(path), message)


def _faults_of_file(
    path: Path, file: ResultFile, benchmarks: dict[str, Benchmark]
) -> Iterator[str]:
    if not is_full_hash(file.commit_hash):
        yield f"commit_hash {file.commit_hash[:80]!r} is not a full hash"
    elif not file.commit_hash.startswith(path.name.partition("-")[0]):
        yield f"its commit is {file.commit_hash[:12]}, but its name does not begin with that"
    for name in file.results:
        try:
            row = file.row(name)
            benchmark = benchmarks.get(name)
            yield from _faults_of_row(name, row, benchmark.unit if benchmark else "")
        except DamagedError as error:
            yield f"{name}: {error}"


def _faults_of_row(name: str, row: Row, unit: str) -> Iterator[str]:
    columns = {column: row.column(column) for column in row.cells if column not in ROW_COLUMNS}
    for index, params in enumerate(itertools.product(*row.params)):
        case = case_name(name, params)
        cells = {column: values[index] for column, values in columns.items()}
        value = cells.get("result")
        if not is_missing(value) and not is_finite_number(value):
            yield f"{case}: its value {str(value)[:80]!r} is not a finite number"
        elif is_finite_number(value) and unit in _PLAUSIBLE:
            least, largest = _PLAUSIBLE[unit]
            if not least <= value <= largest:
                yield f"{case}: its value {value!r} {unit} is not from {least:g} to {largest:g}"
