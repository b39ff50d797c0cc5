"""Made-up items of any shape, for timing where the values do not matter."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.utils.data import Dataset

from torchspeed.data.dataset import Data
from torchspeed.data.options import DataOptions


class DummyItems(Dataset[tuple[Tensor, Tensor | int]]):
    """Normally distributed inputs, each drawn anew when read, the same for the same index.

    Rank-3 shapes are images with a class; rank-2 shapes are windows with values to forecast.
    Drawing is the cost of loading, as in torchvision's ``FakeData``.
    """

    def __init__(
        self, items: int, options: DataOptions, shape: tuple[int, ...], seed: int
    ) -> None:
        self.items = items
        self.shape = shape
        self.classes = options.classes
        columns = shape[-1] if options.target == "all" else 1
        self.forecasts = (options.horizon, columns) if options.every_step else (columns,)
        self.seed = seed

    def __len__(self) -> int:
        return self.items

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor | int]:
        if not 0 <= index < self.items:
            raise IndexError(index)
        generator = torch.Generator().manual_seed(self.seed + index)
        item = torch.randn(self.shape, generator=generator)
        if len(self.shape) == 2:
            return item, torch.randn(self.forecasts, generator=generator)
        return item, int(torch.randint(self.classes, (), generator=generator))


def load_dummy(options: DataOptions) -> Data:
    """Return ``options.items`` items of ``options.shape``, (3, 224, 224) by default."""
    shape = options.shape or (3, 224, 224)
    items = options.items or 1000
    test_items = max(1, items // 5)
    is_image = len(shape) == 3
    target = None if is_image or options.target == "all" else 0
    # Test items follow the training ones, so that no seed is drawn twice.
    return Data(
        name="dummy",
        train=DummyItems(items, options, shape, options.seed),
        test=DummyItems(test_items, options, shape, options.seed + items),
        item_shape=shape,
        classes=options.classes if is_image else None,
        source="random numbers",
        target=target,
    )
