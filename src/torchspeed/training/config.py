"""Everything that decides what a run does, in one typed record whose fields are the options."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, NamedTuple

from torchspeed.data.options import (
    DATA,
    DATA_PANEL,
    IMPORT_MARK,
    USUAL_WINDOW,
    DataOptions,
    kind_of,
)
from torchspeed.errors import TorchspeedError
from torchspeed.options import option
from torchspeed.workloads import get_workload, list_workloads

LEARNING, DEVICE = "Learning", "Device"
"""Headings of ``--help``."""

Schedule = Literal["constant", "cosine"]
Strategy = Literal["ddp", "dp"]
Precision = Literal["32-true", "16-mixed", "bf16-mixed"]


@dataclass(frozen=True, slots=True)
class RunConfig:
    """A training or inference run. Rates in SI units, accuracy in percent."""

    model: str = option(
        "lenet5",
        "A name of `torchspeed list`, or package.module:callable, which returns the model.",
        "-m",
        names=list_workloads(),
    )
    model_kwargs: str = option("", "Arguments of the model, such as hidden=20,layers=2.")
    # `complete` fills what is None here: batch, epochs, optimiser, rate and data.
    batch_size: int = option(
        None, "Items per step and device; by default 128 images or 32 windows.", "-b", min=1
    )
    limit_batches: int | None = option(
        None, "Largest number of steps per epoch; all by default.", min=1
    )
    warmup: int = option(1, "Number of first steps that are not timed.", min=0)
    seed: int = option(0, "Seed of parameters, order and noise.", min=0, max=2**32 - 1)
    phases: bool = option(True, "Time each phase; the host then waits for the GPU in each step.")

    epochs: int = option(
        None,
        "Number of epochs; the defaults of epochs, optimiser and rate depend on the model.",
        "-e",
        panel=LEARNING,
        min=1,
    )
    optimiser: str = option(
        None, "A name of torch.optim, such as sgd, adam or adamw.", "--optimizer", panel=LEARNING
    )
    rate: float = option(None, "Learning rate.", "--lr", panel=LEARNING, min=0)
    momentum: float = option(
        0.9, "Momentum of SGD; other optimisers take none.", panel=LEARNING, min=0, max=1
    )
    weight_decay: float = option(0.0, "Weight decay of the optimiser.", panel=LEARNING, min=0)
    schedule: Schedule = option(
        "constant", "cosine: the rate falls to 0 over its span.", panel=LEARNING
    )
    schedule_epochs: int | None = option(
        None,
        "Epochs that the schedule spans (T_max); by default --epochs.",
        panel=LEARNING,
        min=1,
    )
    clip_norm: float | None = option(None, "Largest norm of the gradient.", panel=LEARNING, min=0)
    loss: Literal["squared", "absolute"] = option(
        "squared", "Error of a forecast that training minimises.", panel=LEARNING
    )
    target_accuracy: float | None = option(
        None,
        "Test accuracy in %, such as 90, at which training ends.",
        panel=LEARNING,
        min=0,
        max=100,
    )

    data: str = option(
        None,
        "A name of `torchspeed list`, csv:FILE, or package.module:callable. By default digits for "
        "a CNN, el_nino for a time series: real, and nothing to download.",
        "-d",
        panel=DATA_PANEL,
        names=DATA,
    )
    workers: int = option(
        0,
        "Processes per device that load images; 0 loads in the run's own process, as for series.",
        "-w",
        panel=DATA_PANEL,
        min=0,
    )
    image_size: int | None = option(
        None, "Height and width, for torchvision's models (224).", panel=DATA_PANEL, min=1
    )
    data_options: DataOptions = field(default_factory=DataOptions)

    device: str = option("cpu", "cpu, cuda or cuda:N.", panel=DEVICE)
    strategy: Strategy = option(
        "ddp",
        "How several devices train together: ddp, a process each; dp, threads of one process on "
        "all GPUs, as torch.nn.DataParallel does.",
        panel=DEVICE,
    )
    precision: Precision = option(
        "32-true", "Number format; mixed: matrix products in 16 bits.", panel=DEVICE
    )
    threads: int | None = option(
        None,
        "CPU threads of each rank; by default this machine's cores, shared by the runs on it.",
        panel=DEVICE,
        min=1,
    )
    compile: bool = option(False, "Compile with torch.compile.", panel=DEVICE)
    channels_last: bool = option(False, "Lay images out with the channels last.", panel=DEVICE)

    @property
    def schedule_span(self) -> int:
        """Epochs that the learning-rate schedule spans."""
        return self.schedule_epochs or self.epochs

    @property
    def target_share(self) -> float | None:
        """The target accuracy from 0 to 1."""
        return None if self.target_accuracy is None else self.target_accuracy / 100

    def as_dict(self) -> dict[str, Any]:
        """Plain values only, for JSON and checkpoints."""
        values = asdict(self)
        values["data_options"]["data_dir"] = str(self.data_options.data_dir)
        if self.data_options.shape is not None:
            values["data_options"]["shape"] = list(self.data_options.shape)
        return values

    def difference(self, stored: dict[str, Any], free: Collection[str] = ()) -> str | None:
        """Name an option in which a stored run differs, with both values; None if none does.

        An option that the stored run lacks differs too: what an earlier version did without it is
        unknown here, and need not be what the option's default does.

        Args:
            stored: `as_dict` of the other run.
            free: options that may differ; the folder of the data always may.
        """
        ours, theirs = _flat(self.as_dict()), _flat(stored)
        for name in ours:
            if name in {*free, "data_dir", "download"}:
                continue
            if name not in theirs:
                return f"the options of an earlier version, which had no {name!r}"
            if theirs[name] != ours[name]:
                return f"another {name} ({theirs[name]!r}, now {ours[name]!r})"
        return None


def _flat(config: dict[str, Any]) -> dict[str, Any]:
    return {**config["data_options"], **config, "data_options": None}


class Recipe(NamedTuple):
    """How a model is trained unless the command line says otherwise."""

    data: str
    optimiser: str
    rate: float
    epochs: int
    batch_size: int = 128
    window: int = USUAL_WINDOW


PUBLISHED = Recipe("digits", "sgd", 0.01, 1)
"""An epoch as BenchmarkJade and the Flux blog time it."""
SMALL_IMAGES = Recipe("digits", "adam", 0.003, 10)
"""Reaches 89 % accuracy on the embedded digits with LeNet-5 within seconds."""


def _series(rate: float, window: int, epochs: int = 25) -> Recipe:
    return Recipe("el_nino", "adam", rate, epochs, 32, window)


SERIES = {
    "darnn": _series(0.01, 24),
    "dsanet": _series(0.003, 24),
    "lstnet": _series(0.01, 24),
    "tpa_lstm": _series(0.01, 24),
    "dlinear": _series(0.01, 12, 40),
    "nhits": _series(0.001, 12),
    "tcn": _series(0.003, 12),
    "deepar": _series(0.003, 36, 40),
    "patchtst": _series(0.001, 24),
    "itransformer": _series(0.0001, 36, 30),
    "tsmixer": _series(0.01, 24, 40),
    "timesnet": _series(0.001, 24, 15),
    "encoder_decoder": _series(0.001, 24),
}
"""Rate, window and epochs with the least validation loss on ``el_nino`` of those tried
(docs/notes/forecasts.md)."""
OTHER_SERIES = _series(0.003, 24)

_OTHER_RATES = {"sgd": 0.01}
"""Rates of optimisers other than the recipe's; most in ``torch.optim`` default to 0.001."""


