"""Stores what the engine measured of one commit in one environment, and exports it to asv.

A line of the record says what was measured of a case, and a line of another file describes the
machine and environment of a run (`asv_watch.records.side_files`). From the record a file of asv's
format 2 is written, with value, spread and rounds of each case, so that `asv show`, `asv compare`,
`asv publish` and other tools read it. Every finished case is stored at once: first in the record,
then in asv's file. A value that asv's file lost, or that a kill kept from it, is written there
again; a case that failed has none.
"""

from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from asv.results import get_filename
from asv_runner.statistics import compute_stats

from asv_watch.asv.selection import cases_of
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.comparison import Comparison, Outcome, Sitting
from asv_watch.files import make_folder, read_regular, write_whole
from asv_watch.machine.facts import describe
from asv_watch.records.json_lines import append_lines
from asv_watch.records.records import case_name
from asv_watch.records.result_files import is_finite_number
from asv_watch.records.side_files import MEASURED, RECORDS, read_measured
from asv_watch.versions.releases import distribution

_COLUMNS = (
    "result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b",
    "stats_q_25", "stats_q_75", "stats_number", "stats_repeat", "samples", "profile",
)  # fmt: skip
_PER_CASE = tuple(name for name in _COLUMNS if name.startswith(("result", "stats", "samples")))
_FORMAT = 2
_UNKNOWN_SPREAD = 10.0
"""Upper end of a single round's interval, over its value; asv's own infinity is not JSON."""


