"""Batches: torch's DataLoader with every source of randomness tied to a seed and an epoch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset, Subset
from torch.utils.data.distributed import DistributedSampler

from torchspeed.errors import TorchspeedError


class Batches:
    """Batches of a data set, in an order that seed and epoch alone decide.

    So a run that is taken up again at epoch *n* sees what it would have seen.
    Worker processes live from the first epoch to the last.

    ``workers`` 0 loads in this process; ``rank`` of ``world`` takes its own part of the items;
    ``pin_memory`` makes page-locked batches, for copies to a GPU.
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
        self.seed = seed
        self._generator = torch.Generator()
        self._sampler: DistributedSampler[Any] | None = None
        if shuffle:
            self._sampler = DistributedSampler(
                dataset, num_replicas=world, rank=rank, shuffle=True, seed=seed
            )
        elif world > 1:
            # Not the sampler: it repeats items to even out the ranks, and a test
            # must count each once.
            dataset = Subset(dataset, range(rank, len(dataset), world))  # type: ignore[arg-type]
        self._loader: DataLoader[Any] = DataLoader(
            dataset,
            batch_size=batch_size,
            sampler=self._sampler,
            num_workers=workers,
            generator=self._generator,
            persistent_workers=workers > 0,
            pin_memory=pin_memory,
        )

    def __len__(self) -> int:
        return len(self._loader)

    def epoch(self, number: int) -> Iterator[Any]:
        """Return the batches of epoch ``number``."""
        if self._sampler is not None:
            self._sampler.set_epoch(number)
        self._generator.manual_seed(self.seed + number)
        yield from self._loader


@contextmanager
def naming_worker_errors() -> Iterator[None]:
    """Say in one line that a loading worker died, or what it could not read.

    torch raises the first from a signal handler, so it can come out of any line while workers
    live. Of the second it hands on the whole traceback as the message.
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
