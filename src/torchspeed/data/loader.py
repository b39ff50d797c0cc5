"""Batches in an order that a seed decides, loaded by this process or by torch's DataLoader."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import DataLoader, Dataset, Sampler, default_collate

from torchspeed.data.series import Windows
from torchspeed.errors import TorchspeedError

Indices = NDArray[np.int64]


class Batches:
    """Batches of a data set, in an order that seed and epoch alone decide.

    So a run that is resumed at epoch *n* sees the batches that it would have seen.
    Worker processes live from the first epoch to the last.

    With ``workers`` 0 this process loads the batches. Windows over a series are always
    loaded so: the series is in memory, and a worker would only copy each batch once more.
    ``rank`` of ``world`` processes gets its own part of the items; ``pin_memory`` makes
    page-locked batches, for copies to a GPU.
    """

    def __init__(
        self,
        dataset: Dataset[Any],
        batch_size: int,
        *,
        workers: int = 0,
        shuffle: bool = True,
        seed: int = 0,
        rank: int = 0,
        world: int = 1,
        pin_memory: bool = False,
    ) -> None:
        self._seed = seed
        self._order = _Order(len(dataset), batch_size, seed if shuffle else None, rank, world)  # type: ignore[arg-type]
        batches = _BatchDataset(dataset)
        self._make = dataset.batch if isinstance(dataset, Windows) else batches.__getitem__
        self._pin_memory = pin_memory
        self._worker_seeds = torch.Generator()
        self._loader: DataLoader[Any] | None = None
        if workers and not isinstance(dataset, Windows):
            self._loader = DataLoader(
                batches,
                batch_size=None,  # an item of `_BatchDataset` is a batch
                sampler=self._order,
                num_workers=workers,
                generator=self._worker_seeds,
                persistent_workers=True,
                pin_memory=pin_memory,
                collate_fn=_unchanged,
            )

    def __len__(self) -> int:
        return len(self._order)

    def epoch(self, number: int) -> Iterator[Any]:
        """Return the batches of epoch ``number``, each a pair of inputs and targets."""
        self._order.epoch = number
        if self._loader is not None:
            self._worker_seeds.manual_seed(self._seed + number)
            yield from self._loader
            return
        made = map(self._make, self._order)
        yield from map(_page_locked, made) if self._pin_memory else made


class _Order(Sampler[Indices]):
    """Indices of the items of each batch of one rank.

    With a ``seed`` they are shuffled anew in each epoch, and some items are repeated so that all
    ranks have as many; without one they are in order, and each item is there once.
    """

    def __init__(
        self, items: int, batch_size: int, seed: int | None, rank: int, world: int
    ) -> None:
        self.epoch = 0
        self._items, self._batch_size, self._seed = items, batch_size, seed
        self._rank, self._world = rank, world

    def _indices(self) -> Indices:
        if self._seed is None:
            return np.arange(self._rank, self._items, self._world)
        generator = torch.Generator().manual_seed(self._seed + self.epoch)
        order = torch.randperm(self._items, generator=generator).numpy()
        equal_parts = math.ceil(self._items / self._world)
        return np.resize(order, equal_parts * self._world)[self._rank :: self._world]

    def __len__(self) -> int:
        return math.ceil(len(self._indices()) / self._batch_size)

    def __iter__(self) -> Iterator[Indices]:
        order = self._indices()
        for first in range(0, len(order), self._batch_size):
            yield order[first : first + self._batch_size]


class _BatchDataset(Dataset[Any]):
    """A data set whose items are batches: the items at some indices of another data set."""

    def __init__(self, dataset: Dataset[Any]) -> None:
        self._dataset = dataset

    def __getitem__(self, indices: Indices) -> Any:
        return default_collate([self._dataset[index] for index in indices.tolist()])


def _unchanged(batch: Any) -> Any:
    return batch


def _page_locked(batch: Any) -> Any:
    return [part.pin_memory() for part in batch]


@contextmanager
def naming_worker_errors() -> Iterator[None]:
    """Report in one line a loading worker that died, or the file that it could not read.

    torch raises the former from a signal handler, so any line can raise it while workers live.
    The message of the latter is a whole traceback.

    Raises:
        TorchspeedError: a worker died, or could not read a file.
    """
    try:
        yield
    except TorchspeedError as error:
        raise TorchspeedError(str(error).rsplit("TorchspeedError: ", 1)[-1].strip()) from None
    except RuntimeError as error:
        if "DataLoader worker" not in str(error):
            raise
        raise TorchspeedError(
            f"a data-loading worker died ({str(error).splitlines()[0]}); use fewer --workers "
            "or a smaller --batch-size, or give it more memory"
        ) from None
