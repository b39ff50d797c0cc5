"""How a model is trained, and on what, where the command line does not say."""

from __future__ import annotations

from dataclasses import dataclass, replace

from torchspeed.data.catalogue import IMPORT_MARK
from torchspeed.errors import TorchspeedError
from torchspeed.training.config import RunConfig
from torchspeed.workloads import get_workload


@dataclass(frozen=True, slots=True)
class Recipe:
    """An embedded data set, an optimiser of ``torch.optim``, its rate, and for how many epochs."""

    data: str
    optimiser: str
    rate: float
    epochs: int


PUBLISHED = Recipe("digits", "sgd", 0.01, 1)
"""An epoch as BenchmarkJade and the Flux blog time it."""
SMALL_IMAGES = Recipe("digits", "adam", 0.003, 10)
"""89 % of the embedded digits with LeNet-5, in seconds."""
SERIES = Recipe("el_nino", "adam", 0.007, 40)
"""Rate of FluxArchitectures' benchmark."""

_USUAL_RATES = {"sgd": 0.01}
_OTHER_RATE = 0.001
"""What most of ``torch.optim`` has by itself."""


def complete(config: RunConfig) -> RunConfig:
    """Return the configuration with what suits the model where it names nothing.

    Raises:
        TorchspeedError: unknown model; the nearest are offered.
    """
    recipe = _of_model(config.model)
    optimiser = config.optimiser or recipe.optimiser
    rate = recipe.rate
    if optimiser.lower() != recipe.optimiser:
        rate = _USUAL_RATES.get(optimiser.lower(), _OTHER_RATE)
    return replace(
        config,
        data=config.data or recipe.data,
        optimiser=optimiser,
        rate=rate if config.rate is None else config.rate,
        epochs=config.epochs or recipe.epochs,
    )


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
