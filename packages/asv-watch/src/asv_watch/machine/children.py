"""Starts child processes, limits their time and memory, and ends them with all that they started.

On Linux a child becomes the parent of what its descendants leave behind, and this process of what
the child leaves behind. So what left its session, or cleared its environment, is found too.

A case that exceeds its limit of memory is stopped, before the kernel ends processes of its own
choice. The limit of a container (cgroup v1 or v2) counts where it is lower than the memory of the
machine.
"""

import contextlib
import ctypes
import math
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, ClassVar

import psutil

from asv_watch.errors import WatchError
from asv_watch.machine.lock import end_processes, family

MEMORY_LIMIT = "ASV_WATCH_MEMORY_LIMIT_GIB"
"""Environment variable: memory that a case may use, in GiB."""
GIB = 1024**3
_SHARE_OF_MEMORY = 0.9
"""Default limit as a share of the memory, for all sides together."""
_CGROUPS = Path("/sys/fs/cgroup")


def memory_limit(sides: int = 1) -> float:
    """Return the memory in bytes that each of so many processes of a case may use, with children.

    Raises:
        WatchError: the environment variable is no number above 0.
    """
    text = os.environ.get(MEMORY_LIMIT)
    if text is None:
        return _SHARE_OF_MEMORY * available_memory() / sides
    try:
        limit = float(text)
    except ValueError:
        limit = math.nan
    if not limit > 0:
        raise WatchError(
            f"{MEMORY_LIMIT} is {text!r}; give a number of GiB above 0, or leave it out"
        )
    return limit * GIB


def available_memory(cgroups: Path = _CGROUPS, own: Path = Path("/proc/self/cgroup")) -> float:
    """Return the memory in bytes of this machine, or of the container that this process is in."""
    return min([float(psutil.virtual_memory().total), *_cgroup_limits(cgroups, own)])


def _cgroup_limits(cgroups: Path, own: Path) -> Iterator[float]:
    """Yield the limits of this process's cgroup and of those around it.

    A container may see itself as the root of the tree, whatever ``/proc/self/cgroup`` calls it.
    """
    try:
        lines = own.read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:  # version 2
            root, name = cgroups, "memory.max"
        elif "memory" in controllers.split(","):
            root, name = cgroups / "memory", "memory.limit_in_bytes"
        else:
            continue
        inner = root / path.lstrip("/")
        for folder in {root, inner, *inner.parents}:
            if folder.is_relative_to(root):
                with contextlib.suppress(OSError, ValueError):  # "max" is no number
                    yield float((folder / name).read_text(encoding="utf-8"))


def memory_of(pid: int) -> int:
    """Resident memory of a process and its descendants, in bytes; 0 once it has ended."""
    total = 0
    with contextlib.suppress(psutil.NoSuchProcess):
        for member in family(psutil.Process(pid)):
            with contextlib.suppress(psutil.NoSuchProcess):
                total += member.memory_info().rss
    return total


def limit_in_words(limit: float) -> str:
    """Say that a case was stopped at a limit in bytes."""
    return (
        f"it used more than {limit / GIB:.3g} GiB of memory and was stopped; {MEMORY_LIMIT} sets "
        "the limit"
    )


_SET_CHILD_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of linux/prctl.h
_LIBC = ctypes.CDLL(None)
_SECONDS_BETWEEN_LOOKS = 0.5
"""Seconds between two looks at the memory of a process; a look takes some milliseconds."""
_LONGEST_LINE = 1 << 20
"""Bytes; the rest of a longer line counts as the next one."""


class TooMuchMemoryError(WatchError):
    """A process and its descendants use more memory than they may; the message says so."""


