"""Measures the next cases of a benchmark while one is measured, where no value depends on a clock.

A peak of memory needs a process of its own, which spends most of its time on imports. Its
value is the same whether or not the other cores work.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from asv_watch.asv import processes
from asv_watch.asv.declared import declared
from asv_watch.asv.processes import CaseRun

_MOST_AT_ONCE = 4
"""Largest number of processes at a time, which share the memory that a case may use."""


def cases_at_once(options: dict[str, Any]) -> int:
    """Return how many processes may run at the same time: one for each core that they may use."""
    if not hasattr(os, "sched_getaffinity"):
        return 1
    cores = (options.get("extra_params") or {}).get("cpu_affinity") or os.sched_getaffinity(0)
    return min(len(cores), _MOST_AT_ONCE)


def may_overlap(benchmark: dict[str, Any], case: str) -> bool:
    """Tell whether other cases of the benchmark may be measured at the same time as a case.

    It has to measure peak memory, and its ``may_overlap`` to say so. Cases that share a
    ``setup_cache`` work in one folder, and a GPU has its memory for one case.
    """
    may = benchmark["type"] == "peakmemory" and benchmark.get("may_overlap")
    may = may and not benchmark.get("setup_cache_key")
    return bool(may) and not declared().uses_gpu(case)


class OverlappingSpawner:
    """Takes the place of asv's ``Spawner`` for cases that may overlap."""

    def __init__(self, spawner: Any, at_once: int) -> None:
        """Start nothing yet."""
        self._spawner = spawner
        self._at_once = at_once
        self._pool = ThreadPoolExecutor(at_once)
        self._expected: Sequence[str] = ()
        self._started: dict[str, _Started] = {}

    def expect(self, names: Sequence[str]) -> None:
        """Take what `run` will be asked for next, in this order; end all else that was started."""
        self._expected = names
        for name in self._started.keys() - set(names):
            self._started.pop(name).remove()

    def interrupt(self) -> None:
        """Pass on that the run is interrupted."""
        self._spawner.interrupt()

    def run(self, **parameters: Any) -> tuple[str, int]:
        """Run the first expected case, as ``Spawner.run`` does, and start those that come next.

        Returns:
            Output and exit status.
        """
        case = CaseRun(**parameters)
        for expected in self._expected[: self._at_once]:
            if expected not in self._started:
                self._start(replace(case, name=expected))
        started = self._started.pop(case.name)
        try:
            output, status = started.outcome.result()
            if status == 0:
                shutil.copyfile(started.case.result_file_name, case.result_file_name)
        finally:
            started.remove()
        if status == -signal.SIGKILL:  # its part of the memory may have been too little for it
            wait(others.outcome for others in self._started.values())
            output, status = self._spawner.run(**parameters)
        return output, status

    def close(self) -> None:
        """End everything that was started."""
        self.expect(())
        self._pool.shutdown()

    def _start(self, case: CaseRun) -> None:
        folder = Path(tempfile.mkdtemp(prefix="asv-watch-"))
        (folder / "work").mkdir()
        case = replace(case, result_file_name=str(folder / "result"), cwd=str(folder / "work"))
        arguments = case.arguments(self._spawner.benchmark_dir)
        with processes.signals_deferred() as deferred:
            process = processes.start(self._spawner.env, arguments, case.cwd)
            outcome = self._pool.submit(
                processes.supervise_to_end, process, case.timeout, 1 / self._at_once
            )
            self._started[case.name] = _Started(case, process, outcome, folder)
        for number in deferred:
            signal.raise_signal(number)


@dataclass
class _Started:
    """A case in progress."""

    case: CaseRun
    process: Any
    outcome: Future[tuple[str, int]]
    """Output and exit status, once a thread has seen the process to its end."""
    folder: Path

    def remove(self) -> None:
        """End the process if it still runs, and remove its folder."""
        self.process.kill()
        wait([self.outcome])
        shutil.rmtree(self.folder, ignore_errors=True)
