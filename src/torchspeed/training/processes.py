"""Processes of their own: a rank on each device of this machine, or a point of a sweep.

None outlives the process that started it, even when that is killed outright. A point that runs out
of memory or is killed spoils no other, and none inherits another's warm caches.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Protocol

from torch.multiprocessing.spawn import (
    ProcessExitedException,
    ProcessRaisedException,
    start_processes,
)

from torchspeed.errors import TorchspeedError
from torchspeed.measure.allocator import keep_memory
from torchspeed.measure.orphans import die_with_parent
from torchspeed.training.config import RunConfig
from torchspeed.training.group import Group, end_rank, join_group, leave_group
from torchspeed.training.train import train

_RAISED = "torchspeed.errors.TorchspeedError: "


class Job(Protocol):
    """What each rank does; it has to be importable by name."""

    def __call__(self, *, group: Group) -> object:
        """Do the part of this rank."""


def launch(job: Job, device: str, devices: int) -> None:
    """Run ``job`` in a rank on each device, and wait for them; torch stops all when one fails.

    Raises:
        TorchspeedError: a rank failed.
    """
    # Each rank would otherwise start a thread for every core.
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // devices)))
    logging.getLogger("torch.multiprocessing.spawn").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="torchspeed-") as folder:
        arguments = (job, device, devices, f"file://{folder}/ranks", os.getpid())
        ranks = start_processes(_run_rank, arguments, nprocs=devices, join=False)
        try:
            while not ranks.join():
                pass
        except ProcessExitedException as error:
            reason = error.signal_name or f"status {error.exit_code}"
            raise TorchspeedError(
                f"rank {error.error_index} was ended by {reason}; all ranks are stopped"
            ) from None
        except ProcessRaisedException as error:
            last = str(error).strip().splitlines()[-1]
            if not last.startswith(_RAISED):
                raise
            raise TorchspeedError(
                f"rank {error.error_index} failed: {last.removeprefix(_RAISED)}"
            ) from None
        finally:
            for process in ranks.processes:
                process.kill()


def _run_rank(rank: int, job: Job, device: str, world: int, meeting: str, parent: int) -> None:
    _begin(parent)
    group = Group(rank, world, local_rank=rank)
    join_group(device, group, meeting)
    job(group=group)
    leave_group()
    end_rank(0)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a point of a sweep, or why it failed."""

    result: dict[str, Any] | None
    """`RunResult.as_dict` without the times of each step; None for a failed point."""
    reason: str = ""
    """Why it failed."""


def run_point(config: RunConfig, wait_s: float, waiting: Callable[[], None]) -> Outcome:
    """Train, and call ``waiting`` every ``wait_s`` seconds meanwhile."""
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
    _begin(parent)
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


def _begin(parent: int) -> None:
    """Keep memory as processes of asv do, and end, on Linux, when ``parent`` ends."""
    keep_memory()
    if sys.platform.startswith("linux"):
        die_with_parent()
        if os.getppid() != parent:  # it ended before the call above
            os.kill(os.getpid(), signal.SIGKILL)