def _adopt_orphans() -> None:
    """Make this process the parent of those whose parents, descendants of it, have ended."""
    if sys.platform == "linux":
        _LIBC.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Child(contextlib.AbstractContextManager["Child"]):
    """A process and all that it starts, of which nothing is left after the body.

    Nothing else may be started in a session of its own: it would seem to be left behind.
    """

    _running: ClassVar[set[int]] = set()

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        """Start a command in a session of its own; the arguments are those of `Popen`."""
        self._is_killed = False
        _adopt_orphans()
        self.process: subprocess.Popen[Any] = subprocess.Popen(
            command,
            start_new_session=True,
            preexec_fn=_adopt_orphans,  # noqa: PLW1509 - one system call, which needs no lock
            **options,
        )
        self._running.add(self.process.pid)

    def __exit__(self, *error: object) -> None:
        self.kill()
        with self.process:  # closes its pipes
            pass

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to the process and to what it started in its session."""
        with contextlib.suppress(ProcessLookupError):  # all have ended
            os.killpg(self.process.pid, number)

    def end(self, seconds: float) -> None:
        """Wait so many seconds for the end of the process; then kill it, and what it started."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, seconds))
        self.kill()

    def kill(self) -> None:
        """End the process, if it still runs, and all that it started."""
        if self._is_killed:
            return
        self.send_signal(signal.SIGKILL)
        self.process.wait()
        end_processes(self._left_behind)
        self._running.discard(self.process.pid)
        self._is_killed = True  # not before: an interrupt may come in between

    def _left_behind(self) -> list[psutil.Process]:
        """Find what children left behind: only they start processes in other sessions."""
        return [
            process
            for process in psutil.Process().children()
            if process.pid not in self._running and os.getsid(process.pid) != os.getsid(0)
        ]


class MemoryWatch:
    """Looks now and then at the memory of a process and its descendants."""

    def __init__(self, limit: float) -> None:
        """Begin to watch; the limit is in bytes."""
        self._limit, self._next_look = limit, 0.0

    def turns(self, pid: int, deadline: float) -> Iterator[float]:
        """Yield how many seconds to wait before the next look, until the deadline.

        It is on the monotonic clock, and at least one turn comes before it. The id of a process
        that is not known yet is 0.

        Raises:
            TimeoutError: the deadline has passed.
            TooMuchMemoryError: the process uses more memory than it may.
        """
        while True:
            now = time.monotonic()
            if now >= self._next_look:
                self._next_look = now + _SECONDS_BETWEEN_LOOKS
                if pid and memory_of(pid) > self._limit:
                    raise TooMuchMemoryError(limit_in_words(self._limit))
            yield max(0.0, min(deadline, self._next_look) - now)
            if now >= deadline:
                raise TimeoutError


class Lines:
    """The lines that a process writes; its memory is watched while they are waited for."""

    def __init__(self, file: IO[bytes], memory_limit: float, pid: int = 0) -> None:
        """Read nothing yet; the limit is in bytes, and the id 0 if it is not known yet."""
        self.file, self.pid = file, pid
        self._watch = MemoryWatch(memory_limit)
        self._unread = b""

    def read(self, deadline: float) -> bytes:
        """Return the next line with its end; nothing if the process ends before it wrote one.

        Raises:
            TimeoutError: no whole line came by the deadline, on the monotonic clock.
            TooMuchMemoryError: the process uses more memory than it may.
        """
        turns = self._watch.turns(self.pid, deadline)
        with selectors.DefaultSelector() as selector:
            selector.register(self.file, selectors.EVENT_READ)
            while b"\n" not in self._unread and len(self._unread) < _LONGEST_LINE:
                if not selector.select(next(turns)):
                    continue
                part = os.read(self.file.fileno(), _LONGEST_LINE)
                if not part:
                    return b""
                self._unread += part
        end = self._unread.find(b"\n") + 1 or len(self._unread)
        line, self._unread = self._unread[:end], self._unread[end:]
        return line


def exit_in_words(status: int) -> str:
    """Say how a process ended; a negative status is minus the signal that ended it."""
    if status >= 0:
        return f"exit status {status}"
    names = {number.value: number.name for number in signal.Signals}
    name = names.get(-status, f"signal {-status}")
    hint = ", perhaps because memory ran out" if name == "SIGKILL" else ""
    return f"the process was ended by {name}{hint}"
