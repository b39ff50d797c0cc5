"""Checks of every model's configuration, when it is made, and of its input, at each call.

They look at Python integers and at shape, dtype and device only, never at a
tensor's values, so that they neither wait for a device nor break a compiled
graph.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import Tensor, nn


def check_sizes(**sizes: int) -> None:
    """Raise ValueError for the first size that is not an integer of 1 or more."""
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise ValueError(f"{name} must be an integer of at least 1, got {size!r}")


def check_arguments(maker: Callable[..., nn.Module], arguments: Mapping[str, Any]) -> None:
    """Raise ValueError for the first size below 1, or fraction outside [0, 1).

    An argument whose default is an integer of 1 or more is a size, one whose default is a float
    a fraction, one whose default is a tuple a list. Others are checked by the model.
    """
    for name, argument in inspect.signature(maker).parameters.items():
        value = arguments.get(name, argument.default)
        if isinstance(argument.default, float):
            if not isinstance(value, int | float) or not 0 <= value < 1:
                raise ValueError(f"{name} must be at least 0 and below 1, got {value!r}")
        elif isinstance(argument.default, tuple):
            if not isinstance(value, Sequence):
                raise ValueError(f"{name} must be a list of integers, got {value!r}")
        elif isinstance(argument.default, int) and argument.default > 0:
            check_sizes(**{name: value})


def check_divides(name: str, size: int, other_name: str, other: int) -> None:
    """Raise ValueError where ``size`` does not divide another argument."""
    if other % size:
        raise ValueError(f"{name} must divide {other_name}, {other}, got {size}")


def check_at_most(name: str, size: int, limit_name: str, limit: int) -> None:
    """Raise ValueError where ``size`` exceeds what another argument allows."""
    if size > limit:
        raise ValueError(f"{name} must be at most {limit_name}, {limit}, got {size}")


def check_input(x: Tensor, axes: str, shape: tuple[int, ...], like: Tensor) -> None:
    """Raise ValueError unless ``x`` is a batch that a model can take.

    Args:
        x: the model's input.
        axes: the names of its axes, for the message: ``"batch, window, features"``.
        shape: the sizes that the axes after the first must have.
        like: a parameter of the model, for dtype and device.
    """
    if not isinstance(x, Tensor):
        raise ValueError(f"x must be a tensor, got {type(x).__name__}")
    if x.dim() != len(shape) + 1:
        raise ValueError(
            f"x must have {len(shape) + 1} axes ({axes}), got {x.dim()}: {tuple(x.shape)}"
        )
    if x.shape[1:] != shape or x.shape[0] < 1:
        wanted = ", ".join(["at least 1", *map(str, shape)])
        raise ValueError(f"x must have the shape ({axes}) = ({wanted}), got {tuple(x.shape)}")
    if x.dtype != like.dtype:
        raise ValueError(f"x must be {like.dtype} as the parameters are, got {x.dtype}")
    if x.device != like.device:
        raise ValueError(f"x must be on {like.device} as the parameters are, got {x.device}")
