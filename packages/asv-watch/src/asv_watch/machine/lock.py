"""Holds a checkout for one run: a lock, a guard, a temporary folder; ends what it leaves behind.

Two runs in one checkout would share environments: one would install its commit while the other
measures. The lock is ``run.lock`` in the folder of the environments. The kernel releases it when
its holder ends, also when it is killed; the file's content says who holds it.

Every process that a run starts inherits two environment variables: `RUN`, the run's temporary
folder, and `LOCK`, the lock of its checkout. They identify the processes of a run that has
ended, in any process group or session. The descendants of such a process are ended too, whatever
their environment: on Linux it is the parent of all that its descendants leave behind
(`asv_watch.machine.children`).

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

import msgspec
import psutil

from asv_watch.errors import WatchError
from asv_watch.files import lock

FILE_NAME = "run.lock"
_PREFIX = "asv-watch-run-"


class _Holder(msgspec.Struct, frozen=True):
    """The holder of the lock, from its file; every field is empty while it is free."""

    job: str = ""
    host: str = ""
    pid: int = 0
    started: str = ""
    folder: str = ""


@contextmanager
def exclusive_run(environments: Path, job: str) -> Iterator[None]:
    """Hold the checkout while the body runs; afterwards nothing of the run is left.

    Within the body, Python's temporary files go to a folder that is removed. What a run that was
    killed left behind is cleaned up first. The lock lies in the folder of asv's environments, and
    names the job to others.

    Raises:
        WatchError: Another run holds the checkout.
        OSError: The lock cannot be written.
    """
    path = environments.resolve() / FILE_NAME
    with ExitStack() as stack:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        stack.callback(os.close, descriptor)
        if not lock(descriptor, path):
            holder = _read(path)
            run = "another run"
            if holder.job:
                process = f"process {holder.pid} on {holder.host}, started {holder.started}"
                run = f"`{holder.job}` ({process})"
            raise WatchError(
                f"{run} is measuring in this checkout; wait for its end or stop it, then try again"
            )
        # A run whose guard was killed as well may have left something.
        end_processes(lambda: _processes_with(LOCK, str(path)))
        left = Path(_read(path).folder)
        if left.name.startswith(_PREFIX):
            shutil.rmtree(left, ignore_errors=True)
        try:
            folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        except OSError as error:
            raise WatchError(
                f"no temporary folder can be made ({error.strerror}); "
                "make room, or set TMPDIR to a folder that is writable"
            ) from error
        started = time.strftime("%Y-%m-%d %H:%M")
        _write(descriptor, _Holder(job, platform.node(), os.getpid(), started, str(folder)))
        stack.callback(_write, descriptor, _Holder())
        stack.enter_context(_guarded(folder))
        for name, value in ((RUN, folder), (LOCK, path)):
            os.environ[name] = str(value)
            stack.callback(os.environ.pop, name)
        stack.callback(setattr, tempfile, "tempdir", tempfile.tempdir)
        tempfile.tempdir = str(folder)
        yield


def _write(descriptor: int, holder: _Holder) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, msgspec.json.encode(holder), 0)


def _read(path: Path) -> _Holder:
    try:
        holder = msgspec.json.decode(path.read_bytes(), type=_Holder)
    except (OSError, ValueError, RecursionError):
        return _Holder()
    shown = holder.job + holder.host + holder.started
    return holder if shown.isprintable() else _Holder()


@contextmanager
def _guarded(folder: Path) -> Iterator[None]:
    guard = subprocess.Popen(
        [sys.executable, "-P", "-m", "asv_watch.machine.lock", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        process_group=0,  # a signal to the run's group does not reach it
    )
    try:
        yield
    finally:
        guard.communicate()


RUN = "ASV_WATCH_RUN"
LOCK = "ASV_WATCH_LOCK"
_SECONDS_TO_END = 4.0
"""Seconds after which processes that do not die, for instance on a broken disk, are given up."""


def family(process: psutil.Process) -> list[psutil.Process]:
    """Return a process with its descendants; none if it has ended."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return [process, *process.children(recursive=True)]
    return []


def _processes_with(variable: str, value: str) -> list[psutil.Process]:
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
    end_processes(lambda: _processes_with(RUN, str(folder)))
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