class ResultStore:
    """What was measured of one commit in one environment, and asv's file of it."""

    def __init__(self, results: Path, sitting: Sitting, date: int, spec: EnvironmentSpec) -> None:
        """Read what is stored; a damaged file of asv is set aside.

        Args:
            results: folder of all machines' results.
            sitting: the commit as its only version, the machine, and how it is measured.
            date: the author's date of the commit, in seconds since the epoch.
            spec: the environment.
        """
        [version] = sitting.versions
        self.path = results / get_filename(sitting.machine, version.commit, spec.name)
        requirements = {distribution(name): release for name, release in spec.requirements.items()}
        self._content: dict[str, Any] = {
            "commit_hash": version.commit,
            "env_name": spec.name,
            "date": date * 1000,
            "params": {
                "machine": sitting.machine,
                **describe(),
                "python": spec.python,
                **requirements,
            },
            "python": spec.python,
            "requirements": requirements,
            "env_vars": dict(spec.variables),
            "result_columns": list(_COLUMNS),
            "results": {},
            "durations": {},
            "version": _FORMAT,
        }
        self.set_aside = ""
        """New name of a damaged file."""
        self._rows: dict[str, dict[str, Any]] = self._read()
        record = self.path.with_suffix(MEASURED)
        self._first_line = [sitting]
        self._measured: dict[str, Comparison] = {}
        if record.exists():
            self._measured, _ = read_measured(record, sitting.machine, version.commit)
        self.is_recorded = bool(self._measured) or self.path.with_suffix(RECORDS).exists()
        """Whether this package measured; asv alone stores no record."""

    def _read(self) -> dict[str, dict[str, Any]]:
        if not self.path.exists():
            return {}
        try:
            stored = json.loads(read_regular(self.path))
            columns = stored["result_columns"]
            self._content["durations"] = dict(stored.get("durations", {}))
            return {
                name: dict(itertools.zip_longest(columns, row[: len(columns)]))
                for name, row in stored["results"].items()
            }
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            aside = f"{self.path.name}.damaged-{time.strftime('%Y%m%dT%H%M%S')}"
            self.path.rename(self.path.with_name(aside))
            self.set_aside = aside
            return {}

    def value(self, benchmark: Mapping[str, Any], index: int) -> Any:
        """Return the stored value of a case; NaN if there is none for this version of its code."""
        return self._row(benchmark)["result"][index]

    def _row(self, benchmark: Mapping[str, Any]) -> dict[str, Any]:
        """Return the row of a benchmark for its present cases; empty if its code has changed."""
        cases = cases_of(dict(benchmark))
        row: dict[str, Any] = {name: [None] * len(cases) for name in _PER_CASE}
        row |= {"result": [math.nan] * len(cases), "params": benchmark["params"] or []}
        row |= {"version": benchmark["version"], "duration": None, "profile": None}
        stored = self._rows.get(benchmark["name"])
        if stored is None or stored.get("version") != benchmark["version"]:
            return row
        index_of = {case: index for index, case in enumerate(cases)}
        for old, case in enumerate(itertools.product(*(stored.get("params") or []))):
            index = index_of.get(case)
            for name in _PER_CASE:
                cell = stored.get(name)
                if index is None or (cell is None and name != "result"):
                    continue
                row[name][index] = cell[old] if isinstance(cell, list) else None
        return row

    def add(self, benchmark: Mapping[str, Any], index: int, case: Comparison) -> None:
        """Store one finished case.

        Args:
            benchmark: its entry in asv's list.
            index: index of the case in the benchmark.
            case: what was measured of it, of this version alone.
        """
        self._make_file()
        version = benchmark["version"]
        self._append(msgspec.structs.replace(case, benchmark_version=version))
        self._put(benchmark, index, case)
        self._save()

    def recorded(self, benchmark: Mapping[str, Any], name: str) -> Comparison | None:
        """Return the record of a case, unless it is of another version of the benchmark."""
        known = self._measured.get(name)
        return known if known and known.benchmark_version in ("", benchmark["version"]) else None

    def restore(self, benchmarks: Iterable[Mapping[str, Any]]) -> None:
        """Write the values into asv's file that it lacks and the record has."""
        lacking = [
            (benchmark, index, case)
            for benchmark in benchmarks
            for index, params in enumerate(cases_of(dict(benchmark)))
            if (case := self._measured.get(case_name(benchmark["name"], params)))
            and case.benchmark_version == benchmark["version"]
            and case.numbers(0)
            and not is_finite_number(self.value(benchmark, index))
        ]
        for benchmark, index, case in lacking:
            self._put(benchmark, index, case)
        if lacking:
            self._save()

    def _put(self, benchmark: Mapping[str, Any], index: int, case: Comparison) -> None:
        row = self._row(benchmark)
        cells: dict[str, Any] = dict.fromkeys(_PER_CASE)
        cells["result"] = math.nan if case.skipped else case.value(0)
        rounds = [number for (number,) in case.numbers(0)]
        if rounds and benchmark["type"] == "time":
            cells["result"], stats = compute_stats(rounds, 1)
            if len(rounds) == 1:
                stats |= {"ci_99_a": 0.0, "ci_99_b": rounds[0] * _UNKNOWN_SPREAD}
            cells |= {f"stats_{key}": value for key, value in stats.items()}
            cells["samples"] = rounds
        for column, value in cells.items():
            row[column][index] = value
        row["started_at"] = 1000 * case.at
        self._rows[benchmark["name"]] = row

    def skip(self, benchmark: Mapping[str, Any], name: str, reason: str) -> bool:
        """Store that a case cannot run here, without a value; return whether that was new."""
        known = self.recorded(benchmark, name)
        if known is not None and known.outcome(0) == (Outcome.SKIPPED, reason):
            return False
        self._make_file()
        at, unit, version = int(time.time()), benchmark["unit"], benchmark["version"]
        self._append(Comparison(name, at, unit, skipped={0: reason}, benchmark_version=version))
        return True

    def _append(self, case: Comparison) -> None:
        """Add a line to the record; the first one says what was measured with."""
        append_lines(self.path.with_suffix(MEASURED), [*self._first_line, case])
        self._first_line = []

    def record(self, record: Mapping[str, Any]) -> None:
        """Store the machine and environment of a run."""
        self._make_file()
        append_lines(self.path.with_suffix(RECORDS), [record])

    def _make_file(self) -> None:
        """Write asv's file if there is none: what is beside it would belong to no file."""
        if not self.path.exists():
            self._save()

    def _save(self) -> None:
        rows = {name: _written(row) for name, row in sorted(self._rows.items())}
        text = json.dumps(self._content | {"results": rows})
        make_folder(self.path.parent)
        write_whole(self.path, text.encode())


def _written(row: Mapping[str, Any]) -> list[Any]:
    """Return a row as asv writes it: a list without values is null, and the end is cut off."""
    cells = [row.get(name) for name in _COLUMNS]
    cells = [
        None if isinstance(cell, list) and cell and all(part is None for part in cell) else cell
        for cell in cells
    ]
    while cells and cells[-1] is None:
        cells.pop()
    return cells


def store_machine(results: Path, machine: str) -> None:
    """Write ``machine.json`` as asv does, with the facts of this machine."""
    path = results / machine / "machine.json"
    content = {"machine": machine, **describe(), "version": 1}
    text = json.dumps(content, indent=4, sort_keys=True)
    if not path.exists() or path.read_text(encoding="utf-8", errors="replace") != text:
        make_folder(path.parent)
        write_whole(path, text.encode())
