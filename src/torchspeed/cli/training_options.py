"""The options that the commands share, each written down once.

Nothing here imports torch: help, completion and a wrong option are answered
before it is loaded.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from torchspeed.data.catalogue import list_data


def complete_model(incomplete: str) -> list[str]:
    """Names of models that begin so."""
    from torchspeed.workloads import list_workloads

    return [name for name in list_workloads() if name.startswith(incomplete)]


def complete_data(incomplete: str) -> list[str]:
    """Names of data sets that begin so."""
    return [name for name in list_data() if name.startswith(incomplete)]


class Optimiser(StrEnum):
    """Names of ``torchspeed.training.optimisers``."""

    SGD = "sgd"
    ADAM = "adam"


class Schedule(StrEnum):
    """Names of ``torchspeed.training.optimisers``."""

    CONSTANT = "constant"
    COSINE = "cosine"
    STEP = "step"


class Precision(StrEnum):
    """Names of ``torchspeed.training.precision``."""

    FLOAT32 = "32-true"
    FLOAT16 = "16-mixed"
    BFLOAT16 = "bf16-mixed"


class Strategy(StrEnum):
    """How several devices work together."""

    AUTO = "auto"
    SINGLE = "single"
    DDP = "ddp"


_DATA, _DEVICE, _LEARNING, _OUTPUT = "Data", "Device", "Learning", "Output"

Model = Annotated[
    str,
    typer.Option("--model", "-m", help="A name of `torchspeed list`.",
                 autocompletion=complete_model),
]  # fmt: skip
Data = Annotated[
    str | None,
    typer.Option(
        "--data", "-d", autocompletion=complete_data, rich_help_panel=_DATA,
        help="A name of `torchspeed list`, or csv:FILE. By default digits for a CNN, "
        "google_stock for a time series: real, with nothing to download.",
    ),
]  # fmt: skip
DataDir = Annotated[
    Path, typer.Option("--data-dir", help="Where data lie.", rich_help_panel=_DATA)
]
Download = Annotated[
    bool, typer.Option("--download", help="Fetch what is missing.", rich_help_panel=_DATA)
]
ImageSize = Annotated[
    int | None,
    typer.Option(min=1, rich_help_panel=_DATA,
                 help="Height and width, for torchvision's models (224)."),
]  # fmt: skip
Items = Annotated[
    int | None,
    typer.Option(min=5, rich_help_panel=_DATA,
                 help="Training items of dummy data; by default enough for 50 steps."),
]  # fmt: skip
Features = Annotated[
    int | None,
    typer.Option(min=1, help="Features of a dummy series.", rich_help_panel=_DATA),
]
Window = Annotated[
    int, typer.Option(min=1, help="Time steps that a model sees.", rich_help_panel=_DATA)
]
Horizon = Annotated[
    int,
    typer.Option(min=1, rich_help_panel=_DATA,
                 help="Steps from the window's first to the value to forecast."),
]  # fmt: skip
Target = Annotated[
    str,
    typer.Option(
        help="Column to forecast: name, index from 0, first or all.", rich_help_panel=_DATA
    ),
]
Workers = Annotated[
    int,
    typer.Option("--workers", "-w", min=0, rich_help_panel=_DATA,
                 help="Processes that load data; 0 loads in the run's own."),
]  # fmt: skip
BatchSize = Annotated[
    int, typer.Option("--batch-size", "-b", min=1, help="Items a step and device.")
]
LimitBatches = Annotated[
    int | None, typer.Option(min=1, help="Steps an epoch at most; all by default.")
]
Warmup = Annotated[int, typer.Option(min=0, help="First steps that are not timed.")]
Device = Annotated[str, typer.Option(help="cpu, cuda or cuda:N.", rich_help_panel=_DEVICE)]
Devices = Annotated[
    int, typer.Option(min=1, help="How many work together.", rich_help_panel=_DEVICE)
]
StrategyOption = Annotated[
    Strategy,
    typer.Option("--strategy", rich_help_panel=_DEVICE,
                 help="ddp: data parallel, also for one device; auto: ddp for several."),
]  # fmt: skip
PrecisionOption = Annotated[
    Precision,
    typer.Option("--precision", rich_help_panel=_DEVICE,
                 help="Number format; mixed: products in half the bits."),
]  # fmt: skip
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of parameters, order, noise.")]
OptimiserOption = Annotated[
    Optimiser, typer.Option("--optimiser", "--optimizer", rich_help_panel=_LEARNING)
]
Rate = Annotated[
    float, typer.Option("--rate", "--lr", min=0, help="Learning rate.", rich_help_panel=_LEARNING)
]
Momentum = Annotated[float, typer.Option(min=0, max=1, help="Of SGD.", rich_help_panel=_LEARNING)]
WeightDecay = Annotated[float, typer.Option(min=0, rich_help_panel=_LEARNING)]
ScheduleOption = Annotated[
    Schedule,
    typer.Option("--schedule", rich_help_panel=_LEARNING,
                 help="cosine: to 0 over all epochs; step: a tenth after each third."),
]  # fmt: skip
ScheduleEpochs = Annotated[
    int | None,
    typer.Option(min=1, rich_help_panel=_LEARNING,
                 help="Epochs that the schedule spans (T_max); by default --epochs."),
]  # fmt: skip
Epochs = Annotated[int, typer.Option("--epochs", "-e", min=1, rich_help_panel=_LEARNING)]
TargetAccuracy = Annotated[
    float | None,
    typer.Option(min=0, max=100, rich_help_panel=_LEARNING,
                 help="Test accuracy in %, at which training ends."),
]  # fmt: skip
Json = Annotated[
    Path | None,
    typer.Option("--json", help="Write the result there too.", rich_help_panel=_OUTPUT),
]
Baseline = Annotated[
    Path | None,
    typer.Option(rich_help_panel=_OUTPUT,
                 help="What --json wrote on fewer devices: adds the scaling efficiency."),
]  # fmt: skip
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress.", rich_help_panel=_OUTPUT)
]
