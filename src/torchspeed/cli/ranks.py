"""Decides whether a run has one process or several, and the rank of this one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from torchspeed.cli.options import configure, read
from torchspeed.cli.outputs import Outputs
from torchspeed.cli.session import run_and_report
from torchspeed.errors import TorchspeedError
from torchspeed.training.group import end_rank, join_group, launched_group, leave_group
from torchspeed.training.launch import launch
from torchspeed.training.recipes import complete
from torchspeed.training.results import RunResult


def as_ranks(run: Callable[..., RunResult], options: dict[str, Any]) -> None:
    """Run alone, or as a rank, or start the ranks.

    A process that torchrun (or Slurm through it) started is a rank of its group,
    whatever ``--devices`` says. Otherwise several devices start a rank each on this machine.

    Args:
        run: does it, given a configuration, an observer and a group.
        options: the command's parameters and their values.

    Raises:
        TorchspeedError: unknown model, more GPUs than there are, or what stopped the run.
    """
    config, outputs = complete(configure(options)), read(Outputs, options)
    job = partial(run_and_report, config, run, outputs)
    if (group := launched_group()) is not None:
        join_group(config.device, group)
        job(group=group)
        leave_group()
        end_rank(0)
    devices = count_devices(outputs.devices, config.device)
    if devices > 1:
        launch(job, config.device, devices)
    else:
        job()


def count_devices(text: str, device: str) -> int:
    """Count the devices that ``--devices`` asks for.

    Args:
        text: a number, or ``auto`` for all GPUs, or one CPU.
        device: ``cpu``, ``cuda`` or ``cuda:N``.

    Raises:
        TorchspeedError: it is none of these, or asks for GPUs that are not here.
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
