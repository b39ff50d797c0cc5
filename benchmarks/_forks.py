"""Measures in forks, as many at a time as there are cores, what depends on no wall time."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from multiprocessing import connection, get_context
from typing import Any

_FORKING = get_context("fork")
_MOST_AT_ONCE = 4
"""Together they need as much memory as all of them."""


def outcomes_in_forks(
    measure: Callable[[Any], dict[str, Any]], cases: Sequence[Any]
) -> dict[Any, dict[str, Any]]:
    """Measure each case in a fork of its own, so that none sees what another leaves in the heap.

    Args:
        measure: returns the outcome of a case, and raises nothing.
        cases: what it is called with.

    Returns:
        Each case to its outcome, in their order; ``failed`` and the exit status where its process
        ended without one.
    """
    outcomes: dict[Any, dict[str, Any]] = {}
    waiting = list(cases)
    running: dict[Any, tuple[Any, Any]] = {}
    while waiting or running:
        while waiting and len(running) < cores():
            case = waiting.pop(0)
            reader, process = _start(measure, case)
            running[reader] = case, process
        for reader in connection.wait(list(running)):
            case, process = running.pop(reader)
            outcomes[case] = _outcome(reader, process)
    return {case: outcomes[case] for case in cases}


def _start(measure: Callable[[Any], dict[str, Any]], case: Any) -> tuple[Any, Any]:
    """Fork a process that measures a case; return it, and where its outcome can be read."""
    reader, writer = _FORKING.Pipe(duplex=False)
    process = _FORKING.Process(target=lambda: writer.send(measure(case)))
    process.start()
    writer.close()  # the pipe ends with the process
    return reader, process


def _outcome(reader: Any, process: Any) -> dict[str, Any]:
    try:
        outcome: dict[str, Any] = reader.recv()
    except EOFError:
        process.join()
        return {"failed": f"its process ended with status {process.exitcode}"}
    process.join()
    return outcome


def cores() -> int:
    """Return how many cases are measured at the same time."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    return min(allowed, _MOST_AT_ONCE)
