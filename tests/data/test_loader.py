"""Batches: each item where seed, epoch and rank say, and no slower than copying windows is."""

import time
from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import TensorDataset
from torch.utils.data.distributed import DistributedSampler

from torchspeed.data.loader import Batches
from torchspeed.data.series import Windows


@given(
    items=st.integers(1, 40),
    batch=st.integers(1, 12),
    world=st.integers(1, 5),
    epoch=st.integers(0, 3),
    seed=st.integers(0, 9),
    shuffle=st.booleans(),
)
def test_ranks_have_the_items_of_torchs_sampler_in_training_and_each_once_in_a_test(
    items: int, batch: int, world: int, epoch: int, seed: int, shuffle: bool
) -> None:
    dataset = TensorDataset(torch.arange(items))
    seen = []
    for rank in range(world):
        batches = Batches(dataset, batch, shuffle=shuffle, seed=seed, rank=rank, world=world)
        list(batches.epoch(7))  # an earlier epoch does not matter
        made = [part.tolist() for [part] in batches.epoch(epoch)]
        assert len(made) == len(batches)
        assert all(len(part) == batch for part in made[:-1])
        seen.append(list(chain.from_iterable(made)))
        sampler: Any = DistributedSampler(dataset, world, rank, shuffle=True, seed=seed)
        sampler.set_epoch(epoch)
        assert not shuffle or seen[-1] == list(sampler)
    assert shuffle or sorted(chain.from_iterable(seen)) == list(range(items))


@pytest.mark.parametrize("target", [None, 1])
@pytest.mark.parametrize("every_step", [False, True])
@pytest.mark.parametrize("workers", [0, 2])
def test_a_batch_of_windows_is_its_items(
    target: int | None, every_step: bool, workers: int
) -> None:
    windows = Windows(torch.randn(50, 3), 6, 4, target, range(5, 44), every_step=every_step)
    batches = Batches(windows, 8, shuffle=False, workers=workers).epoch(0)
    inputs, targets = (torch.cat(parts) for parts in zip(*batches, strict=True))
    for index in range(len(windows)):
        label = windows.labels[index]
        assert torch.equal(inputs[index], windows.values[label - 9 : label - 3])
        rows = windows.values[label - 3 : label + 1, windows.columns]
        assert torch.equal(targets[index], rows if every_step else rows[-1])
        assert torch.equal(windows[index][1], targets[index])
    first = windows.labels[0] - (3 if every_step else 0)
    assert first == 9 if not every_step else first >= 5


@pytest.mark.parametrize(("rows", "features", "window"), [(7588, 8, 10), (20_000, 7, 96)])
def test_windows_load_within_twice_the_time_of_numpys_copies(
    rows: int, features: int, window: int
) -> None:
    torch.set_num_threads(1)
    values = torch.randn(rows, features)
    view = np.lib.stride_tricks.sliding_window_view(values.numpy(), window, axis=0)
    view = view[:-3].swapaxes(1, 2)
    labels = values.numpy()[window + 2 :]
    batches = Batches(Windows(values, window, 3, None), 64)

    def copy() -> None:
        order = np.random.permutation(len(view))
        for first in range(0, len(order), 64):
            chosen = order[first : first + 64]
            _inputs, _targets = np.ascontiguousarray(view[chosen]), labels[chosen]

    def load() -> None:
        for _inputs, _targets in batches.epoch(0):
            pass

    def seconds(run: Callable[[], None]) -> float:
        began = time.process_time()
        run()
        return time.process_time() - began

    rounds = [(seconds(copy), seconds(load)) for _ in range(15)]
    copied, loaded = map(min, zip(*rounds, strict=True))
    assert loaded < 2 * copied
