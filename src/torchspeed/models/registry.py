"""The table of models: the functions that make the implementations of each name."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar, get_args

from torch import nn

from torchspeed.errors import suggest
from torchspeed.models.checks import check_arguments
from torchspeed.models.fastest import Fastest, Implementation

Maker = TypeVar("Maker", bound=Callable[..., nn.Module])

_IMPLEMENTATIONS: tuple[Implementation, ...] = get_args(Implementation)

_MAKERS: dict[str, dict[Implementation, Callable[..., nn.Module]]] = {}
"""By name and implementation."""


def register_model(
    name: str, implementation: Implementation = "plain"
) -> Callable[[Maker], Maker]:
    """Enter the decorated class or function in the table under ``name``."""

    def register(maker: Maker) -> Maker:
        makers = _MAKERS.setdefault(name, {})
        if implementation in makers:
            raise ValueError(f"a {implementation} model named {name!r} is already registered")
        makers[implementation] = maker
        return maker

    return register


def list_models() -> list[str]:
    """Return the names of all models, sorted."""
    return sorted(_MAKERS)


def list_implementations(name: str) -> list[Implementation]:
    """Return the implementations of a model, the plain one first."""
    return [
        implementation for implementation in _IMPLEMENTATIONS if implementation in _MAKERS[name]
    ]


def list_arguments(name: str) -> list[str]:
    """Return the arguments that a model can be made with."""
    return list(inspect.signature(_MAKERS[name]["plain"]).parameters)


def create_model(
    name: str, implementation: Implementation | Fastest | None = None, **overrides: Any
) -> nn.Module:
    """Make the model called ``name``, in training mode, on the CPU, in float32.

    Args:
        name: one of ``list_models()``.
        implementation: ``"plain"`` or ``"tuned"``; a model that nobody has tuned is plain.
            `Fastest` takes the one that was measured to be the fastest for its device, batch and
            pass, compiled where it allows that; the default is an eager forward pass of the
            source's batch on a CPU.
        overrides: constructor arguments that differ from the defaults. With
            none, the model has the configuration that its source published.

    Raises:
        ValueError: unknown name (the nearest ones are offered), unknown implementation or
            override, or a value that the model cannot have.
    """
    if name not in _MAKERS:
        raise ValueError(f"no model is named {name!r}: {suggest(name, list_models())}")
    compiled = False
    if implementation is None or isinstance(implementation, Fastest):
        implementation, compiled = (implementation or Fastest()).formulation_of(name)
    if implementation not in _IMPLEMENTATIONS:
        raise ValueError(
            f"implementation must be one of {', '.join(_IMPLEMENTATIONS)}, got {implementation!r}"
        )
    makers = _MAKERS[name]
    accepted = list_arguments(name)
    for override in overrides:
        if override not in accepted:
            takes = ", ".join(accepted) or "no arguments"
            raise ValueError(f"model {name!r} takes no {override!r}; it takes {takes}")
    check_arguments(makers["plain"], overrides)
    model = makers.get(implementation, makers["plain"])(**overrides)
    if compiled:
        model.compile(dynamic=False)  # as it was measured
    return model
