"""``python -m tools.gpu.session first --prepared FOLDER --out OUT``: runs a session.

Every step of the session (`plan`) runs in a process of its own, which is killed when its time is
up; a step that would begin too late is left out. A result is a line of ``OUT/gpu.jsonl``, written
as soon as it is measured, so the end of a session costs one case at most. Each step also records
the GPU's clocks and temperature when it ends.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import dataclasses
import importlib
import itertools
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.processes import (
    CaseSkippedError,
    CaseTimedOutError,
    Server,
    UnmeasuredError,
    measure_round,
)
from asv_watch.engine.sides import Side
from asv_watch.machine.children import Child
from asv_watch.machine.facts import machine_state
from asv_watch.statistics.ratio import margin_of_error, spread_of_rounds
from tools.gpu.plan import BUDGETS, GRACE_S, RESERVE_S, SESSIONS, Step, find_step
from tools.gpu.prepare import Prepared

_LEAST_SHARE = 0.3
"""A step is left out when less than this share of its time is left."""
_LONGEST_CASE_S = 60.0
_HALF_WIDTH = 0.02
"""Half the width of a ratio's interval from which a case needs no further round."""


class Results:
    """The file of results: one JSON object a line, on the disk when `add` returns."""

    def __init__(self, out: Path) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self._path = out / "gpu.jsonl"

    def add(self, kind: str, **fields: Any) -> None:
        """Append a line; several processes may do so at the same time."""
        line = json.dumps({"kind": kind, "at": round(time.time(), 3), **fields})
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write(f"{line}\n")
            stream.flush()
            os.fsync(stream.fileno())


