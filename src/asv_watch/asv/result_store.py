"""Stores what the engine measured of one commit in one environment as asv stores its own runs.

A file of asv's format 2 holds value, spread and rounds of each case, so that `asv show`,
`asv compare`, `asv publish` and other tools read it. Beside it, one file has a line with the
outcome of each case (`asv_watch.records.side_files`), and one a line with the machine and
environment of each run. Every finished case is stored at once: first its value, then its outcome.
"""

from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asv.results import get_filename
from asv_runner.statistics import compute_stats

from asv_watch.asv.selection import cases_of
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.files import make_folder, read_regular, write_whole
from asv_watch.machine.facts import describe
from asv_watch.records.json_lines import append_lines
from asv_watch.records.records import Outcome
from asv_watch.records.side_files import OUTCOMES, RECORDS, Report, read_outcomes
from asv_watch.versions.releases import distribution

_COLUMNS = (
    "result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b",
    "stats_q_25", "stats_q_75", "stats_number", "stats_repeat", "samples", "profile",
)  # fmt: skip
_PER_CASE = tuple(name for name in _COLUMNS if name.startswith(("result", "stats", "samples")))
_FORMAT = 2
_UNKNOWN_SPREAD = 10.0
"""Upper end of a single round's interval, over its value; asv's own infinity is not JSON."""


@dataclass(frozen=True, slots=True)
class CaseRun:
    """One case as it is stored."""

    outcome: Outcome
    at: int
    """When it was finished, seconds since the epoch."""
    value: float | None = None
    """In the unit of its benchmark; ``None`` if it was skipped or failed."""
    rounds: tuple[float, ...] = ()
    """One number for each round, in the unit of its benchmark."""
    calls: int = 1
    """Calls in a sample."""
    reason: str = ""


class ResultStore:
    """The result file of one commit in one environment, and the files beside it."""

    def __init__(
        self,
        results: Path,
        machine: str,
        commit: tuple[str, int],
        spec: EnvironmentSpec,
        python: str,
        facts: Mapping[str, str] | None = None,
    ) -> None:
        """Read what is stored; a damaged file is set aside.

        Args:
            results: folder of all machines' results.
            machine: name of the machine.
            commit: full hash, and the author's date in seconds since the epoch.
            spec: the environment.
            python: its release of Python.
            facts: what asv stores about the machine; by default about this one.
        """
        self._results, self._machine = results, machine
        self.path = results / get_filename(machine, commit[0], spec.name)
        requirements = {distribution(name): release for name, release in spec.requirements.items()}
        self._content: dict[str, Any] = {
            "commit_hash": commit[0],
            "env_name": spec.name,
            "date": commit[1] * 1000,
            "params": {
                "machine": machine,
                **(facts or describe()),
                "python": python,
                **requirements,
            },
            "python": python,
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
        self.reports: dict[str, Report] | None = None
        """Outcomes of cases by name; ``None`` if only asv measured, which stores none."""
        outcomes = self.path.with_suffix(OUTCOMES)
        if outcomes.exists():
            self.reports, _ = read_outcomes(outcomes)
        elif self.path.with_suffix(RECORDS).exists():  # a kill came before the first outcome
            self.reports = {}

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

    def add(self, benchmark: Mapping[str, Any], index: int, name: str, run: CaseRun) -> None:
        """Store one finished case.

        Args:
            benchmark: its entry in asv's list.
            index: index of the case in the benchmark.
            name: name of the case.
            run: its measurement.
        """
        row = self._row(benchmark)
        cells: dict[str, Any] = dict.fromkeys(_PER_CASE)
        cells["result"] = math.nan if run.outcome is Outcome.SKIPPED else run.value
        if run.rounds and benchmark["type"] == "time":
            cells["result"], stats = compute_stats(list(run.rounds), run.calls)
            if len(run.rounds) == 1:
                stats |= {"ci_99_a": 0.0, "ci_99_b": run.rounds[0] * _UNKNOWN_SPREAD}
            cells |= {f"stats_{key}": value for key, value in stats.items()}
            cells["samples"] = list(run.rounds)
        for column, value in cells.items():
            row[column][index] = value
        row["started_at"] = 1000 * run.at
        self._rows[benchmark["name"]] = row
        self._save()
        report = Report(name, run.outcome, run.reason, at=run.at, rounds=len(run.rounds))
        self._append(OUTCOMES, report)

    def skip(self, name: str, reason: str) -> bool:
        """Store that a case cannot run here, without a value; return whether that was new."""
        known = (self.reports or {}).get(name)
        if known is not None and (known.outcome, known.reason) == (Outcome.SKIPPED, reason):
            return False
        report = Report(name, Outcome.SKIPPED, reason, at=int(time.time()))
        self._append(OUTCOMES, report)
        return True

    def record(self, record: Mapping[str, Any]) -> None:
        """Store the machine and environment of a run."""
        self._append(RECORDS, record)

    def _append(self, suffix: str, line: Report | Mapping[str, Any]) -> None:
        if not self.path.exists():  # else the file beside it would belong to none
            self._save()
        append_lines(self.path.with_suffix(suffix), [line])

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


def store_machine(results: Path, machine: str, facts: Mapping[str, str] | None = None) -> None:
    """Write ``machine.json`` as asv does, with these facts or with those of this machine."""
    path = results / machine / "machine.json"
    content = {"machine": machine, **(facts or describe()), "version": 1}
    text = json.dumps(content, indent=4, sort_keys=True)
    if not path.exists() or path.read_text(encoding="utf-8", errors="replace") != text:
        make_folder(path.parent)
        write_whole(path, text.encode())
