"""The table of models: the functions that make the plain and the tuned model of each name."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, get_args

from torch import nn

from torchspeed.models.fastest import Fastest, Implementation

Maker = TypeVar("Maker", bound=Callable[..., nn.Module])

_MAKERS: dict[str, Callable[..., nn.Module]] = {}
_TUNED: dict[str, Callable[..., nn.Module]] = {}


def register_model(name: str, *, tuned: bool = False) -> Callable[[Maker], Maker]:
    """Enter the decorated class or function in the table under ``name``.

    Args:
        name: the model's name.
        tuned: whether this is the tuned implementation of the plain model of that name.
    """

    def register(maker: Maker) -> Maker:
        makers = _TUNED if tuned else _MAKERS
        if name in makers:
            raise ValueError(f"a {'tuned ' * tuned}model named {name!r} is already registered")
        makers[name] = maker
        return maker

    return register


def has_tuned(name: str) -> bool:
    """Tell whether a model has a tuned implementation."""
    return name in _TUNED


def list_models() -> list[str]:
    """Return the names of all models, sorted."""
    return sorted(_MAKERS)


def list_arguments(name: str) -> list[str]:
    """Return the arguments that a model can be made with."""
    return list(inspect.signature(_MAKERS[name]).parameters)


def create_model(
    name: str, implementation: Implementation | Fastest | None = None, **overrides: Any
) -> nn.Module:
    """Make the model called ``name``, in training mode, on the CPU, in float32.

    Args:
        name: one of ``list_models()``.
        implementation: ``"plain"`` or ``"tuned"``; a model that nobody has tuned is plain.
            `Fastest` takes the one that was measured to be faster for its device, batch and
            pass; the default is a forward pass of the source's batch on a CPU.
        overrides: constructor arguments that differ from the defaults. With
            none, the model has the configuration that its source published.

    Raises:
        ValueError: unknown name (the nearest ones are offered), unknown implementation or
            override, or a value that the model cannot have.
    """
    if name not in _MAKERS:
        nearest = difflib.get_close_matches(name.lower(), _MAKERS, n=3, cutoff=0.4)
        offer = (
            f"did you mean {' or '.join(map(repr, nearest))}?"
            if nearest
            else (f"there are {', '.join(list_models())}")
        )
        raise ValueError(f"no model is named {name!r}: {offer}")
    if implementation is None or isinstance(implementation, Fastest):
        implementation = (implementation or Fastest()).implementation_of(name)
    if implementation not in get_args(Implementation):
        raise ValueError(f"implementation must be 'plain' or 'tuned', got {implementation!r}")
    plain = _MAKERS[name]
    accepted = list_arguments(name)
    for override in overrides:
        if override not in accepted:
            takes = ", ".join(accepted) or "no arguments"
            raise ValueError(f"model {name!r} takes no {override!r}; it takes {takes}")
    maker = _TUNED.get(name, plain) if implementation == "tuned" else plain
    return maker(**overrides)
