"""Decides whether a run has one process or several, and the rank of this one."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch

from torchspeed.cli.options import configure, read
from torchspeed.cli.outputs import Outputs
from torchspeed.cli.session import run_and_report
from torchspeed.errors import TorchspeedError
from torchspeed.training.group import end_rank, join_group, leave_group, was_launched
from torchspeed.training.launch import launch, tell_launcher
from torchspeed.training.parent import die_with_launcher
from torchspeed.training.recipes import complete
from torchspeed.training.results import RunResult


def as_ranks(
    mode: str,
    run: Callable[..., RunResult],
    arguments: list[str],
    options: dict[str, Any],
) -> None:
    """Run alone, or as a rank, or start the ranks.

    A process that torchrun (or Slurm through it) started is a rank of its group,
    whatever ``--devices`` says. Otherwise several devices start a rank each on this machine.

    Args:
        mode: the command.
        run: does it, given a configuration, an observer and a group.
        arguments: the command line, to be given to each rank.
        options: the command's parameters and their values.

    Raises:
        TorchspeedError: unknown model, more GPUs than there are, or what stopped the run.
    """
    die_with_launcher()
    config, outputs = complete(configure(options)), read(Outputs, options)
    launched = was_launched()
    devices = 1 if launched else count_devices(outputs.devices, config.device)
    if launched:
        group = join_group(config.device)
        try:
            run_and_report(config, run, outputs, group)
            leave_group()
        except TorchspeedError as error:
            tell_launcher(error)
            end_rank(1)
        end_rank(0)
    # CUDA reads its list of GPUs once, so those that were chosen need a process of their own.
    if devices > 1 or "," in outputs.devices:
        launch(arguments, devices)
        return
    run_and_report(config, run, outputs)


def count_devices(text: str, device: str) -> int:
    """Count the devices that ``--devices`` asks for.

    A list of GPUs becomes what the ranks see of this machine (``CUDA_VISIBLE_DEVICES``).

    Args:
        text: a number; ``auto`` or ``-1`` for all GPUs, or one CPU; or GPUs by their numbers,
            such as ``0,2``, with a comma at the end where it is one: ``0,``.
        device: ``cpu``, ``cuda`` or ``cuda:N``.

    Raises:
        TorchspeedError: it is none of these, or asks for GPUs that are not here.
    """
    present = torch.cuda.device_count() if device.startswith("cuda") else 0
    if text in {"auto", "-1"}:
        return max(1, present)
    numbers = [number.strip() for number in text.removesuffix(",").split(",")]
    if not all(number.isdecimal() for number in numbers) or text == "0":
        raise TorchspeedError(
            f"--devices {text!r}: give a number, auto for all GPUs, or a list of GPUs such as 0,2 "
            "(0, for the first alone)"
        )
    gpus = [int(number) for number in numbers] if "," in text else []
    count = len(gpus) or int(text)
    if ":" in device and (gpus or count > 1):
        raise TorchspeedError(f"ranks choose their own GPU; give --device cuda, not {device}")
    if gpus and device != "cuda":
        raise TorchspeedError(f"--devices {text} lists GPUs; give --device cuda too, or a number")
    if (gpus or count > 1) and device == "cuda" and present <= max(gpus, default=count - 1):
        raise TorchspeedError(
            f"--devices {text}, but there are {present} GPUs here; give fewer, or --device cpu"
        )
    if len(set(gpus)) < len(gpus):
        raise TorchspeedError(f"--devices {text} names a GPU twice; name each once")
    if gpus:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES") or ",".join(map(str, range(present)))
        chosen = [visible.split(",")[gpu] for gpu in gpus]
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(chosen)
    return count
