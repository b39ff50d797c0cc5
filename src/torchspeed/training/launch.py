"""Starting a rank on each device of this machine, with torch's own elastic agent.

It is what ``torchrun`` runs on: when a rank fails, the agent stops the others.
Two things are added: the failure is reported in one line, with the rank that failed
first, and no rank outlives this process, even when it is killed outright.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import tempfile
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs
from torch.distributed.elastic.multiprocessing.api import SignalException
from torch.distributed.elastic.multiprocessing.errors import (
    ChildFailedError,
    ProcessFailure,
    get_error_handler,
)
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from torchspeed.errors import TorchspeedError
from torchspeed.training.parent import LAUNCHER

if TYPE_CHECKING:
    from collections.abc import Iterator


def launch(arguments: list[str], devices: int) -> None:
    """Run ``torchspeed`` with ``arguments`` as ``devices`` ranks, and wait for them.

    Raises:
        TorchspeedError: a rank failed; the others are stopped by then.
    """
    logs = tempfile.TemporaryDirectory(prefix="torchspeed-")
    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=devices,
        run_id=uuid.uuid4().hex,
        rdzv_backend="c10d",
        rdzv_endpoint="localhost:0",
        max_restarts=0,
        monitor_interval=0.1,
        logs_specs=DefaultLogsSpecs(log_dir=logs.name),
    )
    # Each rank would otherwise start a thread for every core.
    threads = os.environ.get("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // devices)))
    inherited = {"OMP_NUM_THREADS": threads, LAUNCHER: str(os.getpid())}
    try:
        with logs, _without_agent_log(), _environment(inherited):
            elastic_launch(config, entrypoint=sys.executable)("-m", "torchspeed.cli", *arguments)
    except ChildFailedError as error:
        raise TorchspeedError(root_of(error.failures, devices)) from None
    except SignalException as error:
        if error.sigval == signal.SIGINT:
            raise KeyboardInterrupt from None
        raise TorchspeedError(
            f"stopped by {signal.Signals(error.sigval).name}; all {devices} ranks are stopped"
        ) from None


def tell_launcher(error: Exception) -> None:
    """Store a rank's error where its agent reads it, so that it is reported once for all ranks."""
    get_error_handler().record_exception(error)


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Set variables that new processes inherit, and restore this process's own afterwards."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _without_agent_log() -> Iterator[None]:
    """Silence the agent, which logs a page about a failure that is reported in one line here."""
    # torch gives each of its loggers a level of its own.
    prefix = "torch.distributed.elastic"
    loggers = [logging.getLogger(name) for name in logging.root.manager.loggerDict
               if name.startswith(prefix)]  # fmt: skip
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def root_of(failures: dict[int, ProcessFailure], devices: int) -> str:
    """Return the first cause in one line: a killed rank drags others into errors of their own."""
    killed = [
        failure
        for failure in failures.values()
        if failure.exitcode < 0 and failure.exitcode != -signal.SIGTERM
    ]
    failure = min(killed or failures.values(), key=lambda failure: failure.timestamp)
    if devices > 1:
        others = f"; the other {'rank was' if devices == 2 else 'ranks were'} stopped"
    else:
        others = ""
    if failure.exitcode < 0:
        name = signal.Signals(-failure.exitcode).name
        return f"rank {failure.local_rank} was killed by {name}{others}"
    message = _message(failure.message)
    return f"rank {failure.local_rank} failed: {message}{others}"


def _message(recorded: Any) -> str:
    """Return what the rank recorded of its error, without the error's class."""
    text = str(recorded["message"] if isinstance(recorded, dict) else recorded)
    return text.split("\n", maxsplit=1)[0].removeprefix("TorchspeedError: ")
