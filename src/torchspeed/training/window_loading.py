"""Measures the windows of a series loaded per second, by this project and by a bare copy."""

import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.lib.stride_tricks import sliding_window_view
from torch import Tensor

from torchspeed.data.load import make_loader
from torchspeed.data.series import Windows

ROWS, FEATURES, WINDOW, HORIZON, BATCH = 100_000, 7, 96, 96, 32
"""Sizes of the loaded series and of its batches; today's forecasters have such batches."""

ROUNDS = 5
"""Epochs that are timed, after one that is not."""

Batches = Iterator[tuple[Tensor, Tensor]]
"""Shuffled batches of windows and of the values that follow."""


def by_loader(values: Tensor, epoch: int) -> Batches:
    """Load as training does."""
    loader = make_loader(Windows(values, WINDOW, HORIZON, None, every_step=True), BATCH)
    loader.generator.manual_seed(epoch)
    return iter(loader)


def by_numpy(values: Tensor, epoch: int) -> Batches:
    """Copy windows out of ``numpy.lib.stride_tricks.sliding_window_view``."""
    views = sliding_window_view(values.numpy(), WINDOW + HORIZON, axis=0)
    order = np.random.default_rng(epoch).permutation(len(views))
    for first in range(0, len(order), BATCH):
        both = torch.from_numpy(views[order[first : first + BATCH]]).transpose(1, 2)
        yield both[:, :WINDOW], both[:, WINDOW:]


def by_torch(values: Tensor, epoch: int) -> Batches:
    """Copy windows out of ``torch.Tensor.unfold``."""
    views = values.unfold(0, WINDOW + HORIZON, 1)
    generator = torch.Generator().manual_seed(epoch)
    for indices in torch.randperm(len(views), generator=generator).split(BATCH):
        both = views[indices].transpose(1, 2)
        yield both[:, :WINDOW], both[:, WINDOW:]


WAYS: dict[str, Callable[[Tensor, int], Batches]] = {
    "loader": by_loader,
    "numpy": by_numpy,
    "torch": by_torch,
}
"""This project's loader, and a bare copy in each library."""


def windows_per_second(way: str, rows: int = ROWS) -> float:
    """Return the windows loaded per second of wall time, as the median of the rounds.

    The series has normal random numbers.
    """
    values = torch.randn(rows, FEATURES, generator=torch.Generator().manual_seed(0))
    rates = []
    for epoch in range(ROUNDS + 1):
        begun = time.perf_counter()
        windows = sum(len(inputs) for inputs, _ in WAYS[way](values, epoch))
        rates.append(windows / (time.perf_counter() - begun))
    return statistics.median(rates[1:])
