"""Counts cases from within the process that callgrind executes.

Each case is counted in a fork, so that none sees another's heap and a crash costs one
case, and there in a new thread, because the C library gives a new thread a heap of its
own: the passes find it as empty as they did in any other run, whatever was imported.
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
_CASE_LIMIT = 300  # s on the wall; a case takes some 8 s of CPU time


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


def _count_in_fork(case: str, callgrind: Callgrind) -> dict[str, object]:
    """Count a case in a process of its own; where it failed, ``error`` says why."""
    message = Path(f"{case}.error")

    def count_and_exit() -> None:
        try:
            _count(case, callgrind)
        except Exception as error:  # one case's error must not cost the others
            message.write_text(f"{type(error).__name__}: {error}")
        finally:
            os._exit(0)

    process = os.fork()
    if process == 0:
        die_with_parent()
        signal.alarm(_CASE_LIMIT)
        _run_alone(count_and_exit)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    error = message.read_text() if message.exists() else ""
    if status == -signal.SIGALRM:
        error = f"it was not counted within {_CASE_LIMIT} s"
    elif status != 0:
        error = f"its process ended with status {status}"
    return {"process": process, "error": error}


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
    return {case: _count_in_fork(case, callgrind) for case in cases}
