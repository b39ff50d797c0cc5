"""The options of the training commands, each declared once with its default.

A command names the groups it takes with `takes` and gets their values as keyword arguments.
Nothing here imports torch: help, completion and a wrong option are answered before it is loaded.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer

from torchspeed.data import catalogue


def complete_model(incomplete: str) -> list[str]:
    """Names of models that begin so."""
    from torchspeed.workloads import list_workloads

    return [name for name in list_workloads() if name.startswith(incomplete)]


def complete_data(incomplete: str) -> list[str]:
    """Names of data sets that begin so."""
    return [name for name in catalogue.DATA if name.startswith(incomplete)]


Optimiser = Literal["sgd", "adam"]
Schedule = Literal["constant", "cosine", "step"]
Precision = Literal["32-true", "16-mixed", "bf16-mixed"]
Strategy = Literal["auto", "single", "ddp"]
"""How several devices work together."""

Group = tuple[inspect.Parameter, ...]
"""Options that belong together."""

Command = TypeVar("Command", bound=Callable[..., Any])


def takes(*groups: Group, without: tuple[str, ...] = ()) -> Callable[[Command], Command]:
    """Give a command the options of some groups, in place of its ``**options``.

    Args:
        groups: the options, in the order of ``--help``.
        without: names of options of these groups that the command does not take.
    """

    def add(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        shared = [option for group in groups for option in group if option.name not in without]
        parameters = [*own, *shared]
        command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in parameters}
        return command

    return add


def _option(
    name: str, kind: Any, default: Any, panel: str | None, *flags: str, **settings: Any
) -> inspect.Parameter:
    declared = typer.Option(*flags, rich_help_panel=panel, **settings)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, declared]
    )


_DATA, _DEVICE, _LEARNING, _OUTPUT = "Data", "Device", "Learning", "Output"

RUN: Group = (
    _option("model", str, "lenet5", None, "--model", "-m", autocompletion=complete_model,
            help="A name of `torchspeed list`."),
    _option("batch_size", int, 128, None, "--batch-size", "-b", min=1,
            help="Items per step and device."),
    _option("limit_batches", int | None, None, None, min=1,
            help="Largest number of steps per epoch; all by default."),
    _option("warmup", int, 1, None, min=0, help="First steps that are not timed."),
    _option("seed", int, 0, None, min=0, max=2**32 - 1,
            help="Seed of parameters, order and noise."),
)  # fmt: skip
LEARNING: Group = (
    _option("epochs", int, 1, _LEARNING, "--epochs", "-e", min=1),
    _option("optimiser", Optimiser, "sgd", _LEARNING, "--optimiser", "--optimizer"),
    _option("rate", float, 0.01, _LEARNING, "--rate", "--lr", min=0, help="Learning rate."),
    _option("momentum", float, 0.9, _LEARNING, min=0, max=1, help="Momentum of SGD."),
    _option("weight_decay", float, 0.0, _LEARNING, min=0),
    _option("schedule", Schedule, "constant", _LEARNING,
            help="cosine: to 0 over its span; step: a tenth after each third of it."),
    _option("schedule_epochs", int | None, None, _LEARNING, min=1,
            help="Epochs that the schedule spans (T_max); by default --epochs."),
    _option("target_accuracy", float | None, None, _LEARNING, min=0, max=100,
            help="Test accuracy in %, at which training ends."),
)  # fmt: skip
DATA: Group = (
    _option("data", str | None, None, _DATA, "--data", "-d", autocompletion=complete_data,
            help="A name of `torchspeed list`, or csv:FILE. By default digits for a CNN, "
            "google_stock for a time series: real, and nothing to download."),
    _option("data_dir", Path, Path("data"), _DATA, help="Folder of the data."),
    _option("download", bool, False, _DATA, "--download", help="Download what is missing."),
    _option("workers", int, 0, _DATA, "--workers", "-w", min=0,
            help="Processes that load data; 0 loads in the run's own process."),
    _option("image_size", int | None, None, _DATA, min=1,
            help="Height and width, for torchvision's models (224)."),
    _option("items", int | None, None, _DATA, min=5,
            help="Training items of dummy data; by default enough for 50 steps."),
    _option("features", int | None, None, _DATA, min=1, help="Features of a dummy series."),
    _option("window", int, 10, _DATA, min=1, help="Time steps that a model sees."),
    _option("horizon", int, 15, _DATA, min=1,
            help="Steps from the window's first step to the value to forecast."),
    _option("target", str, "first", _DATA,
            help="Column to forecast: name, index from 0, first or all."),
)  # fmt: skip
DEVICE: Group = (
    _option("device", str, "cpu", _DEVICE, help="cpu, cuda or cuda:N."),
    _option("devices", str, "1", _DEVICE,
            help="Devices that work together: a number, auto for all GPUs, or a list: 0,2."),
    _option("strategy", Strategy, "auto", _DEVICE,
            help="ddp: data parallel, also for one device; auto: ddp for several."),
    _option("precision", Precision, "32-true", _DEVICE,
            help="Number format; mixed: products in half the bits."),
)  # fmt: skip
OUTPUT: Group = (
    _option("json", Path | None, None, _OUTPUT, help="Write the result to this file too."),
    _option("baseline", Path | None, None, _OUTPUT,
            help="What --json wrote on fewer devices: adds the scaling efficiency."),
    _option("quiet", bool, False, _OUTPUT, "--quiet", "-q", help="Show no progress."),
)  # fmt: skip
