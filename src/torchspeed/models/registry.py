"""The table of models: a name, and what makes the model of that name."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from torch import nn

Maker = TypeVar("Maker", bound=Callable[..., nn.Module])

_MAKERS: dict[str, Callable[..., nn.Module]] = {}


def register_model(name: str) -> Callable[[Maker], Maker]:
    """Enter the decorated class or function in the table under ``name``."""

    def register(maker: Maker) -> Maker:
        if name in _MAKERS:
            raise ValueError(f"a model named {name!r} is already registered")
        _MAKERS[name] = maker
        return maker

    return register


def list_models() -> list[str]:
    """Return the names of all models, sorted."""
    return sorted(_MAKERS)


def create_model(name: str, **overrides: Any) -> nn.Module:
    """Make the model called ``name``, in training mode, on the CPU, in float32.

    Args:
        name: one of ``list_models()``.
        overrides: constructor arguments that differ from the defaults. With
            none, the model has the configuration that its source published.

    Raises:
        ValueError: unknown name (the nearest ones are offered), unknown
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
    maker = _MAKERS[name]
    accepted = list(inspect.signature(maker).parameters)
    for override in overrides:
        if override not in accepted:
            takes = ", ".join(accepted) or "no arguments"
            raise ValueError(f"model {name!r} takes no {override!r}; it takes {takes}")
    return maker(**overrides)
