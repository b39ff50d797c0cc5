"""``python -m tools.gpu.store FOLDER OUT …``: stores the results of sessions.

The values of all commits become result files of asv with their side files, as if a run had
measured them; cases that were interleaved between commits become a comparison; which
implementations are the fastest goes to ``models/fastest.json``. What belongs to no case (which
tests passed, the ratios behind the choices, the spread of processes, the expected speed, the GPU's
state after each step) goes to a file of its own beside the results. What the stored results say of
GPU and CPU is printed (`summary`). The machine is named after
its card, and values of two cards are never stored under one name.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asv.environment
import msgspec

from asv_watch.asv.result_store import ResultStore, store_machine
from asv_watch.asv.selection import cases_of
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.records import suite_lists
from asv_watch.records.comparisons import Measurement
from asv_watch.records.measurements import MeasuredCase, MeasurementWriter
from asv_watch.records.records import case_name
from asv_watch.records.side_files import RECORDS, read_records
from asv_watch.statistics.ratio import ESTIMATE
from asv_watch.versions.git import ask_git
from asv_watch.versions.version import Version
from tools.gpu.prepare import CARD, ROOT, Prepared, committed_at
from tools.gpu.summary import summary
from torchspeed.files import write_whole
from torchspeed.measure.formulations import keep
from torchspeed.models.fastest import FILE

_FACTS = ("arch", "cpu", "num_cpu", "os", "ram")
"""Facts of a machine that asv stores and that are part of a series' identity."""
_FEWEST_ROUNDS = 2
"""Fewest rounds with several commits from which a ratio gets an interval."""
_PINNED = ("torch", "torchvision", "scikit-learn")
_OTHER_KINDS = ("step", "tests", "expected", "fastest", "spread")
"""Kinds of lines that neither result files nor comparisons hold."""


class Lines:
    """The lines that sessions wrote, by kind."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self.folders = list(folders)
        files = [folder / "gpu.jsonl" for folder in self.folders]
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

    def card(self) -> str:
        """Return the name of the GPU that all lines were measured on; empty if it was a CPU."""
        cards = {line["machine"].get(CARD, "") for line in self.of_kind("machine")}
        if len(cards) != 1:
            found = " and ".join(sorted(cards)) or "no machine"
            raise SystemExit(f"the folders have results of {found}; store those of one card")
        return str(cards.pop())


def machine_of(card: str) -> str:
    """Return the name of the results of a card: ``h200`` for ``NVIDIA H200``."""
    return re.sub(r"\W+", "-", card.removeprefix("NVIDIA ").lower()).strip("-")


def refuse_another_card(results: Path, machine: str, card: str) -> None:
    """End with a message if a machine's stored results come from another card."""
    for path in sorted((results / machine).glob(f"*{RECORDS}")):
        for record in read_records(path)[0]:
            if (other := record.machine.get(CARD, "")) != card:
                raise SystemExit(
                    f"{machine} has results of {other or 'a machine without GPU'}, and these are "
                    f"of {card or 'one without'}; give another name with --machine"
                )


class Store:
    """The stored results of one machine, made from the lines of sessions."""

    def __init__(self, results: Path, prepared: Prepared, machine: str, lines: Lines) -> None:
        refuse_another_card(results, machine, lines.card())
        self._results, self._prepared, self._machine = results, prepared, machine
        self._identity = lines.of_kind("machine")[0]
        self._steps = [line for line in lines.of_kind("step") if "after" in line]
        self._others = [line for kind in _OTHER_KINDS for line in lines.of_kind(kind)]
        self._facts = {name: self._identity["machine"][name] for name in _FACTS}
        facts, python = self._identity["environment"], self._identity["python"]
        requirements = {name: facts[f"package {name}"].partition("+")[0] for name in _PINNED}
        tagged = {("nobuild", name): value for name, value in prepared.variables.items()}
        name = asv.environment.get_env_name("virtualenv", python, requirements, tagged)
        self._environment = EnvironmentSpec(
            requirements, name, Path(), prepared.variables, python=python
        )
        measured, unmeasured = lines.measured(), lines.unmeasured()
        self._cases = {
            case: _case(case, measured.get(case, []), unmeasured.get(case, {}), prepared.commits)
            for case in {*measured, *unmeasured}
        }

    def store(self) -> None:
        """Store the values, and the comparison if there are several commits."""
        store_machine(self._results, self._machine, self._facts)
        suites_at = committed_at(ROOT, self._prepared.newest)
        listed = {entry["name"]: entry for entry in self._prepared.benchmarks}
        suite_lists.store_list(self._results, self._machine, listed, suites_at)
        for index, commit in enumerate(self._prepared.commits):
            self._store_values(index, commit)
        if len(self._prepared.commits) > 1:
            self._store_comparison()
        self._store_others()

    def _store_values(self, index: int, commit: str) -> None:
        cases = {
            name: case
            for name, case in self._cases.items()
            if case.numbers(index) or index in case.skipped | case.failed
        }
        if not cases:
            return
        date = int(ask_git(ROOT, "log", "-1", "--format=%at", commit))
        header = self._header([commit])
        store = ResultStore(self._results, header, date, self._environment, self._facts)
        store.record(self._record())
        for listed in self._prepared.benchmarks:
            benchmark = listed | {"version": _sampled_version(listed)}
            for number, params in enumerate(cases_of(benchmark)):
                name = case_name(benchmark["name"], params)
                if name in cases:
                    store.add(benchmark, number, cases[name].of(index))

    def _record(self) -> dict[str, Any]:
        """Return the record of the run, with the GPU's state at the end of each step."""
        kept = ("machine", "environment", "details", "before")
        record = {key: self._identity[key] for key in kept} | {"at": int(self._identity["at"])}
        if not self._steps:
            return record
        states = {line["step"]: json.dumps(line["after"].get("gpus", [])) for line in self._steps}
        record["details"] |= {f"GPU after step {step}": state for step, state in states.items()}
        last = self._steps[-1]
        return record | {"until": int(last["at"]), "after": last["after"]}

    def _header(self, commits: Sequence[str]) -> Measurement:
        """Return the header of a measurement of these commits."""
        environment = self._environment
        return Measurement(
            kind="compare",
            at=int(self._identity["at"]),
            machine=self._machine,
            versions=tuple(
                Version(commit, dict(environment.requirements), environment.python)
                for commit in commits
            ),
            recipe={"estimate": ESTIMATE, "processes": "all cases one after the other in one"},
        )

    def _store_comparison(self) -> None:
        header = self._header(self._prepared.commits)
        writer = MeasurementWriter(self._results, header)  # writes nothing before its first case
        for case in self._cases.values():
            rounds = [[n for n in numbers if n is not None] for numbers in case.rounds]
            if sum(len(numbers) > 1 for numbers in rounds) >= _FEWEST_ROUNDS:
                writer.add(case)  # with fewer there is no ratio: the result files have the values

    def _store_others(self) -> None:
        """Write the lines of other kinds into a file that is named after the session's begin."""
        begin = datetime.fromtimestamp(self._identity["at"], UTC)
        file = self._results / self._machine / f"session-{begin:%Y%m%dT%H%M%SZ}.jsonl"
        write_whole(file, "".join(f"{json.dumps(line)}\n" for line in self._others).encode())


