"""The options of the training commands, each declared once with its default.

A command names the groups it takes with `takes` and gets their values as keyword arguments.
Nothing here imports torch: help, completion and a wrong option are answered before it is loaded.
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer

from torchspeed.data import catalogue
from torchspeed.errors import TorchspeedError
from torchspeed.workloads import list_workloads


def complete_model(incomplete: str) -> list[str]:
    """Return the names of models that begin so."""
    return [name for name in list_workloads() if name.startswith(incomplete)]


def complete_data(incomplete: str) -> list[str]:
    """Return the names of data sets that begin so."""
    return [name for name in catalogue.DATA if name.startswith(incomplete)]


Schedule = Literal["constant", "cosine", "step"]
Unit = Literal["epoch", "step"]
Loss = Literal["squared", "absolute"]
Precision = Literal["32-true", "16-mixed", "bf16-mixed"]
Strategy = Literal["auto", "single", "ddp", "fsdp"]
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


def as_arguments(values: dict[str, Any]) -> list[str]:
    """Return the command line that asks for these values of options.

    Args:
        values: of `takes`' options; None, an empty text and a flag's False are its defaults.
    """
    arguments = []
    for name, value in values.items():
        option = name.replace("_", "-")
        if value is True:
            arguments.append(f"--{option}")
        elif name == "tf32" and value is False:
            arguments.append(f"--no-{option}")
        elif value is not None and value is not False and value != "":
            arguments.append(f"--{option}={value}")
    return arguments


def _take_file(context: typer.Context, file: Path | None) -> Path | None:
    """Make the values of a TOML file the defaults of a command's options.

    Raises:
        TorchspeedError: no such file, no TOML, or an option that the command has not.
    """
    if file is None:
        return None
    try:
        values = tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise TorchspeedError(
            f"--config {file} cannot be read ({error.strerror}); give a file that can be read"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TorchspeedError(f"{file} is no TOML ({error}); give lines like epochs = 3") from None
    values = {name.replace("-", "_"): value for name, value in values.items()}
    known = {parameter.name for parameter in context.command.params}
    for name in values:
        if name not in known:
            raise TorchspeedError(
                f"{file}: {context.info_name} has no option {name.replace('_', '-')}; see --help"
            )
    context.default_map = values
    return file


def _option(
    name: str, kind: Any, default: Any, panel: str | None, *flags: str, **settings: Any
) -> inspect.Parameter:
    declared = typer.Option(*flags, rich_help_panel=panel, **settings)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, declared]
    )


_DATA, _DEVICE, _LEARNING, _OUTPUT = "Data", "Device", "Learning", "Output"

RUN: Group = (
    _option("config", Path | None, None, None, is_eager=True, callback=_take_file,
            help="TOML file with values of options; the command line overrides them."),
    _option("model", str, "lenet5", None, "--model", "-m", autocompletion=complete_model,
            help="A name of `torchspeed list`, or package.module:callable."),
    _option("model_kwargs", str, "", None,
            help="Sizes of the model that differ: hidden=20,layers=2."),
    _option("pretrained", bool, False, None, "--pretrained",
            help="Begin with torchvision's ImageNet weights."),
    _option("batch_size", int, 128, None, "--batch-size", "-b", min=1,
            help="Items per step and device."),
    _option("limit_batches", int | None, None, None, min=1,
            help="Largest number of steps per epoch; all by default."),
    _option("warmup", int, 1, None, min=0, help="First steps that are not timed."),
    _option("seed", int, 0, None, min=0, max=2**32 - 1,
            help="Seed of parameters, order and noise."),
)  # fmt: skip
LEARNING: Group = (
    _option("epochs", int | None, None, _LEARNING, "--epochs", "-e", min=1,
            help="By default, as for optimiser and rate, what suits the model."),
    _option("optimiser", str | None, None, _LEARNING, "--optimiser", "--optimizer",
            help="A name of torch.optim, such as sgd, adam or adamw."),
    _option("rate", float | None, None, _LEARNING, "--rate", "--lr", min=0, help="Learning rate."),
    _option("momentum", float, 0.9, _LEARNING, min=0, max=1, help="Momentum of SGD."),
    _option("weight_decay", float, 0.0, _LEARNING, min=0),
    _option("schedule", Schedule, "constant", _LEARNING,
            help="cosine: to 0 over its span; step: a tenth after each third of it."),
    _option("schedule_epochs", int | None, None, _LEARNING, min=1,
            help="Epochs that the schedule spans (T_max); by default --epochs."),
    _option("schedule_unit", Unit, "epoch", _LEARNING,
            help="Whether the rate moves after each epoch or each step."),
    _option("rate_warmup", int, 0, _LEARNING, min=0,
            help="First epochs of the span, in which the rate rises linearly."),
    _option("accumulate", int, 1, _LEARNING, min=1,
            help="Batches whose gradients make one step of the optimiser."),
    _option("clip_norm", float | None, None, _LEARNING, min=0,
            help="Largest norm of the gradient."),
    _option("loss", Loss, "squared", _LEARNING,
            help="Error of a forecast that training minimises."),
    _option("label_smoothing", float, 0.0, _LEARNING, min=0, max=1),
    _option("ema", float | None, None, _LEARNING, min=0, max=1,
            help="Test a moving average of the parameters with this decay."),
    _option("test_every", int, 1, _LEARNING, min=1, help="Epochs from one test to the next."),
    _option("target_accuracy", float | None, None, _LEARNING, min=0, max=100,
            help="Test accuracy in %, at which training ends."),
)  # fmt: skip
DATA: Group = (
    _option("data", str | None, None, _DATA, "--data", "-d", autocompletion=complete_data,
            help="A name of `torchspeed list`, or csv:FILE. By default digits for a CNN, "
            "el_nino for a time series: real, and nothing to download."),
    _option("data_dir", Path, Path("data"), _DATA, help="Folder of the data."),
    _option("download", bool, False, _DATA, "--download", help="Download what is missing."),
    _option("augment", bool, False, _DATA, "--augment",
            help="Crop and mirror images to train on at random."),
    _option("workers", int, 0, _DATA, "--workers", "-w", min=0,
            help="Processes that load data; 0 loads in the run's own process."),
    _option("image_size", int | None, None, _DATA, min=1,
            help="Height and width, for torchvision's models (224)."),
    _option("items", int | None, None, _DATA, min=5,
            help="Training items of dummy data; by default enough for 50 steps."),
    _option("features", int | None, None, _DATA, min=1, help="Features of a dummy series."),
    _option("window", int, 10, _DATA, min=1, help="Time steps that a model sees."),
    _option("horizon", int, 3, _DATA, min=1,
            help="Steps from the window's last step to the value to forecast."),
    _option("target", str, "first", _DATA,
            help="Column to forecast: name, index from 0, first or all."),
)  # fmt: skip
LOGS: Group = (
    _option("log", Path | None, None, _OUTPUT, help="Add a row for each epoch to this CSV file."),
    _option("tensorboard", Path | None, None, _OUTPUT,
            help="Write losses, accuracy, rate and phases for TensorBoard to this folder."),
)  # fmt: skip
DEVICE: Group = (
    _option("device", str, "cpu", _DEVICE, help="cpu, cuda or cuda:N."),
    _option("devices", str, "1", _DEVICE,
            help="Devices that work together: a number, auto for all GPUs, or a list: 0,2."),
    _option("strategy", Strategy, "auto", _DEVICE,
            help="ddp: data parallel, also for one device; fsdp: parameters shared out too, in "
            "training; auto: ddp for several."),
    _option("precision", Precision, "32-true", _DEVICE,
            help="Number format; mixed: products in half the bits."),
    _option("compile", bool, False, _DEVICE, "--compile", help="Compile with torch.compile."),
    _option("channels_last", bool, False, _DEVICE, "--channels-last",
            help="Lay images out with the channels last."),
    _option("tf32", bool | None, None, _DEVICE, "--tf32/--no-tf32",
            help="Whether CUDA may round float32 products to TF32."),
    _option("cudnn_benchmark", bool, False, _DEVICE, "--cudnn-benchmark",
            help="Let cuDNN time its algorithms and take the fastest."),
)  # fmt: skip
OUTPUT: Group = (
    _option("json", Path | None, None, _OUTPUT, help="Write the result to this file too."),
    _option("baseline", Path | None, None, _OUTPUT,
            help="What --json wrote on fewer devices: adds the scaling efficiency."),
    _option("phases", bool, True, _OUTPUT, "--phases/--no-phases",
            help="Time each phase, for which the host waits for a GPU in each step."),
    _option("profile", Path | None, None, _OUTPUT,
            help="Write torch.profiler's trace of some steps to this file, for Perfetto."),
    _option("quiet", bool, False, _OUTPUT, "--quiet", "-q", help="Show no progress."),
)  # fmt: skip
