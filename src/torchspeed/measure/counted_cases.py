"""Counts cases from within the process that callgrind executes.

Each case is counted in a fork, so that none sees another's heap and a crash costs one
case, and there in a new thread, because the C library gives a new thread a heap of its
own: the passes find it as empty as they did in any other run, whatever was imported.
As many cases are counted at the same time as there are cores.
"""

from __future__ import annotations

import _thread
import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from torchspeed.measure.client_requests import Callgrind
from torchspeed.measure.orphans import die_with_parent
from torchspeed.measure.passes import Passes

PASSES = ("forward", "backward")
"""In the order of a case's dumps."""
COUNTED = 10
"""Passes whose mean is a case's count: the allocator never finds its memory quite as the pass
before left it, which moves a single pass by up to 1 %."""
_WARM_UP = 3  # passes: caches are filled and oneDNN's kernels generated after the first
_CPU_LIMIT = 300  # s of CPU time; a case takes some 8 s
_CASE_LIMIT = 700  # s on the wall: a case that waits for ever costs no other


def _count(case: str, callgrind: Callgrind) -> None:
    """Build a case and leave a dump of `COUNTED` forward passes and one of backward passes."""
    workload, batch = case.split(":")
    built = Passes(workload, "cpu", int(batch))
    passes = [getattr(built, name) for name in PASSES]
    for run in passes:
        for _ in range(_WARM_UP):
            run()
    callgrind.start()
    for run in passes:
        run()  # translates anew: instrumentation has thrown away what was translated
        for _ in range(COUNTED):
            torch.manual_seed(0)  # dropout draws the same numbers in every pass
            callgrind.toggle()
            run()
            callgrind.toggle()
        callgrind.dump()


def _fork_counting(case: str, callgrind: Callgrind, turns: int) -> int:
    """Fork a process that counts a case as soon as it can read a byte of ``turns``."""

    def count_and_exit() -> None:
        try:
            _count(case, callgrind)
        except Exception as error:  # one case's error must not cost the others
            _message(case).write_text(f"{type(error).__name__}: {error}")
        finally:
            os._exit(0)

    process = os.fork()
    if process == 0:
        die_with_parent()
        os.read(turns, 1)
        signal.setitimer(signal.ITIMER_PROF, _CPU_LIMIT)
        signal.alarm(_CASE_LIMIT)
        _run_alone(count_and_exit)
    return process


def _message(case: str) -> Path:
    """Name the file of a case's error."""
    return Path(f"{case}.error")


def _error(case: str, status: int) -> str:
    """Return why the process of a case did not count, or nothing."""
    if status == -signal.SIGPROF:
        return f"it was not counted within {_CPU_LIMIT} s of CPU time"
    if status == -signal.SIGALRM:
        return f"it was not counted within {_CASE_LIMIT} s"
    if status != 0:
        return f"its process ended with status {status}"
    return _message(case).read_text() if _message(case).exists() else ""


def _run_alone(run: Callable[[], None]) -> None:
    """Run in a new thread while this one sleeps for ever; ``run`` ends the process.

    Python's heap is shared between threads, so the order in which they run must not be
    the scheduler's choice: `threading.Thread` would wake this one again, at some moment.
    Here the new one waits for the interpreter's lock until this one sleeps.
    """
    sys.setswitchinterval(10 * _CASE_LIMIT)
    never_released = _thread.allocate_lock()
    never_released.acquire()
    _thread.start_new_thread(run, ())
    never_released.acquire()


def count(cases: Sequence[str]) -> dict[str, dict[str, object]]:
    """Count the cases (``darnn:8``) and leave callgrind's dumps in the working directory.

    Returns:
        Of each case the ``process`` that its dumps are named after, and its ``error``.
    """
    torch.set_num_threads(1)
    callgrind = Callgrind()
    # When a collection happens depends on all that was allocated before.
    gc.collect()
    gc.freeze()
    gc.disable()
    # All are forked before any of them ends: the order in which they end changes no count.
    turns, next_turns = os.pipe()
    processes = {_fork_counting(case, callgrind, turns): case for case in cases}
    for _ in os.sched_getaffinity(0):
        os.write(next_turns, b".")
    report: dict[str, dict[str, object]] = {}
    for _ in cases:
        process, status = os.wait()
        os.write(next_turns, b".")
        case = processes[process]
        error = _error(case, os.waitstatus_to_exitcode(status))
        report[case] = {"process": process, "error": error}
    return report