def _case(
    case: str,
    lines: Sequence[dict[str, Any]],
    reasons: Mapping[str, dict[str, Any]],
    commits: Sequence[str],
) -> MeasuredCase:
    """Return what sessions measured of a case, and why a commit has no value."""
    columns = {
        clock: tuple(
            tuple(line["numbers"].get(commit, {}).get(clock) for commit in commits)
            for line in lines
        )
        for clock in ("value", "cpu")
    }
    measured = {commit for line in lines for commit in line["numbers"]}
    given = {n: reasons.get(c, {}) for n, c in enumerate(commits) if c not in measured}
    newest = (lines or list(reasons.values()))[-1]
    return MeasuredCase(
        case=case,
        at=int(newest["at"]),
        unit=newest.get("unit", "seconds"),
        rounds=columns["value"],
        cpu=columns["cpu"] if any(map(any, columns["cpu"])) else (),
        exact=newest.get("exact", False),
        skipped={n: r["skipped"] for n, r in given.items() if "skipped" in r},
        failed={n: r["failed"] for n, r in given.items() if "failed" in r},
    )


def _sampled_version(benchmark: Mapping[str, Any]) -> str:
    """Return a benchmark's version; that of a time says that a session sampled it."""
    if benchmark["type"] != "time":
        return str(benchmark["version"])
    code, recipe, *others = benchmark["version"].split("; ")
    words = [word for word in recipe.split() if not word.startswith(("rounds=", "repeat="))]
    return "; ".join([code, " ".join(words), "sampled in a session", *others])


def main(arguments: Sequence[str]) -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.gpu.store", description=__doc__)
    parser.add_argument("prepared", type=Path, help="folder of tools.gpu.prepare")
    parser.add_argument(
        "out", type=Path, nargs="+", help="folders of results of tools.gpu.session"
    )
    parser.add_argument("--machine", default="", help="name of the results; by default the card's")
    parser.add_argument("--results", type=Path, default=ROOT / "results")
    options = parser.parse_args(arguments)
    content = (options.prepared / "prepared.json").read_bytes()
    prepared = msgspec.json.decode(content, type=Prepared)
    lines = Lines(options.out)
    machine = options.machine or machine_of(lines.card())
    if not machine:
        raise SystemExit("the machine has no GPU to be named after; name it with --machine")
    Store(options.results, prepared, machine, lines).store()
    own = options.results == ROOT / "results"
    for line in lines.of_kind("fastest"):
        if "choices" in line:
            file = (ROOT / "src/torchspeed/models" if own else options.results) / FILE.name
            keep("cuda", line["processor"], line["choices"], file)
    for line in lines.of_kind("step"):
        for outcome in ("left_out", "killed"):
            if outcome in line:
                print(f"step {line['step']} was {outcome.replace('_', ' ')}: {line[outcome]}")
        if not_begun := line.get("not_begun"):
            print(f"step {line['step']} had no time to begin {not_begun} of its cases")
    print(f"stored in {options.results / machine}\n\n{summary(options.results, machine)}")


if __name__ == "__main__":
    main(sys.argv[1:])
