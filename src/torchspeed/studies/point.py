"""One point of a sweep: a training in a process of its own.

A point that runs out of memory or is killed harms no other, and none inherits warm caches.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any

from torchspeed.errors import TorchspeedError
from torchspeed.measure.processes import die_with, keep_memory
from torchspeed.training.config import RunConfig
from torchspeed.training.cores import shared_threads


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a training, or why it failed."""

    result: dict[str, Any] | None
    """`RunResult.as_dict` without the times of each step; None for a failed point."""
    reason: str = ""
    """Why it failed."""


def run_point(config: RunConfig, wait_s: float, waiting: Callable[[], None]) -> Outcome:
    """Train, and call ``waiting`` every ``wait_s`` seconds meanwhile.

    Without ``config.threads`` the point takes its share of this machine's cores at its start.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_run_point, args=(config, theirs, os.getpid()))
    process.start()
    theirs.close()
    try:
        while not ours.poll(wait_s):
            waiting()
        outcome: Outcome = ours.recv()
        return outcome
    except EOFError:
        process.join()
        code = process.exitcode or 0
        return Outcome(None, f"killed by signal {-code}" if code < 0 else f"exit status {code}")
    finally:
        process.kill()
        process.join()
        ours.close()


def _run_point(config: RunConfig, connection: Connection, parent: int) -> None:
    die_with(parent)
    keep_memory()
    from torchspeed.training.train import train  # noqa: PLC0415 - the sweep itself needs no torch

    # Counted here and not by the worker, because others may start while torch is imported.
    config = replace(config, threads=config.threads or shared_threads())
    try:
        values = train(config).as_dict()
        for rank in values["ranks"]:
            del rank["samples_s"]
        outcome = Outcome(values)
    except TorchspeedError as error:
        outcome = Outcome(None, str(error))
    except (RuntimeError, MemoryError) as error:  # such as too little memory of a GPU
        outcome = Outcome(None, f"{type(error).__name__}: {str(error).strip().splitlines()[0]}")
    connection.send(outcome)
