"""Starts child processes, limits their time and memory, and ends them with all that they started.

On Linux a child becomes the parent of what its descendants leave behind, and this process of what
the child leaves behind. So what left its session, or cleared its environment, is found too.
"""

import contextlib
import ctypes
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import IO, Any, ClassVar

import psutil

from asv_watch.machine.leftovers import end_processes
from asv_watch.machine.memory import end_largest_child, limit_in_words, memory_of

_SET_CHILD_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of linux/prctl.h
_LIBC = ctypes.CDLL(None)
_SECONDS_BETWEEN_LOOKS = 0.5
"""Seconds between two looks at the memory of a process; a look takes some milliseconds."""
_LONGEST_LINE = 1 << 20
"""Bytes; the rest of a longer line counts as the next one."""


class TooMuchMemoryError(Exception):
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
    """Ids of the processes of all children."""

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
        """Wait for the end of the process, and kill it if it takes longer than so many seconds."""
        try:
            self.process.wait(max(0.0, seconds))
        except subprocess.TimeoutExpired:
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

    def __init__(self, limit: float, *, ends_child: bool = False) -> None:
        """Begin to watch.

        Args:
            limit: in bytes.
            ends_child: whether the process goes on without its child that uses most, if it has
                any.
        """
        self._limit, self._ends_child, self._next_look = limit, ends_child, 0.0
        self.has_ended_child = False
        """Whether a child was ended, by SIGKILL."""

    def turns(self, pid: int, deadline: float) -> Iterator[float]:
        """Yield how many seconds to wait before the next look, until the deadline.

        Args:
            pid: id of the process; 0 if it is not known yet.
            deadline: on the monotonic clock; at least one turn comes before it.

        Raises:
            TimeoutError: the deadline has passed.
            TooMuchMemoryError: the process uses more memory than it may, and no child was ended.
        """
        while True:
            now = time.monotonic()
            if now >= self._next_look:
                self._next_look = now + _SECONDS_BETWEEN_LOOKS
                if pid and memory_of(pid) > self._limit:
                    if not (self._ends_child and end_largest_child(pid)):
                        raise TooMuchMemoryError(limit_in_words(self._limit))
                    self.has_ended_child = True
            yield max(0.0, min(deadline, self._next_look) - now)
            if now >= deadline:
                raise TimeoutError


class Lines:
    """The lines that a process writes; its memory is watched while they are waited for."""

    def __init__(self, file: IO[bytes], memory_limit: float, pid: int = 0) -> None:
        """Read nothing yet.

        Args:
            file: the end of a pipe to which it writes.
            memory_limit: in bytes, for the process and its descendants.
            pid: id of the process; 0 if it is not known yet.
        """
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
