"""One run from options to table: joining ranks, progress, result, JSON."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from rich.console import Console

from torchspeed.cli.console import standard_output
from torchspeed.cli.facts import facts
from torchspeed.cli.outputs import Outputs, check_writable
from torchspeed.cli.progress import RunProgress
from torchspeed.cli.show import show_run
from torchspeed.errors import TorchspeedError
from torchspeed.files import write_whole
from torchspeed.training.config import RunConfig
from torchspeed.training.group import Group
from torchspeed.training.rank import ALONE
from torchspeed.training.results import RunResult

SCHEMA = 1
"""Raised when a name in what ``--json`` writes changes its meaning or goes."""

_ANSWER: dict[str, Any] = {"capture_output": True, "text": True}
_CPU_ALLOCATOR, _GLOO = "DefaultCPUAllocator", "gloo/transport"


def run_and_report(
    config: RunConfig,
    run: Callable[..., RunResult],
    outputs: Outputs,
    group: Group = ALONE,
) -> None:
    """Run with progress, show the tables, write the JSON.

    Args:
        config: what the run does.
        run: does the work, given the configuration, an observer and the group.
        outputs: where results go.
        group: the ranks that work together; one of them reports.

    Raises:
        TorchspeedError: what stopped the run, such as too little memory or a rank that is gone.
    """
    check_writable(outputs.json)
    try:
        if outputs.quiet or not group.leads:
            result = run(config, group=group)
        else:
            with RunProgress(Console(stderr=True)) as progress:
                result = run(config, observer=progress, group=group)
    except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
        raise _explained(error, config, group) from None
    if not group.leads:
        return
    show_run(result, standard_output())
    if outputs.json is not None:
        write_result(outputs.json, result.as_dict())


def write_result(file: Path, values: dict[str, Any]) -> None:
    """Write what was measured as JSON, with what wrote it, when, and on which machine.

    Raises:
        TorchspeedError: the file cannot be written.
    """
    values = _origin() | values | {"machine": facts()}
    text = json.dumps(values, indent=2, allow_nan=False, default=str)
    write_whole(file, f"{text}\n".encode())


def _origin() -> dict[str, Any]:
    """Return what wrote a result, and when."""
    return {
        "schema": SCHEMA,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "torchspeed": metadata.version("torchspeed"),
        "commit": _commit(),
    }


def _commit() -> str | None:
    """Return the commit of the checkout that tracks this file; None for an installed package.

    An installed package may lie within the checkout of another project.
    """
    git = ["git", "-C", str(Path(__file__).parent)]
    try:
        listed = subprocess.run([*git, "ls-files", Path(__file__).name], check=False, **_ANSWER)
        head = subprocess.run([*git, "rev-parse", "HEAD"], check=False, **_ANSWER)
    except OSError:  # there is no git
        return None
    return head.stdout.strip() or None if listed.stdout.strip() else None


def _explained(error: BaseException, config: RunConfig, group: Group) -> BaseException:
    """Return errors of memory and of lost ranks in one line, and any other error unchanged.

    The CPU's allocator and gloo raise a plain RuntimeError; only its text says which error it is.
    """
    text = str(error)
    if isinstance(error, torch.OutOfMemoryError | MemoryError) or _CPU_ALLOCATOR in text:
        return TorchspeedError(
            f"not enough memory for batches of {config.batch_size} on {config.device}; give a "
            "smaller --batch-size"
        )
    if group.world > 1 and (isinstance(error, dist.DistError) or _GLOO in text):
        reason = text.splitlines()[0]
        return TorchspeedError(f"rank {group.rank} lost another rank and stopped ({reason})")
    return error
