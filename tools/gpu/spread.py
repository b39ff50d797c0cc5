"""The step that looks for the reason why eager passes on a GPU differ between processes.

Fresh processes, every other one pinned to two cores, time both passes of one model: single
calls, as the first stored values were taken; batches of 20 ms for half a second, with the thread's
CPU time, a loop of Python and the time that the hypervisor took; and replays of a CUDA graph by
the device's own clock. `differences` tells the reason: if batches agree where single calls do not,
single calls were the cause; if batches follow the loop, the host's clock varies; if replays
differ, the device's clock does; if nothing of this holds, the memory's layout is the cause.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tools.gpu.session import Session

WORKLOAD = "lstnet"
_SINGLE_CALLS = 20
_BATCH_S = 0.02
_SECONDS = 0.5
_REPLAYS = 200


def run(session: Session, deadline: float, processes: str) -> None:
    """Start processes one after the other, until their number is reached or the time is up."""
    variables = session.side(session.prepared.newest).variables
    for number in range(min(int(processes), session.rounds)):
        left = deadline - time.monotonic()
        if left < 4:
            return
        pinned = number % 2 == 0
        command = [sys.executable, "-P", __file__, "pinned" if pinned else "unpinned"]
        try:
            done = subprocess.run(
                command, env=variables, capture_output=True, text=True, timeout=left, check=False
            )
        except subprocess.TimeoutExpired:
            return
        if done.returncode:
            session.results.add("spread", failed=done.stderr[-2000:], pinned=pinned)
        else:
            session.results.add("spread", pinned=pinned, **json.loads(done.stdout))


def measure(device: str) -> dict[str, Any]:
    """Time both passes of the tuned model in this process."""
    from torchspeed.measure.clocks import clock_for  # noqa: PLC0415 - of the measured commit
    from torchspeed.measure.passes import Passes  # noqa: PLC0415

    passes = Passes(WORKLOAD, device, implementation="tuned")
    clock = clock_for(device)
    return {name: _pass(getattr(passes, name), clock, device) for name in ("forward", "backward")}


def _pass(run: Callable[[], object], clock: Callable[[], float], device: str) -> dict[str, Any]:
    singles = [_seconds(run, clock) for _ in range(_SINGLE_CALLS)]
    calls = max(1, round(_BATCH_S / min(singles)))
    batches = []
    end = time.perf_counter() + _SECONDS
    while time.perf_counter() < end:
        stolen, thread, start = _stolen(), time.thread_time(), clock()
        for _ in range(calls):
            run()
        batches.append(
            {
                "wall_s": (clock() - start) / calls,
                "thread_s": (time.thread_time() - thread) / calls,
                "loop_s": _seconds(lambda: sum(range(20_000)), time.perf_counter),
                "stolen_ticks": _stolen() - stolen,
            }
        )
    measured: dict[str, Any] = {"singles_s": singles, "calls": calls, "batches": batches}
    if device.startswith("cuda"):
        measured["replays_s"] = _replays(run, device)
    return measured


def _seconds(run: Callable[[], object], clock: Callable[[], float]) -> float:
    start = clock()
    run()
    return clock() - start


def _replays(run: Callable[[], object], device: str) -> list[float]:
    """Return the seconds of replays of a graph, each by the device's own events."""
    import torch  # noqa: PLC0415 - after the affinity is set

    from torchspeed.measure.cuda_graph import capture  # noqa: PLC0415 - of the measured commit

    replay, _ = capture(run, torch.device(device, 0))
    events = [torch.cuda.Event(enable_timing=True) for _ in range(_REPLAYS + 1)]
    events[0].record()
    for event in events[1:]:
        replay()
        event.record()
    torch.cuda.synchronize()
    return [before.elapsed_time(after) / 1000 for before, after in itertools.pairwise(events)]


def _stolen() -> int:
    """Return the time that the hypervisor took from all cores so far, in ticks of 10 ms."""
    try:
        return int(Path("/proc/stat").read_text(encoding="ascii").split()[8])
    except (OSError, ValueError, IndexError):
        return 0


if __name__ == "__main__":
    if sys.argv[1] == "pinned" and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-2:])
    import torch

    print(json.dumps(measure("cuda" if torch.cuda.is_available() else "cpu")))
