"""One round of one case: two processes, one a side, which take samples in turn.

Where they compute on one thread they are pinned to one core, so that they share its clock, its
caches and its neighbours; they start and warm up beside each other.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torchspeed.watch import probes
from torchspeed.watch.turns.sides import Side

MOST_SAMPLES = 30
"""Of each side in a round."""
FEWEST_SAMPLES = 8
SECONDS = 2.5
"""After which no new turn begins."""
_SECONDS_TO_END = 2.0
"""That a process has when nothing more is asked of it."""


@dataclass(frozen=True, slots=True)
class Case:
    """A case of the suites, as asv knows it."""

    name: str
    """Such as ``suite.Class.time_x('darnn', 'cpu')``."""
    identity: str
    """The benchmark's name and the case's place among its cases: ``suite.Class.time_x-0``."""
    timeout: float
    """Seconds within which it has to be ready."""


class CaseSkippedError(Exception):
    """The case cannot run on one of the sides; says why."""


class CaseFailedError(Exception):
    """The case raised, crashed or took too long on one of the sides; says which, and why."""


class _Process:
    """The process of one side."""

    def __init__(self, side: Side, suites: Path, case: Case, folder: Path) -> None:
        self._side, self._timeout = side, case.timeout
        self._errors = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed in `close`
        environment = os.environ | dict(side.pair.variables) | {"PYTHONPATH": str(side.source)}
        self._process = subprocess.Popen(
            [
                *(str(side.python), "-P", str(probes.TIMER)),
                *(str(suites), case.identity, str(side.planted)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=folder,
            env=environment,
        )
        assert self._process.stdout is not None  # noqa: S101 - PIPE was asked for
        self._answers = selectors.DefaultSelector()
        self._answers.register(self._process.stdout, selectors.EVENT_READ)

    def ready(self) -> bool:
        """Wait until it has warmed up; return whether it computes on one thread.

        Raises:
            CaseSkippedError: it cannot run here.
            CaseFailedError: it ended, or was not ready in time.
        """
        said = self._hear()
        if "skipped" in said:
            raise CaseSkippedError(said["skipped"])
        return bool(said["one thread"])

    def pin(self, core: int) -> None:
        """Let it run on one core only."""
        # A process that has just died says so when it is asked for its sample.
        with contextlib.suppress(OSError):
            os.sched_setaffinity(self._process.pid, {core})

    def sample(self) -> float:
        """Seconds a call.

        Raises:
            CaseFailedError: it ended, or took too long.
        """
        assert self._process.stdin is not None  # noqa: S101 - PIPE was asked for
        with contextlib.suppress(BrokenPipeError):  # `_hear` says why
            self._process.stdin.write(b"\n")
            self._process.stdin.flush()
        return float(self._hear()["seconds"])

    def _hear(self) -> dict[str, Any]:
        if not self._answers.select(self._timeout):
            raise CaseFailedError(f"{self._side.name} did not answer in {self._timeout:g} s")
        assert self._process.stdout is not None  # noqa: S101 - PIPE was asked for
        line = self._process.stdout.readline()
        if line:
            said: dict[str, Any] = json.loads(line)
            return said
        self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        why = lines[-1] if lines else f"exit status {self._process.returncode}"
        raise CaseFailedError(f"{self._side.name}: {why}")

    def close(self) -> None:
        """End it; standard input's end is the sign, and a process that overlooks it is killed."""
        self._answers.close()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None  # noqa: S101 - PIPE was asked for
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        try:
            self._process.wait(timeout=_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()


@contextlib.contextmanager
def _processes(sides: tuple[Side, Side], suites: Path, case: Case) -> Iterator[list[_Process]]:
    """The processes of a round, ended whatever happens."""
    with (
        tempfile.TemporaryDirectory(prefix="torchspeed-") as folder,
        contextlib.ExitStack() as started,
    ):
        processes = []
        for side in sides:
            processes.append(_Process(side, suites, case, Path(folder)))
            started.callback(processes[-1].close)
        yield processes


def play_round(
    sides: tuple[Side, Side], suites: Path, case: Case, first: int = 0
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Measure one case on two sides, in turns A B B A.

    Args:
        sides: before and after.
        suites: folder of the suites.
        case: what to measure.
        first: which side is A, 0 or 1; the other one in the next round.

    Returns:
        For each side its samples in seconds a call, two of every turn.

    Raises:
        CaseSkippedError: a side cannot run it.
        CaseFailedError: it failed on a side.
    """
    with _processes(sides, suites, case) as processes:
        one_thread = [process.ready() for process in processes]
        if all(one_thread) and hasattr(os, "sched_setaffinity"):  # Linux alone can pin
            core = max(os.sched_getaffinity(0))  # the first serves most interrupts
            for process in processes:
                process.pin(core)
        samples: tuple[list[float], list[float]] = ([], [])
        until = time.monotonic() + SECONDS
        while len(samples[0]) < MOST_SAMPLES and (
            time.monotonic() < until or len(samples[0]) < FEWEST_SAMPLES
        ):
            for place in (first, 1 - first, 1 - first, first):
                samples[place].append(processes[place].sample())
    return tuple(samples[0]), tuple(samples[1])
