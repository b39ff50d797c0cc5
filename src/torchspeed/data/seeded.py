"""Random changes of items that do not depend on who loads them.

Transforms draw from torch's generator. Its state differs from worker to worker and after a
resumption, so each item is read with a state that seed, epoch and index alone decide.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.data import Dataset


class Seeded(Dataset[Any]):
    """Items whose transform is random, the same for the same seed, epoch and index.

    Args:
        items: with the random transform.
        seed: of the run.
    """

    def __init__(self, items: Dataset[Any], seed: int) -> None:
        self._items = items
        self._seed = seed
        # Shared, because workers that live from epoch to epoch have a copy of this object.
        self._epoch = torch.zeros((), dtype=torch.int64).share_memory_()

    def set_epoch(self, number: int) -> None:
        """Change what is drawn, for workers too."""
        self._epoch.fill_(number)

    def __len__(self) -> int:
        return len(self._items)  # type: ignore[arg-type]

    def __getitem__(self, index: int) -> Any:
        drawn = hash((self._seed, int(self._epoch), index))
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(drawn)
            return self._items[index]