class Session:
    """A prepared folder, and the file of results."""

    def __init__(
        self,
        name: str,
        folder: Path,
        out: Path,
        only: str = "",
        rounds: int = 99,
        *,
        small: bool = False,
    ) -> None:
        """Read what was prepared.

        Args:
            name: one of `SESSIONS`.
            folder: prepared folder.
            out: where results go.
            only: regular expression of the cases that are measured.
            rounds: most rounds of a case.
            small: whether ResNet-50 trains on few images, as for a trial on a CPU.
        """
        self.only, self.rounds, self.small = only, rounds, small
        self.name, self.folder, self.out = name, folder.resolve(), out.resolve()
        content = (folder / "prepared.json").read_bytes()
        self.prepared = msgspec.json.decode(content, type=Prepared)
        self._work = self.folder / "work" / name
        self.results = Results(self.out)
        self._begun: set[str] = set()

    def side(self, commit: str) -> Side:
        """Return the side of a commit, which finds packages on the path of this process."""
        environment = EnvironmentSpec(
            {},
            "",
            Path(sys.prefix),
            self.prepared.variables,
            declared=self.prepared.declared,
            interpreter=Path(sys.executable),
        )
        return Side(
            commit[:8],
            self.folder / "packages" / commit / "src",
            environment,
            self.folder / "project/benchmarks",
            shared_path=os.environ.get("PYTHONPATH", ""),
        )

    def work_folder(self, commit: str) -> Path:
        """Return the folder of a side's processes, where compiled code and tracked values stay.

        Only steps of one session share it: another session may have measured on another card.
        """
        folder = self._work / commit[:8]
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def cases(self, step: Step, seconds: float) -> list[MeasurableCase]:
        """Return the cases of a step: those of a GPU share one process, which forks nothing.

        Args:
            step: the step.
            seconds: length of the step; a case may take half of it, or a minute if that is more.
        """
        longest = max(_LONGEST_CASE_S, seconds / 2)
        return [
            dataclasses.replace(
                case,
                process="host" if case.can_fork else "GPU",
                timeout=min(case.timeout, longest),
            )
            for case in step.chosen(self.prepared.cases)
            if re.search(self.only, case.name)
        ]

    def run(self, budget: float, share: float = 1.0) -> None:
        """Run all steps, each within its time; leave out those that would begin too late.

        Args:
            budget: seconds in all.
            share: share of its planned time that each step gets.
        """
        end = time.monotonic() + budget - RESERVE_S
        shutil.rmtree(self._work, ignore_errors=True)
        with contextlib.ExitStack() as children:
            self._run_steps(children, end, share)

    def _run_steps(self, children: contextlib.ExitStack, end: float, share: float) -> None:
        """Run the steps until a moment on the monotonic clock; the stack ends their processes."""
        begun: dict[str, tuple[Child, float]] = {}
        for step in SESSIONS[self.name]:
            if step.after in begun:
                self._wait(step.after, *begun.pop(step.after))
            wanted = share * step.seconds
            left = min(wanted, end - time.monotonic())
            if left < _LEAST_SHARE * wanted:
                self.results.add("step", step=step.name, left_out=f"{max(0.0, left):.0f} s left")
                continue
            child = children.enter_context(self._start(step, left))
            started = child, time.monotonic() + left + GRACE_S
            if step.background:
                begun[step.name] = started
            else:
                self._wait(step.name, *started)
        for name, (child, _) in begun.items():
            self._wait(name, child, end)

    def _wait(self, name: str, child: Child, until: float) -> None:
        if child.end(until - time.monotonic()):
            self.results.add("step", step=name, killed="its time was up")

    def _start(self, step: Step, seconds: float) -> Child:
        arguments = [self.name, "--prepared", str(self.folder), "--out", str(self.out)]
        arguments += ["--step", step.name, "--budget", f"{seconds:.1f}", "--only", self.only]
        arguments += ["--rounds", str(self.rounds), *(["--small"] if self.small else [])]
        command = [sys.executable, "-m", "tools.gpu.session", *arguments]
        return Child(command, cwd=self.folder / "project")

    def run_step(self, step: Step, seconds: float) -> None:
        """Run one step in this process; record how long it took, and the machine's state then."""
        start = time.monotonic()
        try:
            if step.command:
                module, *arguments = step.command
                importlib.import_module(module).run(self, start + seconds, *arguments)
            elif step.parallel > 1:
                self._measure_in_parallel(step, start + seconds)
            else:
                self._measure(step, start + seconds)
        finally:
            took = round(time.monotonic() - start, 2)
            not_begun = len({case.name for case in self.cases(step, seconds)} - self._begun)
            self.results.add(
                "step", step=step.name, seconds=took, not_begun=not_begun, after=machine_state()
            )

    def _measure(self, step: Step, deadline: float) -> None:
        if not step.all_cores and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-2:])
        cases = self.cases(step, deadline - time.monotonic())
        commits = self.prepared.commits if step.all_commits else [self.prepared.newest]
        preload = self._preload(cases)
        able = {case.name: list(commits) for case in cases}
        ratios: dict[str, list[list[float]]] = {}
        for number in range(min(self.rounds, step.most_rounds or step.rounds)):
            if number >= step.rounds:
                cases = [case for case in cases if _is_wide(ratios.get(case.name, []))]
            if not cases:
                return
            with contextlib.ExitStack() as stack:
                servers = {
                    commit: stack.enter_context(
                        self._server(commit, preload, number, len(commits))
                    )
                    for commit in commits
                }
                for case in cases:
                    if time.monotonic() >= deadline:
                        return
                    sides = {commit: servers[commit] for commit in able[case.name]}
                    values = self._measure_case(step, number, case, sides)
                    able[case.name] = list(values)
                    pairs = itertools.pairwise(values.values())
                    ratios.setdefault(case.name, []).append([b / a for a, b in pairs if a and b])

    def _preload(self, cases: Sequence[MeasurableCase]) -> Sequence[str]:
        return self.prepared.declared.preloaded_for(case.name for case in cases)

    def _server(
        self, commit: str, preload: Sequence[str], number: int = 0, sides: int = 1
    ) -> Server:
        return Server(self.side(commit), self.work_folder(commit), number + 1, sides, preload)

    def _measure_case(
        self, step: Step, number: int, case: MeasurableCase, servers: dict[str, Server]
    ) -> dict[str, float]:
        """Measure a round of a case and record it; return the values of the commits that can."""
        self._begun.add(case.name)
        able = dict(servers)
        while able:
            try:
                numbers = measure_round(list(able.values()), case, backwards=number % 2 == 1)
            except UnmeasuredError as error:
                commit = next(c for c, server in able.items() if server is error.server)
                del able[commit]
                kind = "skipped" if isinstance(error, CaseSkippedError) else "failed"
                if isinstance(error, CaseTimedOutError):
                    kind = "late"  # its time in the session was up, which is no failure
                reason = {"commit": commit, kind: str(error)}
                self.results.add("unmeasured", step=step.name, case=case.name, **reason)
            else:
                measured = dict(zip(able, numbers, strict=True))
                self.results.add(
                    "measured",
                    step=step.name,
                    round=number,
                    case=case.name,
                    unit=case.unit,
                    exact=case.measures == "count",
                    numbers={c: dataclasses.asdict(number) for c, number in measured.items()},
                )
                return {c: number.value for c, number in measured.items()}
        return {}

    def _measure_in_parallel(self, step: Step, deadline: float) -> None:
        """Measure cases at the same time, each in its own processes, on half of the cores."""
        if hasattr(os, "sched_setaffinity"):
            cores = sorted(os.sched_getaffinity(0))
            os.sched_setaffinity(0, cores[len(cores) // 2 :])
        commit, cases = self.prepared.newest, self.cases(step, deadline - time.monotonic())
        preload = self._preload(cases)

        def measure(case: MeasurableCase) -> None:
            left = deadline - time.monotonic()
            if left <= 1:
                return
            case = dataclasses.replace(case, timeout=left)
            with self._server(commit, preload) as server:
                self._measure_case(step, 0, case, {commit: server})

        with concurrent.futures.ThreadPoolExecutor(step.parallel) as pool:
            list(pool.map(measure, cases))


def _is_wide(rounds: Sequence[Sequence[float]]) -> bool:
    """Tell whether a ratio of two commits is known less closely than `_HALF_WIDTH`."""
    return any(
        margin_of_error(spread_of_rounds(ratios), len(ratios)) > _HALF_WIDTH
        for ratios in zip(*rounds, strict=False)
        if len(ratios) > 1
    )


def main(arguments: Sequence[str]) -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.gpu.session", description=__doc__)
    parser.add_argument("session", choices=sorted(SESSIONS))
    parser.add_argument("--prepared", type=Path, required=True, help="folder of tools.gpu.prepare")
    parser.add_argument("--out", type=Path, required=True, help="folder of results")
    parser.add_argument(
        "--budget", type=float, help="seconds in all; by default what all steps may take"
    )
    parser.add_argument("--rounds", type=int, default=99, help="most rounds of a case")
    parser.add_argument("--share", type=float, default=1.0, help="share of the planned times")
    parser.add_argument("--step", help="run this step alone, in this process")
    parser.add_argument("--only", default="", help="regular expression of cases and models")
    parser.add_argument("--small", action="store_true", help="few images of ResNet-50, for a CPU")
    options = parser.parse_args(arguments)
    budget = BUDGETS[options.session] if options.budget is None else options.budget
    session = Session(
        options.session,
        options.prepared,
        options.out,
        options.only,
        options.rounds,
        small=options.small,
    )
    if options.step:
        session.run_step(find_step(options.session, options.step), budget)
    else:
        session.run(budget, options.share)


if __name__ == "__main__":
    main(sys.argv[1:])
