"""Gives commands the options that records declare, and reads the records from their values."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import Field, fields, replace
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from torchspeed.data.options import DataOptions
from torchspeed.errors import TorchspeedError
from torchspeed.training.config import RunConfig

Record = TypeVar("Record")
Command = TypeVar("Command", bound=Callable[..., Any])

_KINDS = {str: "names", int: "whole numbers", float: "numbers"}


def takes(
    *records: type,
    only: Collection[str] = (),
    without: Collection[str] = (),
    several: Collection[str] = (),
) -> Callable[[Command], Command]:
    """Give a command the options that some records declare, in place of its ``**options``.

    Args:
        records: dataclasses whose fields are made by `torchspeed.options.option`.
        only: names of the options that the command takes; all by default.
        without: headings of options that it does not take.
        several: names of options that take several values, separated by commas.
    """

    def add(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        named = signature.parameters.values()
        parameters = [
            parameter for parameter in named if parameter.kind is not parameter.VAR_KEYWORD
        ]
        for record in records:
            for declared, kind in _options(record):
                wanted = declared.name in only or not only
                if wanted and declared.metadata["panel"] not in without:
                    takes_several = declared.name in several
                    parameters.append(_parameter(declared, kind, takes_several=takes_several))
        command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in parameters}
        return command

    return add


def read(record: type[Record], values: dict[str, Any]) -> Record:
    """Make a record from the values of options; other fields keep their defaults."""
    names = {declared.name for declared, _ in _options(record)} & set(values)
    return record(**{name: values[name] for name in names})


def configure(options: dict[str, Any]) -> RunConfig:
    """Return the configuration that the options of a command ask for."""
    return replace(read(RunConfig, options), data_options=read(DataOptions, options))


def complete_from(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Return the function that completes one of some names in a shell."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def _options(record: type) -> Iterator[tuple[Field[Any], Any]]:
    hints = get_type_hints(record)
    for declared in fields(record):
        if "option" in declared.metadata:
            yield declared, hints[declared.name]


def _parameter(declared: Field[Any], kind: Any, *, takes_several: bool) -> inspect.Parameter:
    metadata, default = declared.metadata, declared.default
    settings = metadata["option"]
    name = declared.name.replace("_", "-")
    if takes_several:
        kind, default = str, None
        settings = {"help": settings["help"], "rich_help_panel": "Settings, several with commas"}
    if default is None:
        kind |= None
    switch = kind in (bool, bool | None)
    named = f"--{name}/--no-{name}" if switch and default is not False else f"--{name}"
    offered = list(metadata["names"])
    complete = complete_from(offered) if offered else None
    settings = typer.Option(named, *metadata["flags"], autocompletion=complete, **settings)
    return inspect.Parameter(
        declared.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, settings],
    )


def read_values(name: str, text: str) -> list[Any]:
    """Return the values of an option from a text that separates them by commas.

    Raises:
        TorchspeedError: one is of another kind, too small, or named twice.
    """
    options = itertools.chain(_options(RunConfig), _options(DataOptions))
    declared, kind = next(option for option in options if option[0].name == name)
    least = declared.metadata["option"].get("min")
    wanted = _KINDS[kind] if least is None else f"{_KINDS[kind]} from {least}"
    shown = f"--{name.replace('_', '-')} {text!r}"
    try:
        values = [kind(part.strip()) for part in text.split(",")]
    except ValueError:
        values = []
    if not values or (least is not None and min(values) < least):
        raise TorchspeedError(f"{shown}: give {wanted}, separated by commas")
    if len(set(values)) < len(values):
        raise TorchspeedError(f"{shown} names a value twice; name each once")
    return values
