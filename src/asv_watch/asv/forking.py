"""Runs cases in forks of a process that has imported modules, instead of importing them for each.

`asv_watch.probes.case_server` is that process. It runs every case once: the rounds of a
case come from different parents, because all forks of a process share its layout of memory, which
moves times by a per cent.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import IO, Any

from asv.runner import BENCHMARK_RUN_SCRIPT

from asv_watch import probes
from asv_watch.asv import processes
from asv_watch.asv.declared import declared
from asv_watch.records.side_files import FORKED, NOT_FORKED

_SECONDS_TO_START = 120.0
"""Imports from a cold disk may take most of a minute."""
_SOCKET = "socket"  # in the server's folder
_LONGEST_ANSWER = 1 << 10  # bytes
_MOST_OUTPUT = 1 << 16
"""Bytes of a server's output that are read, and dropped, at once."""


def may_fork(benchmark: dict[str, Any], case: str) -> bool:
    """Tell whether a fork may measure a case: if it times something, or its ``may_fork`` says so.

    A peak of memory would include all that the parent has imported, and a GPU needs a process that
    never forked.
    """
    may = benchmark.get("may_fork", benchmark["type"] == "time")
    return bool(may) and not declared().uses_gpu(case)


class ForkingSpawner:
    """Takes the place of asv's ``Spawner`` for cases that may be measured in forks."""

    def __init__(self, spawner: Any) -> None:
        """Wrap the spawner, which runs cases where this environment should not fork."""
        self._spawner = spawner
        self._server: _Server | None = None
        self._is_able = sys.platform == "linux"
        self._measured: set[str] = set()
        """Cases that the present server has run."""
        if self._is_able:
            self._start()
        self.processes = FORKED if self._is_able else NOT_FORKED
        """How cases that may be forked are started, for the record of the run."""

    def interrupt(self) -> None:
        """Pass on that the run is interrupted."""
        self._spawner.interrupt()

    def run(self, **parameters: Any) -> tuple[str, int]:
        """Run one case, as ``Spawner.run`` does; return output and exit status."""
        name = parameters["name"]
        if name in self._measured:
            self.close()
        self._measured.add(name)
        arguments = processes.case_arguments(self._spawner.benchmark_dir, parameters)
        return self.run_script(arguments, parameters["cwd"], parameters["timeout"])

    def close(self) -> None:
        """End the server."""
        self._measured.clear()
        if self._server is not None:
            self._server.close()
            self._server = None

    def run_script(self, arguments: list[str], folder: str, timeout: float) -> tuple[str, int]:
        """Run a command of asv's script in a fork, or else as `processes.run_script` does."""
        if self._is_able and self._server is None:
            self._start()
        if self._server is not None:
            with contextlib.suppress(ConnectionError):
                return self._server.run(arguments, folder, timeout)
            self.close()  # something ended the server
        return processes.run_script(self._spawner.env, arguments, folder, timeout)

    def _start(self) -> None:
        server = _Server(self._spawner.env)
        self._is_able = server.can_fork
        if self._is_able:
            self._server = server
        else:
            server.close()


class _Server:
    """A running `asv_watch.probes.case_server`."""

    def __init__(self, env: Any) -> None:
        self.can_fork = False
        """Whether it has imported a module that the project preloads, and may fork."""
        self._connection: socket.socket | None = None
        with (
            tempfile.TemporaryDirectory(prefix="asv-watch-") as folder,
            socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener,
        ):
            opened = os.open(folder, os.O_RDONLY)
            try:  # the path of a socket may have 107 characters, that of the folder has many
                listener.bind(f"/proc/self/fd/{opened}/{_SOCKET}")
            finally:
                os.close(opened)
            listener.listen(1)
            with processes.signals_deferred() as deferred:
                self._process = env.run(
                    ["-P", str(probes.CASE_SERVER), _SOCKET, *declared().preload],
                    cwd=folder,
                    env=processes.variables(env),
                    redirect_stderr=True,
                    return_popen=True,
                )
            try:
                for number in deferred:
                    signal.raise_signal(number)
                self._connect(listener)
            except BaseException:
                self.close()
                raise

    def _connect(self, listener: socket.socket) -> None:
        """Wait until the server has imported its modules, or has failed to."""
        output = self._process.stdout
        until = time.monotonic() + _SECONDS_TO_START
        while True:
            ready, _, _ = select.select(
                [listener, output], [], [], max(0, until - time.monotonic())
            )
            if listener in ready:
                self._connection, _ = listener.accept()
                with contextlib.suppress(ConnectionError):
                    hello = self.answer()
                    imported = hello["releases"]
                    gains = any(name in imported for name in declared().preload)
                    fast = declared().forks_well(imported)
                    self.can_fork = hello["threads"] == 1 and gains and fast
                return
            if not ready or not os.read(output.fileno(), _MOST_OUTPUT):
                return  # it took too long, or has ended

    def answer(self) -> dict[str, Any]:
        """Wait for a message of the server.

        Raises:
            ConnectionError: it has ended.
        """
        assert self._connection is not None  # noqa: S101 - it has connected, or may not fork
        received = self._connection.recv(_LONGEST_ANSWER)
        if not received:
            raise ConnectionError
        message: dict[str, Any] = json.loads(received)
        return message

    def has_answer(self) -> bool:
        """Tell whether `answer` would return, or fail, at once."""
        assert self._connection is not None  # noqa: S101 - it may fork
        return bool(select.select([self._connection], [], [], 0)[0])

    def run(self, arguments: Sequence[str], folder: str, timeout: float) -> tuple[str, int]:
        """Run a command of asv's script in a fork.

        Returns:
            Output and exit status.

        Raises:
            ConnectionError: the server has ended.
        """
        assert self._connection is not None  # noqa: S101 - it may fork
        request = {"script": BENCHMARK_RUN_SCRIPT, "arguments": arguments, "folder": folder}
        reader, writer = os.pipe()
        with os.fdopen(reader, "rb", buffering=0) as output:
            with processes.signals_deferred() as deferred:
                try:
                    socket.send_fds(self._connection, [json.dumps(request).encode()], [writer])
                finally:
                    os.close(writer)
                process = _Fork(self, int(self.answer()["pid"]), output)
            end = self._connection.fileno()
            return processes.supervise(process, end, deferred, timeout)

    def close(self) -> None:
        """End the server."""
        if self._connection is not None:
            self._connection.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process.stdout.close()


class _Fork:
    """A process that the server has forked; as `processes.MeasuredProcess` wants it."""

    def __init__(self, server: _Server, pid: int, stdout: IO[bytes]) -> None:
        self._server = server
        self.pid = pid
        self.stdout: IO[bytes] | None = stdout
        self._status: int | None = None

    def poll(self) -> int | None:
        if self._status is None and self._server.has_answer():
            self.wait()
        return self._status

    def wait(self) -> int:
        if self._status is None:
            self._status = int(self._server.answer()["status"])
        return self._status
