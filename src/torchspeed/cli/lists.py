"""Options that take several values, with commas between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchspeed.errors import TorchspeedError


def read_values(option: str, text: str, read: Callable[[str], Any], wanted: str) -> list[Any]:
    """Return the values of an option.

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


def positive(text: str) -> int:
    """Return a whole number from 1.

    Raises:
        ValueError: it is none.
    """
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number
