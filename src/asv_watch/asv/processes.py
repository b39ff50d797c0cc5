"""Runs one measured process, within its time and memory, and ends everything that it started.

asv's own limit is on the time without output, it has none on memory, and it waits for processes
that a benchmark left behind. Here the limits are on the whole time and on the memory of the
process with its children, and the process group is killed in any case.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import partial
from typing import IO, Any, Protocol

from asv.runner import BENCHMARK_RUN_SCRIPT
from asv.util import TIMEOUT_RETCODE

from asv_watch.machine.memory import limit_in_words, memory_limit, memory_of

TEMPORARY_FOLDER = "TMPDIR"
_OUTER_FOLDER = {name: path for name, path in os.environ.items() if name == TEMPORARY_FOLDER}
"""As it was when asv loaded the plugin."""
_POLLING = 0.1
"""Seconds between looks at a process, where its end cannot be waited for together with output."""
_SECONDS_BETWEEN_LOOKS = 1.0
"""Between looks at a process's memory; one takes less than a millisecond."""
_MOST_OUTPUT = 1 << 20
"""Bytes kept of a process's output: the end of it."""


def case_arguments(suites: str, parameters: dict[str, Any]) -> list[str]:
    """Return the command of asv's script for what ``Spawner.run`` is given."""
    names = ("name", "params_str", "profile_path", "result_file_name")
    return ["run", suites, *(parameters[name] for name in names)]


def run(self: Any, **parameters: Any) -> tuple[str, int]:
    """Run one case, in the place of ``Spawner.run``; return output and exit status."""
    arguments = case_arguments(self.benchmark_dir, parameters)
    return run_script(self.env, arguments, parameters["cwd"], parameters["timeout"])


def create_setup_cache(
    self: Any,
    benchmark_id: str,
    timeout: float,
    params_str: str,
    run_elsewhere: Callable[[list[str], str, float], tuple[str, int]] | None = None,
) -> tuple[str | None, str | None]:
    """Run a ``setup_cache`` in a new folder, in the place of ``Spawner.create_setup_cache``.

    Args:
        self: asv's spawner.
        benchmark_id: Name of a benchmark that uses the cache.
        timeout: Seconds.
        params_str: Parameters of the benchmark.
        run_elsewhere: Does what `run_script` does, such as in a fork.

    Returns:
        The folder with the cache and ``None``, or ``None`` and the output of what failed.
    """
    folder = tempfile.mkdtemp(prefix="asv-watch-")
    arguments = ["setup_cache", self.benchmark_dir, benchmark_id, params_str]
    run_it = run_elsewhere or partial(run_script, self.env)
    output, status = run_it(arguments, folder, timeout)
    if status == 0:
        return folder, None
    shutil.rmtree(folder, ignore_errors=True)
    return None, f"{output}\nasv: setup_cache failed (exit status {status})".strip()


def variables(env: Any) -> dict[str, str]:
    """Return the environment variables of measured processes.

    Their temporary files go to the outer folder, because compilers keep caches there; those of
    what installs packages go to the folder of the run.
    """
    others = {name: value for name, value in os.environ.items() if name != TEMPORARY_FOLDER}
    return {**others, **_OUTER_FOLDER, **env.env_vars}


def run_script(env: Any, arguments: list[str], folder: str, timeout: float) -> tuple[str, int]:
    """Run a command of asv's script in an environment, as the leader of a process group.

    Returns:
        Output and exit status, ``TIMEOUT_RETCODE`` if it took longer than ``timeout`` seconds.
    """
    with signals_deferred() as deferred:
        process = env.run(
            [BENCHMARK_RUN_SCRIPT, *arguments],
            cwd=folder,
            env=variables(env),
            redirect_stderr=True,
            return_popen=True,
        )
    end = os.pidfd_open(process.pid) if hasattr(os, "pidfd_open") else None
    try:
        return supervise(process, end, deferred, timeout)
    finally:
        if end is not None:
            os.close(end)


class MeasuredProcess(Protocol):
    """What `supervise` needs of a `subprocess.Popen`."""

    pid: int
    stdout: IO[bytes] | None

    def poll(self) -> int | None:
        """Return the exit status if the process has ended."""

    def wait(self) -> int:
        """Wait for the end of the process; return its exit status."""


def supervise(
    process: MeasuredProcess,
    end: int | None,
    deferred: Sequence[int],
    timeout: float,
) -> tuple[str, int]:
    """Collect the output of a process that leads its process group, and see to it that it ends.

    Args:
        process: that has just started.
        end: file descriptor that can be read when the process has ended, if there is one.
        deferred: signals that came while it started.
        timeout: seconds.

    Returns:
        Output and exit status, ``TIMEOUT_RETCODE`` if it took longer than ``timeout``.
    """
    output = bytearray()
    try:
        limit = memory_limit()
        for number in deferred:
            signal.raise_signal(number)
        stopped = _collect(process, end, output, time.monotonic() + timeout, limit)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        status = process.wait()
        _read(process, output)
        assert process.stdout is not None  # noqa: S101 - asv asks for a pipe
        process.stdout.close()
    text = output.decode(errors="replace")
    if stopped is _Stopped.OUT_OF_MEMORY:
        text += f"\n{limit_in_words(limit)}"
    return text, TIMEOUT_RETCODE if stopped is _Stopped.OUT_OF_TIME else status


class _Stopped(Enum):
    """Why a process was stopped."""

    OUT_OF_TIME = 1
    OUT_OF_MEMORY = 2


@contextlib.contextmanager
def signals_deferred() -> Iterator[list[int]]:
    """Collect signals that would raise an exception, and so lose a process that is starting."""
    deferred: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handlers = {number: signal.getsignal(number) for number in numbers}
    replaced = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in replaced:
        signal.signal(number, lambda received, _: deferred.append(received))
    try:
        yield deferred
    finally:
        for number, handler in replaced.items():
            signal.signal(number, handler)


def _collect(
    process: MeasuredProcess,
    end: int | None,
    output: bytearray,
    deadline: float,
    limit: float,
) -> _Stopped | None:
    """Collect output until the process has ended, or has to be stopped; return why it has.

    On Linux this process sleeps until then, except for output and one look at the memory a second.
    """
    assert process.stdout is not None  # noqa: S101 - asv asks for a pipe
    os.set_blocking(process.stdout.fileno(), False)
    longest_wait = _POLLING if end is None else _SECONDS_BETWEEN_LOOKS
    next_look = time.monotonic()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        if end is not None:
            selector.register(end, selectors.EVENT_READ)
        while process.poll() is None:
            left = deadline - time.monotonic()
            if left <= 0:
                return _Stopped.OUT_OF_TIME
            if time.monotonic() >= next_look:
                if memory_of(process.pid) > limit:
                    return _Stopped.OUT_OF_MEMORY
                next_look = time.monotonic() + _SECONDS_BETWEEN_LOOKS
            for key, _ in selector.select(min(left, longest_wait)):
                if key.fileobj is process.stdout and _read(process, output):
                    selector.unregister(process.stdout)
    return None


def _read(process: MeasuredProcess, output: bytearray) -> bool:
    """Take the output that is there; return whether it has ended."""
    assert process.stdout is not None  # noqa: S101 - asv asks for a pipe
    while True:
        try:
            part = os.read(process.stdout.fileno(), 1 << 16)
        except BlockingIOError:
            return False
        output += part
        del output[:-_MOST_OUTPUT]
        if not part:
            return True
