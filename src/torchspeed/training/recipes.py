"""How a model is trained where the command line does not say: optimiser, rate, epochs."""

from __future__ import annotations

from dataclasses import dataclass

from torchspeed.data.imported import IMPORT_MARK
from torchspeed.errors import TorchspeedError
from torchspeed.workloads import get_workload


@dataclass(frozen=True, slots=True)
class Recipe:
    """An optimiser of ``torch.optim``, its rate, and for how many epochs."""

    optimiser: str
    rate: float
    epochs: int


PUBLISHED = Recipe("sgd", 0.01, 1)
"""An epoch as BenchmarkJade and the Flux blog time it."""
SMALL_IMAGES = Recipe("adam", 0.003, 10)
"""89 % of the embedded digits with LeNet-5, in seconds."""
SERIES = Recipe("adam", 0.007, 40)
"""Rate of FluxArchitectures' benchmark."""

_USUAL_RATES = {"sgd": 0.01}
_OTHER_RATE = 0.001
"""What most of ``torch.optim`` has by itself."""


def recipe_for(model: str, optimiser: str | None = None) -> Recipe:
    """Return the recipe of a model, with a rate that suits the optimiser.

    Args:
        model: as `RunConfig.model`.
        optimiser: in place of the recipe's.

    Raises:
        TorchspeedError: unknown model; the nearest are offered.
    """
    recipe = _of_model(model)
    if optimiser is None or optimiser == recipe.optimiser:
        return recipe
    return Recipe(optimiser, _USUAL_RATES.get(optimiser.lower(), _OTHER_RATE), recipe.epochs)


def _of_model(model: str) -> Recipe:
    if IMPORT_MARK in model:
        return SMALL_IMAGES
    try:
        workload = get_workload(model)
    except ValueError as error:
        raise TorchspeedError(str(error)) from None
    if not workload.classifies:
        return SERIES
    return SMALL_IMAGES if workload.name in {"lenet5", "resnet18_mnist"} else PUBLISHED
