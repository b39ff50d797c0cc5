"""One run from its options to its tables and JSON, in one process or several."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from torchspeed.cli.information import facts
from torchspeed.cli.options import configure, read
from torchspeed.cli.outputs import Outputs, check_writable, standard_output
from torchspeed.cli.progress import RunProgress
from torchspeed.cli.show import show_run
from torchspeed.errors import TorchspeedError
from torchspeed.files import write_whole
from torchspeed.training.config import RunConfig, complete, unused_option
from torchspeed.training.context import ALONE
from torchspeed.training.cores import shared_threads
from torchspeed.training.group import Group, launch, launched_group, work_as_rank
from torchspeed.training.results import RunResult

SCHEMA = 3
"""Version of the JSON of ``--json``: raised when a key changes its meaning or is removed."""

_CPU_ALLOCATOR, _GLOO = "DefaultCPUAllocator", "gloo/transport"


def run_as_ranks(run: Callable[..., RunResult], options: dict[str, Any]) -> None:
    """Run alone, or as a rank, or start the ranks.

    A process that torchrun (or Slurm through it) started is a rank of its group,
    whatever ``--devices`` says. Otherwise several devices start a rank each on this machine.

    Args:
        run: takes a configuration, an observer and a group, and returns the result.
        options: the command's parameters and their values.

    Raises:
        TorchspeedError: an option has no effect, or there are fewer devices than asked for.
    """
    asked = configure(options)
    if unused := unused_option(asked):
        raise TorchspeedError(unused)
    config, outputs = complete(asked), read(Outputs, options)
    group = launched_group()
    devices = 1 if group is not None else count_devices(outputs.devices, config.device)
    if config.strategy == "dp" and (group is not None or devices > 1):
        raise TorchspeedError(
            "--strategy dp takes all GPUs that CUDA_VISIBLE_DEVICES names, in one process; leave "
            "out --devices, or use ddp"
        )
    threads = config.threads or shared_threads(devices)
    job = partial(run_and_report, replace(config, threads=threads), run, outputs)
    if group is not None:
        work_as_rank(job, config.device, group)
    if devices > 1:
        launch(job, config.device, devices)
    else:
        job()


def count_devices(text: str, device: str) -> int:
    """Count the devices that ``--devices`` asks for: a number, or all GPUs, or one CPU.

    Raises:
        TorchspeedError: it is no number, there are fewer GPUs, or ``device`` is a single one.
    """
    present = torch.cuda.device_count() if device.startswith("cuda") else 0
    if text == "auto":
        return max(1, present)
    if not text.isdecimal() or int(text) < 1:
        raise TorchspeedError(
            f"--devices {text!r}: give a number, or auto for all GPUs (CUDA_VISIBLE_DEVICES "
            "chooses among them)"
        )
    count = int(text)
    if count > 1 and ":" in device:
        raise TorchspeedError(f"ranks choose their own GPU; give --device cuda, not {device}")
    if count > 1 and device == "cuda" and present < count:
        raise TorchspeedError(
            f"--devices {text}, but there are {present} GPUs here; give fewer, or --device cpu"
        )
    return count


def run_and_report(
    config: RunConfig, run: Callable[..., RunResult], outputs: Outputs, group: Group = ALONE
) -> None:
    """Run with progress, show the tables, write the JSON; the leading rank reports."""
    check_writable(outputs.json)
    try:
        if outputs.quiet or not group.leads:
            result = run(config, group=group)
        else:
            with closing(RunProgress(group.world)) as progress:
                result = run(config, observer=progress, group=group)
    except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
        raise _explained(error, config, group) from None
    if not group.leads:
        return
    if outputs.json is not None:
        write_result(outputs.json, result.as_dict())
    show_run(result, standard_output())


def write_result(file: Path, values: dict[str, Any]) -> None:
    """Write a result as JSON, with the version, commit and machine that it comes from."""
    origin = {
        "schema": SCHEMA,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "torchspeed": metadata.version("torchspeed"),
        "commit": _commit(),
    }
    values = origin | values | {"machine": facts()}
    text = json.dumps(values, indent=2, allow_nan=False, default=str)
    write_whole(file, f"{text}\n".encode())


def _commit() -> str | None:
    """Return the commit of the checkout that tracks this file; None for an installed package.

    An installed package may lie within the checkout of another project.
    """
    file = Path(__file__)
    git = ["git", "-C", str(file.parent), "rev-parse", "HEAD", f"HEAD:./{file.name}"]
    try:
        done = subprocess.run(git, capture_output=True, text=True, check=False)
    except OSError:  # there is no git
        return None
    return None if done.returncode else done.stdout.split()[0]


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
