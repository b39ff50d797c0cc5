"""Options that several commands take, and the configuration that they ask for."""

import argparse
import inspect
import math
import os
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, NoReturn, get_args

from torchspeed.errors import TorchspeedError
from torchspeed.training.config import PATIENCE, Mode, Optimiser, Precision, RunConfig

Read = Callable[[str], Any]
"""Makes the value of an option from its text."""


class UsageError(Exception):
    """The command line is wrong."""


class Parser(ArgumentParser):
    """A parser that raises what is wrong, to be shown in one line; defaults are left out."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            **settings,
            allow_abbrev=False,
            argument_default=SUPPRESS,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    def error(self, message: str) -> NoReturn:
        """Raise a message about the command line."""
        raise UsageError(message)

    def _print_message(self, message: str, file: Any = None) -> None:
        file.write(message)  # argparse's own hides that the output was closed


def add_command(
    commands: Any, name: str, run: Callable[[dict[str, Any]], int | None], arguments: str = ""
) -> Parser:
    """Add a command to the command line, described by the docstring of the function it runs."""
    about, _, more = inspect.cleandoc(run.__doc__ or "").partition("\n\n")
    parser: Parser = commands.add_parser(
        name,
        help=about,
        description=about,
        usage=f"torchspeed {name} {arguments}[options]",
        epilog=more,
    )
    parser.set_defaults(run=run)
    return parser


def number(kind: type[int] | type[float], least: float, most: float = 2**31 - 1) -> Read:
    """Return the type of an option that is a number in a range."""
    wanted = f"{'a whole' if kind is int else 'a'} number from {least:,} to {most:,}"

    def read(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise ArgumentTypeError(f"{text!r}: give {wanted}")
        return value

    return read


def one_of(kind: object) -> Read:
    """Return the type of an option that is one of the names in a ``Literal``."""
    names = get_args(kind)

    def read(text: str) -> str:
        if text not in names:
            raise ArgumentTypeError(f"{text!r}: give {' or '.join(names)}")
        return text

    return read


def several(read: Read) -> Read:
    """Return the type of an option with several values, separated by commas."""

    def read_all(text: str) -> list[Any]:
        values = [read(part.strip()) for part in text.split(",")]
        if len(set(values)) < len(values):
            raise ArgumentTypeError(f"{text!r} names a value twice; name each once")
        return values

    return read_all


def picture(text: str) -> Path:
    """Return the file of a picture, whose name says its format."""
    if not text.endswith((".svg", ".png", ".pdf")):
        raise ArgumentTypeError(f"{text!r}: give a file that ends in .svg, .png or .pdf")
    return Path(text)


def add_place(parser: ArgumentParser) -> None:
    """Add the choice of model and data, and where a run and its data are."""
    option = parser.add_argument
    about = "a name of `torchspeed list`, or package.module:callable, which returns the model"
    option("-m", "--model", help=about)
    about = (
        "a name of `torchspeed list`, csv:FILE, or package.module:callable; by default digits for "
        "a CNN, el_nino or lorenz for a time series: nothing to download"
    )
    option("-d", "--data", help=about)
    option("--device", help="cpu, cuda or cuda:N (cpu)")
    option("--threads", type=number(int, 1, 1024), help="CPU threads (torch's choice)")
    option("--data-dir", type=Path, help="folder of the data (data)")
    option("--download", action="store_true", help="download what is missing")
    option("--limit-batches", type=number(int, 1), help="most steps of an epoch")


def add_run(parser: ArgumentParser) -> None:
    """Add what every run takes."""
    add_place(parser)
    option, count = parser.add_argument, number(int, 1)
    option("--model-kwargs", help="arguments of the model, such as hidden=20,layers=2")
    about = (
        "eager: the model as its paper writes it; compiled: that, by torch.compile; tuned: the "
        "fastest implementation for this device and batch; fastest: that, compiled where it is "
        "faster still (tuned)"
    )
    option("--mode", type=one_of(Mode), help=about)
    about = "items per step and device (128 images or 32 windows)"
    option("-b", "--batch-size", type=count, help=about)
    option("--precision", type=one_of(Precision), help="bf16-mixed: products in 16 bits (32-true)")
    option("--seed", type=number(int, 0, 2**32 - 1), help="of parameters, order and noise (0)")
    about = "processes per device that load images; 0: the run's own, as for series (0)"
    option("-w", "--workers", type=number(int, 0), help=about)
    option("--items", type=number(int, 5), help="training items of dummy data (for 50 steps)")
    option("--features", type=count, help="of a dummy series")
    option("--window", type=count, help="time steps that a model sees")
    about = "steps from the window's last step to the value to forecast (3)"
    option("--horizon", type=count, help=about)
    option("--target", help="column to forecast: name, first or all; 0, 1, … without a header")
    about = (
        "subtract from each value the training data's mean for its time of the season, such as "
        "its month; by default only for el_nino"
    )
    option("--anomalies", action=argparse.BooleanOptionalAction, help=about)


def add_training(parser: ArgumentParser) -> None:
    """Add what every training takes."""
    option = parser.add_argument_group("learning (the defaults depend on the model)").add_argument
    option("-e", "--epochs", type=number(int, 1), help="most epochs")
    about = "sgd, with a momentum of 0.9, or adam"
    option("--optimiser", "--optimizer", type=one_of(Optimiser), help=about)
    option("--rate", "--lr", type=number(float, 1e-30), help="learning rate")
    option("--weight-decay", type=number(float, 0), help="of the optimiser (0)")
    about = "test accuracy in %%, such as 90, at which training ends"
    option("--target-accuracy", type=number(float, 2, 100), help=about)
    about = (
        "epochs without improvement after which training ends; 0: train all epochs "
        f"(0 for images, {PATIENCE} for a series)"
    )
    option("--patience", type=number(int, 0), help=about)


def configure(options: dict[str, Any]) -> RunConfig:
    """Return the configuration that the options of a command ask for."""
    names = {field.name for field in fields(RunConfig)}
    return RunConfig(**{name: options[name] for name in names & options.keys()})


def check_writable(path: Path | None) -> None:
    """Check before a long run that its result can be written.

    Raises:
        TorchspeedError: the folder is missing or not writable, or the path is a folder.
    """
    if path is None:
        return
    if not path.parent.is_dir():
        raise TorchspeedError(f"no folder {path.parent} for {path.name}; make it first")
    if path.is_dir():
        raise TorchspeedError(f"{path} is a folder; give a file")
    if not os.access(path.parent, os.W_OK):
        raise TorchspeedError(f"{path} cannot be written; give a file in a writable folder")
