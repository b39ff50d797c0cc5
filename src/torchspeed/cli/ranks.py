"""Whether a run is one process or many, and which part this one plays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from torchspeed.cli.configure import configure
from torchspeed.cli.session import run_and_report
from torchspeed.errors import TorchspeedError
from torchspeed.training.group import end_rank, join_group, leave_group, was_launched
from torchspeed.training.launch import die_with_launcher, launch, tell_launcher
from torchspeed.training.results import RunResult


def as_ranks(
    mode: str,
    run: Callable[..., RunResult],
    arguments: list[str],
    options: dict[str, Any],
) -> None:
    """Run alone, or as a rank, or start the ranks.

    A process that torchrun (or Slurm through it) started is a rank of its group,
    whatever ``--devices`` says. Otherwise several devices, or ``--strategy
    ddp``, start a rank each on this machine.

    Args:
        mode: the command.
        run: does it, given a configuration, an observer and a group.
        arguments: the command line, to be given to each rank.
        options: the command's parameters and their values.

    Raises:
        TorchspeedError: unknown model, strategy and device count do not go together, more GPUs
            than there are, or what stopped the run.
    """
    config = configure(options)
    die_with_launcher()
    if was_launched():
        group = join_group(config.device)
        try:
            run_and_report(mode, config, run, options, group)
            leave_group()
        except TorchspeedError as error:
            tell_launcher(error)
            end_rank(1)
        end_rank(0)
    devices, strategy = options["devices"], options["strategy"]
    if devices > 1 and strategy == "single":
        raise TorchspeedError(f"--strategy single takes one device, not {devices}; give ddp")
    if devices > 1 or strategy == "ddp":
        _check_gpus(config.device, devices)
        launch(arguments, devices)
        return
    run_and_report(mode, config, run, options)


def _check_gpus(device: str, devices: int) -> None:
    if ":" in device:
        raise TorchspeedError(f"ranks choose their own GPU; give --device cuda, not {device}")
    present = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device == "cuda" and devices > present:
        raise TorchspeedError(
            f"--devices {devices}, but there are {present} GPUs here; give fewer, or --device cpu"
        )