def complete(config: RunConfig) -> RunConfig:
    """Return the configuration with missing values filled in from the model's recipe.

    Raises:
        TorchspeedError: unknown model (near names are suggested), or a value that trains nothing.
    """
    _check_values(config)
    recipe, options = _recipe_of(config.model), config.data_options
    optimiser = config.optimiser or recipe.optimiser
    rate = recipe.rate
    if optimiser.lower() != recipe.optimiser:
        rate = _OTHER_RATES.get(optimiser.lower(), 0.001)
    return replace(
        config,
        data=config.data or recipe.data,
        optimiser=optimiser,
        rate=rate if config.rate is None else config.rate,
        epochs=config.epochs or recipe.epochs,
        batch_size=config.batch_size or recipe.batch_size,
        data_options=replace(options, window=options.window or recipe.window),
    )


def unused_option(config: RunConfig) -> str | None:
    """Return a message about a given option that would have no effect; None if there is none.

    Args:
        config: before `complete`, so that it holds only the options that were given.
    """
    recipe, options, usual = _recipe_of(config.model), config.data_options, DataOptions()
    optimiser, data = config.optimiser or recipe.optimiser, config.data or recipe.data
    kind = kind_of(data)
    if config.momentum != RunConfig().momentum and optimiser.lower() != "sgd":
        return f"--momentum is for --optimiser sgd, and this run takes {optimiser}; leave it out"
    if config.schedule_epochs is not None and config.schedule == "constant":
        return "--schedule-epochs is for --schedule cosine; give that too, or leave it out"
    if config.image_size is not None and kind == "series":
        return f"--image-size is for images, and {data} is a series; leave it out"
    for name in ("items", "features"):
        if getattr(options, name) is not None and kind not in ("dummy", "imported"):
            return f"--{name} is for --data dummy, and this run takes {data}; leave it out"
    for name in ("window", "horizon", "target", "anomalies"):
        if getattr(options, name) != getattr(usual, name) and kind == "images":
            return f"--{name} is for a series, and {data} holds images; leave it out"
    return None


def _check_values(config: RunConfig) -> None:
    """Refuse values in range that would train nothing, or end training at once."""
    for declared in fields(config):
        value = getattr(config, declared.name)
        if isinstance(value, float) and not math.isfinite(value):
            name = declared.name.replace("_", "-")
            raise TorchspeedError(f"--{name} {value:g} is not finite; give a finite number")
    if config.target_accuracy is not None and config.target_accuracy <= 1:
        raise TorchspeedError(
            f"--target-accuracy {config.target_accuracy:g} means {config.target_accuracy:g} %, "
            "which ends training at once; give a percentage above 1, such as 90"
        )
    if config.rate == 0:
        raise TorchspeedError("--rate 0 would train nothing; give a larger rate, or leave it out")
    if config.momentum == 1:
        raise TorchspeedError("--momentum 1 would never forget a gradient; give less, such as 0.9")
    if config.clip_norm == 0:
        raise TorchspeedError(
            "--clip-norm 0 would set every gradient to zero; give a larger norm, or leave it out"
        )


def _recipe_of(model: str) -> Recipe:
    if IMPORT_MARK in model:
        return SMALL_IMAGES
    try:
        workload = get_workload(model)
    except ValueError as error:
        raise TorchspeedError(str(error)) from None
    if not workload.classifies:
        return SERIES.get(workload.model, OTHER_SERIES)
    return SMALL_IMAGES if workload.name in {"lenet5", "resnet18_mnist"} else PUBLISHED
