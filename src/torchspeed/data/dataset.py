"""The interface of data sets: items to train on, to validate with and to test on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch.utils.data import Dataset

    from torchspeed.data.scale import Scale


@dataclass(frozen=True, slots=True)
class Data:
    """A named data set, split for training and testing.

    Items are pairs ``(input, target)``: a float32 tensor of ``item_shape``, and
    either a class (``classes`` of them) or, when ``classes`` is None, a float32
    tensor to forecast.
    """

    name: str
    train: Dataset[Any]
    test: Dataset[Any]
    item_shape: tuple[int, ...]
    """Shape of one input: (channels, height, width) or (window, features)."""
    classes: int | None
    """How many classes; None for a forecast."""
    source: str
    """Where the data come from."""
    target: int | None = None
    """Column that a series' targets are of; None for all of them, or for images."""
    validation: Dataset[Any] | None = None
    """Items to choose the best epoch by; None where there are none apart from ``test``."""
    scale: Scale | None = None
    """How a series was normalised; None for images and random numbers."""

    @property
    def target_columns(self) -> slice:
        """Columns of a series that are forecast."""
        return slice(None) if self.target is None else slice(self.target, self.target + 1)
