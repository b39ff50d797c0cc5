"""Holds a checkout for one run: a lock, a guard, a temporary folder.

Two runs in one checkout would share environments: one would install its commit while the other
measures. The lock is ``run.lock`` in the folder of the environments. The kernel releases it when
its holder ends, also when it is killed; the file's content says who holds it.
"""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from asv_watch.errors import WatchError
from asv_watch.files import lock
from asv_watch.machine import leftovers
from asv_watch.machine.leftovers import LOCK, RUN, end_processes, processes_with

FILE_NAME = "run.lock"
_PREFIX = "asv-watch-run-"


class _Holder(msgspec.Struct, frozen=True):
    """The holder of the lock, from its file; every field is empty while it is free."""

    job: str = ""
    host: str = ""
    pid: int = 0
    started: str = ""
    folder: str = ""
    """The run's temporary folder."""


@contextmanager
def exclusive_run(environments: Path, job: str) -> Iterator[None]:
    """Hold the checkout while the body runs; afterwards nothing of the run is left.

    Within the body, Python's temporary files go to a folder that is removed. What a run that was
    killed left behind is cleaned up first.

    Args:
        environments: The folder of asv's environments, such as ``.asv/env``.
        job: What runs, for the message to others, such as ``nightly``.

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
        end_processes(lambda: processes_with(LOCK, str(path)))
        left = Path(_read(path).folder)
        if left.name.startswith(_PREFIX):
            shutil.rmtree(left, ignore_errors=True)
        folder = _make_folder()
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


def _make_folder() -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix=_PREFIX))
    except OSError as error:
        raise WatchError(
            f"no temporary folder can be made ({error.strerror}); "
            "make room, or set TMPDIR to a folder that is writable"
        ) from error


@contextmanager
def _guarded(folder: Path) -> Iterator[None]:
    guard = subprocess.Popen(
        [sys.executable, "-P", leftovers.__file__, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        process_group=0,  # a signal to the run's group does not reach it
    )
    try:
        yield
    finally:
        guard.communicate()
