"""Ends the processes and removes the temporary folder that a run leaves behind.

Every process that a run starts inherits two environment variables: `RUN`, the run's temporary
folder, and `LOCK`, the lock of its checkout. They identify the processes of a run that has
ended, in any process group or session. The descendants of such a process are ended too, whatever
their environment: on Linux it is the parent of all that its descendants leave behind
(`asv_watch.machine.children`).

Run as a script (``python leftovers.py FOLDER``), this file guards a run. The script waits until
its standard input is closed, which the kernel does as soon as the run has ended, even by
SIGKILL. Then it ends the run's remaining processes and removes its folder.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import psutil

RUN = "ASV_WATCH_RUN"
LOCK = "ASV_WATCH_LOCK"
_SECONDS_TO_END = 4.0
"""Seconds after which processes that do not die, for instance on a broken disk, are given up."""


def with_descendants(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Return processes and all that they and their descendants started and that still runs."""
    family: dict[int, psutil.Process] = {}
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            for member in (process, *process.children(recursive=True)):
                family[member.pid] = member
    return list(family.values())


def processes_with(variable: str, value: str) -> list[psutil.Process]:
    """Return the other processes that have an environment variable, and their descendants."""
    chosen = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and process.environ().get(variable) == value:
                chosen.append(process)
    return with_descendants(chosen)


def end_processes(find: Callable[[], Sequence[psutil.Process]]) -> None:
    """Kill the processes that a function finds until it finds none, for some seconds at most."""
    deadline = time.monotonic() + _SECONDS_TO_END
    while processes := find():
        for process in processes:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(processes, timeout=0.2)
        if time.monotonic() > deadline:
            return


def main(folder: Path) -> None:
    """Guard the run whose temporary folder this is."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    end_processes(lambda: processes_with(RUN, str(folder)))
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
