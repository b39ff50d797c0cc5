"""From the command line's options to a run's configuration."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from torchspeed.data.imported import IMPORT_MARK
from torchspeed.data.options import DataOptions
from torchspeed.errors import TorchspeedError
from torchspeed.training.config import RunConfig
from torchspeed.training.recipes import recipe_for
from torchspeed.workloads import get_workload

DATA_FIELDS = ("augment", "download", "features", "window", "horizon", "target")
"""Options that concern the data alone and go by the same name there."""

FEWEST_DUMMY_ITEMS = 1000

OTHER_COMMAND_FIELDS = (
    "config", "data_dir", "items", "devices",
    "json", "quiet", "baseline", "log", "tensorboard", "profile",
)  # fmt: skip
"""Options that are no part of a run's configuration."""


def configure(options: dict[str, Any]) -> RunConfig:
    """Return the configuration that the options of a command ask for.

    Args:
        options: parameter names of the command and their values.

    Raises:
        TorchspeedError: unknown model.
    """
    values = {
        name: value
        for name, value in options.items()
        if name not in (*DATA_FIELDS, *OTHER_COMMAND_FIELDS)
    }
    if values.get("target_accuracy") is not None:
        values["target_accuracy"] /= 100
    if values["data"] is None:
        values["data"] = default_data(values["model"])
    values["model_kwargs"] = parse_kwargs(values["model_kwargs"])
    if "epochs" in values:
        recipe = recipe_for(values["model"], values["optimiser"])
        for name in ("optimiser", "rate", "epochs"):
            values[name] = getattr(recipe, name) if values[name] is None else values[name]
    values["strategy"] = "fsdp" if values["strategy"] == "fsdp" else "ddp"
    data_options = DataOptions(
        folder=options["data_dir"],
        seed=values["seed"],
        items=options["items"] or _dummy_items(values["batch_size"], options["devices"]),
        **{name: options[name] for name in DATA_FIELDS},
    )
    return RunConfig(**values, data_options=data_options)


def parse_kwargs(text: str) -> dict[str, int | float | str]:
    """Arguments by name, of ``name=value`` with commas between; numbers are numbers.

    Raises:
        TorchspeedError: a part is not of that form.
    """
    arguments: dict[str, int | float | str] = {}
    for part in filter(None, text.split(",")):
        name, mark, value = part.partition("=")
        if not (mark and name.strip().isidentifier()):
            raise TorchspeedError(f"--model-kwargs {text!r}: give name=value, with commas between")
        arguments[name.strip()] = _number(value.strip())
    return arguments


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def default_data(model: str) -> str:
    """Return the embedded data that suit a model; digits for one of one's own.

    Raises:
        TorchspeedError: unknown model; the nearest are offered.
    """
    if IMPORT_MARK in model:
        return "digits"
    try:
        classifies = get_workload(model).classifies
    except ValueError as error:
        raise TorchspeedError(str(error)) from None
    return "digits" if classifies else "el_nino"


def _dummy_items(batch_size: int, devices: int) -> int:
    """Training items of dummy data for 50 steps of all devices, and so 10 steps of testing."""
    ranks = int(os.environ.get("WORLD_SIZE", devices))
    return max(FEWEST_DUMMY_ITEMS, 50 * batch_size * ranks)


def read_values(option: str, text: str, read: Callable[[str], Any], wanted: str) -> list[Any]:
    """Return the values of an option that takes several, with commas between.

    Args:
        option: its name.
        text: what was given.
        read: turns a part into its value, or raises ValueError.
        wanted: what the parts have to be, for the message.

    Raises:
        TorchspeedError: a part is something else, or is named twice.
    """
    try:
        values = [read(part.strip()) for part in text.split(",")]
    except ValueError:
        raise TorchspeedError(f"{option} {text!r}: give {wanted}, separated by commas") from None
    if len(set(values)) < len(values):
        raise TorchspeedError(f"{option} {text!r} names a value twice; name each once")
    return values


RESULT = (b'{"schema":',)
"""How a file that ``--json`` wrote begins, but for white space."""
TRACE = (b'{"schemaVersion":', b"\x1f\x8b")
"""How a trace of torch.profiler begins, but for white space; and a compressed one."""
PARAMETERS = (b"PK",)
"""How a file that torch.save wrote begins."""
FIGURE = (b"<?xml", b"\x89PNG", b"%PDF")
"""How a drawing begins: SVG, PNG, PDF."""
LOG = (b"number,rate,",)
"""How a log of epochs begins."""


def check_writable(path: Path | None, kind: Sequence[bytes] = ()) -> None:
    """Find out before a long run, not after it, that its result cannot be written.

    Args:
        path: file that the run will write; None if it writes none.
        kind: beginnings of the files that may be replaced; with none, what writes the file
            looks at its content.

    Raises:
        TorchspeedError: the folder is missing or not writable, the path is a folder, or
            a file with other content is there.
    """
    if path is None:
        return
    if not path.parent.is_dir():
        raise TorchspeedError(f"no folder {path.parent} for {path.name}; make it first")
    if path.is_dir():
        raise TorchspeedError(f"{path} is a folder; give a file")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise TorchspeedError(
            f"{path} cannot be written ({error.strerror}); give a file in a writable folder"
        ) from None
    if kind and path.is_file():
        _check_kind(path, kind)


def _check_kind(path: Path, kind: Sequence[bytes]) -> None:
    try:
        with path.open("rb") as file:
            start = b"".join(file.read(80).split())
    except OSError as error:
        raise TorchspeedError(
            f"{path} cannot be read ({error.strerror}); give another file"
        ) from None
    if start and not start.startswith(tuple(kind)):
        raise TorchspeedError(
            f"{path} holds something else than this command writes; it was left as it is, so "
            "give another file, or remove it"
        )
