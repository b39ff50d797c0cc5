"""``python -m tools.gpu.store FOLDER OUT … --machine h100``: stores the results of sessions.

The values of all commits become result files of asv with their side files, as if a run had
measured them; cases that were interleaved between commits become a comparison.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import asv.environment
import msgspec
from asv.results import Results
from asv.runner import BenchmarkResult

from asv_watch.asv.selection import case_name, cases_of
from asv_watch.files import write_whole
from asv_watch.records import suite_lists
from asv_watch.records.comparisons import Version
from asv_watch.records.git import ask_git
from asv_watch.records.json_lines import append_lines
from asv_watch.records.measurements import MeasuredCase, Measurement, MeasurementWriter
from asv_watch.records.side_files import OUTCOMES, RECORDS
from asv_watch.statistics.ratio import ESTIMATE
from tools.gpu.prepare import ROOT, Prepared

_FACTS = ("arch", "cpu", "num_cpu", "os", "ram")
"""Facts of a machine that asv stores and that are part of a series' identity."""
_FEWEST_ROUNDS = 2
"""Fewest rounds with several commits from which a ratio gets an interval."""
_PINNED = ("torch", "torchvision", "scikit-learn")


class Lines:
    """The lines that sessions wrote, by kind."""

    def __init__(self, files: Iterable[Path]) -> None:
        texts = [line for file in files for line in file.read_text("utf-8").splitlines()]
        lines = [json.loads(text) for text in texts if text.endswith("}")]  # a kill may cut one
        self._lines = sorted(lines, key=lambda line: line["at"])

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """Return the lines of a kind, oldest first."""
        return [line for line in self._lines if line["kind"] == kind]

    def measured(self) -> dict[str, list[dict[str, Any]]]:
        """Return the measured lines of each case, one for each round."""
        found: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for line in self.of_kind("measured"):
            found[line["case"]].append(line)
        return found

    def unmeasured(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Return, for each case and commit without a value, the line that has the reason."""
        found: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
        for line in self.of_kind("unmeasured"):
            found[line["case"]][line["commit"]] = line
        return found


class Store:
    """The stored results of one machine, made from the lines of sessions."""

    def __init__(self, results: Path, prepared: Prepared, machine: str, lines: Lines) -> None:
        self._results, self._prepared = results, prepared
        self._machine, self._lines = machine, lines
        self._identity = lines.of_kind("machine")[0]
        self._facts = {name: self._identity["machine"][name] for name in _FACTS}
        facts = self._identity["environment"]
        self._requirements = {name: facts[f"package {name}"].partition("+")[0] for name in _PINNED}

    def store(self) -> None:
        """Store everything."""
        folder = self._results / self._machine
        folder.mkdir(parents=True, exist_ok=True)
        machine = {"machine": self._machine, **self._facts, "version": 1}
        text = json.dumps(machine, indent=4, sort_keys=True)
        write_whole(folder / "machine.json", text.encode())
        suites_at = int(ask_git(ROOT, "log", "-1", "--format=%ct", self._prepared.newest))
        listed = {entry["name"]: entry for entry in self._prepared.benchmarks}
        suite_lists.store_list(self._results, self._machine, listed, suites_at)
        for commit in self._prepared.commits:
            self._store_values(commit)
        if len(self._prepared.commits) > 1:
            self._store_comparison()

    def _store_values(self, commit: str) -> None:
        python, variables = self._identity["python"], self._prepared.variables
        tagged = {("nobuild", name): value for name, value in variables.items()}
        name = asv.environment.get_env_name("virtualenv", python, self._requirements, tagged)
        params = {"machine": self._machine, **self._facts, "python": python, **self._requirements}
        date = 1000 * int(ask_git(ROOT, "log", "-1", "--format=%ct", commit))
        results = Results(params, self._requirements, commit, date, python, name, dict(variables))
        measured, unmeasured = self._lines.measured(), self._lines.unmeasured()
        outcomes = []
        for benchmark in self._prepared.benchmarks:
            names = [case_name(benchmark, params) for params in cases_of(benchmark)]
            rounds = [
                [line for line in measured.get(case, []) if commit in line["numbers"]]
                for case in names
            ]
            if any(rounds):
                _add(results, benchmark, rounds, commit)
            for case, lines in zip(names, rounds, strict=True):
                reason = unmeasured.get(case, {}).get(commit)
                if lines:
                    outcomes.append(_outcome(case, "ok", "", lines))
                elif reason is not None:
                    kind = "skipped" if "skipped" in reason else "failed"
                    outcomes.append(_outcome(case, kind, reason[kind], [reason]))
        if outcomes:
            results.save(str(self._results))
            side_file = Path(self._results, results._filename)
            append_lines(side_file.with_suffix(OUTCOMES), outcomes)
            kept = ("machine", "environment", "details", "before")
            record = {key: self._identity[key] for key in kept}
            at = int(self._identity["at"])
            append_lines(side_file.with_suffix(RECORDS), [{"at": at, **record}])

    def _store_comparison(self) -> None:
        commits = self._prepared.commits
        versions = tuple(
            Version(commit, self._requirements, self._identity["python"]) for commit in commits
        )
        header = Measurement(
            kind="compare",
            at=int(self._identity["at"]),
            machine=self._machine,
            versions=versions,
            recipe={"estimate": ESTIMATE, "processes": "all cases one after the other in one"},
        )
        writer = MeasurementWriter(self._results, header)  # writes nothing before its first case
        unmeasured = self._lines.unmeasured()
        for case, lines in self._lines.measured().items():
            reasons = unmeasured.get(case, {})
            if sum(len(line["numbers"]) > 1 for line in lines) < _FEWEST_ROUNDS:
                continue  # no ratio: the result files have the values
            columns = {
                clock: tuple(
                    tuple(line["numbers"].get(commit, {}).get(clock) for commit in commits)
                    for line in lines
                )
                for clock in ("value", "cpu")
            }
            given = {index: reasons.get(commit, {}) for index, commit in enumerate(commits)}
            writer.add(
                MeasuredCase(
                    case=case,
                    at=int(lines[-1]["at"]),
                    unit=lines[-1]["unit"],
                    rounds=columns["value"],
                    cpu=columns["cpu"] if any(map(any, columns["cpu"])) else (),
                    exact=lines[-1]["exact"],
                    skipped={n: r["skipped"] for n, r in given.items() if "skipped" in r},
                    failed={n: r["failed"] for n, r in given.items() if "failed" in r},
                )
            )


def _add(
    results: Any, benchmark: dict[str, Any], rounds: list[list[dict[str, Any]]], commit: str
) -> None:
    """Add the rounds of all cases of a benchmark to asv's results."""
    timed = benchmark["type"] == "time"
    values: list[Any] = [math.nan] * len(rounds)
    samples: list[Any] = [None] * len(rounds)
    for index, lines in enumerate(rounds):
        numbers = [line["numbers"][commit]["value"] for line in lines]
        if numbers:
            values[index] = statistics.median(numbers) if timed else numbers[-1]
            samples[index] = numbers if timed else None
    started_at = min(line["at"] for lines in rounds for line in lines)
    version = _sampled_in_rounds(benchmark["version"]) if timed else benchmark["version"]
    results.add_result(
        benchmark | {"version": version},
        BenchmarkResult(values, samples, [None] * len(rounds), 0, "", None),
        started_at=datetime.datetime.fromtimestamp(started_at, datetime.UTC),
        record_samples=True,
    )


def _sampled_in_rounds(version: str) -> str:
    """Return the version of a suite with the number of rounds and samples that a session took."""
    code, recipe, *others = version.split("; ")
    words = [word for word in recipe.split() if not word.startswith(("rounds=", "repeat="))]
    return "; ".join([code, " ".join(words), "sampled in a session", *others])


def _outcome(case: str, outcome: str, reason: str, lines: list[dict[str, Any]]) -> dict[str, Any]:
    at, rounds = int(lines[-1]["at"]), len(lines) if outcome == "ok" else 0
    return {"case": case, "outcome": outcome, "reason": reason, "at": at, "rounds": rounds}


def main(arguments: Sequence[str]) -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.gpu.store", description=__doc__)
    parser.add_argument("prepared", type=Path, help="folder of tools.gpu.prepare")
    parser.add_argument(
        "out", type=Path, nargs="+", help="folders of results of tools.gpu.session"
    )
    parser.add_argument("--machine", required=True, help="name of the results, such as h100")
    parser.add_argument("--results", type=Path, default=ROOT / "results")
    options = parser.parse_args(arguments)
    content = (options.prepared / "prepared.json").read_bytes()
    prepared = msgspec.json.decode(content, type=Prepared)
    lines = Lines(folder / "gpu.jsonl" for folder in options.out)
    Store(options.results, prepared, options.machine, lines).store()


if __name__ == "__main__":
    main(sys.argv[1:])
