"""Holds a checkout for one run: a lock, a guard, a temporary folder; ends what it leaves behind.

Two runs in one checkout would share environments: one would install its commit while the other
measures. The lock is ``run.lock`` in the folder of the environments. The kernel releases it when
its holder ends, also when it is killed; the file's content says who holds it.

Every process that a run starts inherits the environment variable `RUN`, the run's temporary
folder. It identifies the processes of a run that has ended, in any process group or session. The
descendants of such a process are ended too, whatever their environment: on Linux it is the parent
of all that its descendants leave behind (`asv_watch.machine.children`).

Run as a script (``python -m asv_watch.machine.lock FOLDER``), this file guards a run. The script
waits until its standard input is closed, which the kernel does as soon as the run has ended, even
by SIGKILL. Then it ends the run's remaining processes and removes its folder.
"""

import contextlib
import itertools
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil

from asv_watch.errors import WatchError
from asv_watch.files import lock


@contextmanager
def exclusive_run(environments: Path, job: str) -> Iterator[None]:
    """Hold the checkout while the body runs; afterwards nothing of the run is left.

    Within the body, Python's temporary files go to a folder that is removed. The lock names the
    job to others.

    Raises:
        WatchError: Another run holds the checkout.
        OSError: The lock cannot be written.
    """
    path = environments.resolve() / "run.lock"
    with ExitStack() as stack:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        stack.callback(os.close, descriptor)
        if not lock(descriptor, path):
            holder = path.read_text(encoding="utf-8", errors="replace")
            run = holder if holder and holder.isprintable() else "another run"
            raise WatchError(
                f"{run} is measuring in this checkout; wait for its end or stop it, then try again"
            )
        try:
            folder = Path(tempfile.mkdtemp(prefix="asv-watch-run-"))
        except OSError as error:
            raise WatchError(
                f"no temporary folder can be made ({error.strerror}); "
                "make room, or set TMPDIR to a folder that is writable"
            ) from error
        started = time.strftime("%Y-%m-%d %H:%M")
        holder = f"`{job}` (process {os.getpid()} on {platform.node()}, started {started})"
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, holder.encode(), 0)
        guard = subprocess.Popen(
            [sys.executable, "-P", "-m", "asv_watch.machine.lock", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,  # a signal to the run's group does not reach it
        )
        stack.callback(guard.communicate)
        os.environ[RUN] = str(folder)
        stack.callback(os.environ.pop, RUN)
        stack.callback(setattr, tempfile, "tempdir", tempfile.tempdir)
        tempfile.tempdir = str(folder)
        yield


RUN = "ASV_WATCH_RUN"
_SECONDS_TO_END = 4.0
"""Seconds after which processes that do not die, for instance on a broken disk, are given up."""


def family(process: psutil.Process) -> list[psutil.Process]:
    """Return a process with its descendants; none if it has ended."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return [process, *process.children(recursive=True)]
    return []


def _processes_of(run: Path) -> list[psutil.Process]:
    """Return the other processes that a run has started, by its temporary folder."""
    chosen = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and process.environ().get(RUN) == str(run):
                chosen.append(process)
    return chosen


def end_processes(find: Callable[[], Sequence[psutil.Process]]) -> None:
    """Kill what a function finds, with its descendants, until there is none, or for seconds."""
    deadline = time.monotonic() + _SECONDS_TO_END
    while processes := list(itertools.chain.from_iterable(map(family, find()))):
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
    end_processes(lambda: _processes_of(folder))
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
