"""``python -m tools.gpu.session first --prepared FOLDER --out OUT --budget 465``: measure in time.

Every step of the session (`plan`) runs in a process of its own, which is killed when its time is
up; a step that would begin too late is left out. A result is a line of ``OUT/gpu.jsonl``, written
as soon as it is measured, so the end of a session costs one case at most.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import dataclasses
import importlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import psutil

from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.processes import (
    CaseSkippedError,
    Server,
    UnmeasuredError,
    measure_round,
)
from asv_watch.engine.sides import Side
from tools.gpu.plan import SESSIONS, Step, find_step
from tools.gpu.prepare import Prepared

_RESERVE_S = 6.0
"""Seconds kept free at the end, to stop what still runs."""
_GRACE_S = 5.0
"""Seconds that a step may exceed its time before it is killed."""
_LEAST_SHARE = 0.3
"""A step is left out when less than this share of its time is left."""
_LONGEST_CASE_S = 60.0


class Results:
    """The file of results: one JSON object a line, on the disk when `add` returns."""

    def __init__(self, out: Path) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self._path = out / "gpu.jsonl"

    def add(self, kind: str, **fields: Any) -> None:
        """Append a line; several processes may."""
        line = json.dumps({"kind": kind, "at": round(time.time(), 3), **fields})
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write(f"{line}\n")
            stream.flush()
            os.fsync(stream.fileno())


class Session:
    """A prepared folder, and the file of results."""

    def __init__(self, name: str, folder: Path, out: Path, only: str = "") -> None:
        self.only = only
        self.name, self.folder, self.out = name, folder.resolve(), out.resolve()
        content = (folder / "prepared.json").read_bytes()
        self.prepared = msgspec.json.decode(content, type=Prepared)
        self.results = Results(self.out)

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
        """Return the folder of a side's processes, where compiled code and tracked values stay."""
        folder = self.folder / "work" / commit[:8]
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def cases(self, step: Step) -> list[MeasurableCase]:
        """Return the cases of a step: those of a GPU share one process, which forks nothing."""
        return [
            dataclasses.replace(
                case,
                process="host" if case.can_fork else "GPU",
                timeout=min(case.timeout, _LONGEST_CASE_S),
            )
            for case in step.chosen(self.prepared.cases)
            if re.search(self.only, case.name)
        ]

    def run(self, budget: float) -> None:
        """Run all steps, each within its time; leave out those that would begin too late."""
        end = time.monotonic() + budget - _RESERVE_S
        begun: dict[str, tuple[subprocess.Popen[bytes], float]] = {}
        for step in SESSIONS[self.name]:
            if step.after in begun:
                self._wait(step.after, *begun.pop(step.after))
            left = min(step.seconds, end - time.monotonic())
            if left < _LEAST_SHARE * step.seconds:
                self.results.add("step", step=step.name, left_out=f"{max(0.0, left):.0f} s left")
                continue
            started = self._start(step, left), time.monotonic() + left + _GRACE_S
            if step.background:
                begun[step.name] = started
            else:
                self._wait(step.name, *started)
        for name, (process, _) in begun.items():
            self._wait(name, process, end)

    def _wait(self, name: str, process: subprocess.Popen[bytes], until: float) -> None:
        if kill_when_late(process, until):
            self.results.add("step", step=name, killed="its time was up")

    def _start(self, step: Step, seconds: float) -> subprocess.Popen[bytes]:
        arguments = [self.name, "--prepared", str(self.folder), "--out", str(self.out)]
        arguments += ["--step", step.name, "--budget", f"{seconds:.1f}", "--only", self.only]
        command = [sys.executable, "-m", "tools.gpu.session", *arguments]
        return subprocess.Popen(command, cwd=self.folder / "project", start_new_session=True)

    def run_step(self, step: Step, seconds: float) -> None:
        """Run one step in this process, and record how long it took."""
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
            self.results.add("step", step=step.name, seconds=round(time.monotonic() - start, 2))

    def _measure(self, step: Step, deadline: float) -> None:
        if not step.all_cores and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-2:])
        cases = self.cases(step)
        commits = self.prepared.commits if step.all_commits else [self.prepared.newest]
        older = set(commits[:-1])
        lacking = {case.name: older for case in cases if re.search(step.newest_only, case.name)}
        for number in range(step.rounds if cases else 0):
            with contextlib.ExitStack() as stack:
                servers = {
                    commit: stack.enter_context(self._server(commit, cases, number, len(commits)))
                    for commit in commits
                }
                for case in cases:
                    if time.monotonic() >= deadline:
                        return
                    without = lacking.get(case.name, set())
                    able = {c: server for c, server in servers.items() if c not in without}
                    unable = self._measure_case(step, number, case, able)
                    lacking[case.name] = without | unable

    def _server(
        self, commit: str, cases: Sequence[MeasurableCase], number: int = 0, sides: int = 1
    ) -> Server:
        side = self.side(commit)
        preload = side.environment.declared.preloaded_for(case.name for case in cases)
        return Server(side, self.work_folder(commit), number + 1, sides, preload)

    def _measure_case(
        self, step: Step, number: int, case: MeasurableCase, servers: dict[str, Server]
    ) -> set[str]:
        """Measure a round of a case and record it; return the commits that cannot run it."""
        able, unable = dict(servers), set()
        while able:
            try:
                numbers = measure_round(list(able.values()), case, backwards=number % 2 == 1)
            except UnmeasuredError as error:
                commit = next(c for c, server in able.items() if server is error.server)
                del able[commit]
                unable.add(commit)
                kind = "skipped" if isinstance(error, CaseSkippedError) else "failed"
                reason = {"commit": commit, kind: str(error)}
                self.results.add("unmeasured", step=step.name, case=case.name, **reason)
            else:
                given = {c: dataclasses.asdict(n) for c, n in zip(able, numbers, strict=True)}
                self.results.add(
                    "measured",
                    step=step.name,
                    round=number,
                    case=case.name,
                    unit=case.unit,
                    exact=case.measures == "count",
                    numbers=given,
                )
                break
        return unable

    def _measure_in_parallel(self, step: Step, deadline: float) -> None:
        """Measure cases at the same time, each in its own processes, on half of the cores."""
        if hasattr(os, "sched_setaffinity"):
            cores = sorted(os.sched_getaffinity(0))
            os.sched_setaffinity(0, cores[len(cores) // 2 :])
        commit = self.prepared.newest

        def measure(case: MeasurableCase) -> None:
            left = deadline - time.monotonic()
            if left <= 1:
                return
            case = dataclasses.replace(case, timeout=left)
            with self._server(commit, [case]) as server:
                self._measure_case(step, 0, case, {commit: server})

        with concurrent.futures.ThreadPoolExecutor(step.parallel) as pool:
            list(pool.map(measure, self.cases(step)))


def kill_when_late(process: subprocess.Popen[bytes], until: float) -> bool:
    """Wait for a step; kill it and all that it started if its time is up, on the monotonic clock.

    Returns:
        Whether it was killed.
    """
    try:
        process.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        parent = psutil.Process(process.pid)
        started = parent.children(recursive=True)
        for child in (parent, *started):
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
        process.wait()
        psutil.wait_procs(started, timeout=2)
        return True
    return False


def main(arguments: Sequence[str]) -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.gpu.session", description=__doc__)
    parser.add_argument("session", choices=sorted(SESSIONS))
    parser.add_argument("--prepared", type=Path, required=True, help="folder of tools.gpu.prepare")
    parser.add_argument("--out", type=Path, required=True, help="folder of results")
    parser.add_argument("--budget", type=float, required=True, help="seconds in all")
    parser.add_argument("--step", help="run this step alone, in this process")
    parser.add_argument("--only", default="", help="of the cases, those that this matches")
    options = parser.parse_args(arguments)
    session = Session(options.session, options.prepared, options.out, options.only)
    if options.step:
        session.run_step(find_step(options.session, options.step), options.budget)
    else:
        session.run(options.budget)


if __name__ == "__main__":
    main(sys.argv[1:])
