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

import contextlib
import itertools
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

RUN = "ASV_WATCH_RUN"
LOCK = "ASV_WATCH_LOCK"
_SECONDS_TO_END = 4.0
"""Seconds after which processes that do not die, for instance on a broken disk, are given up."""


def _family(process: psutil.Process) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return [process, *process.children(recursive=True)]
    return []


def processes_with(variable: str, value: str) -> list[psutil.Process]:
    """Return the other processes that have an environment variable."""
    chosen = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and process.environ().get(variable) == value:
                chosen.append(process)
    return chosen


def end_processes(find: Callable[[], Sequence[psutil.Process]]) -> None:
    """Kill what a function finds, with its descendants, until there is none, or for seconds."""
    deadline = time.monotonic() + _SECONDS_TO_END
    while families := [_family(process) for process in find()]:
        processes = list(itertools.chain(*families))
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
