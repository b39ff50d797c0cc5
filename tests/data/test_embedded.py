from typing import Any

import pytest
import torch
from sklearn import datasets

from torchspeed.data.catalogue import DataOptions
from torchspeed.data.load import load_data
from torchspeed.data.loader import Batches


def test_digits_are_scikit_learns() -> None:
    data: Any = load_data("digits")
    assert (len(data.train), len(data.test), data.item_shape) == (1437, 360, (1, 8, 8))
    image, label = data.test[-1 + len(data.test)]
    reference = datasets.load_digits()
    assert torch.allclose(image[0] * 16, torch.tensor(reference.images[-1], dtype=torch.float32))
    assert label == reference.target[-1]


def test_dummy_of_any_shape() -> None:
    images: Any = load_data("dummy", DataOptions(shape=(2, 5, 7), classes=3, items=50))
    assert images.train[0][0].shape == (2, 5, 7)
    assert {label for _, label in images.train} == {0, 1, 2}
    windows: Any = load_data("dummy", DataOptions(shape=(9, 4)))
    assert windows.classes is None
    assert windows.train[0][1].shape == (1,)
    assert torch.equal(images.train[7][0], images.train[7][0])
    assert not torch.equal(images.train[0][0], images.test[0][0])


def orders(seed: int, epochs: list[int]) -> list[list[int]]:
    data = list(range(40))
    batches = Batches(data, 8, seed=seed)  # type: ignore[arg-type]
    return [[int(x) for batch in batches.epoch(n) for x in batch] for n in epochs]


def test_order_depends_on_seed_and_epoch_alone() -> None:
    assert orders(0, [0, 1, 2])[2] == orders(0, [2])[0]
    assert orders(0, [0]) != orders(0, [1])
    assert orders(0, [0]) != orders(1, [0])


@pytest.mark.parametrize("shuffle", [True, False])
def test_ranks_share_the_items(shuffle: bool) -> None:
    data = list(range(10))
    parts = [
        [
            int(x)
            for batch in Batches(data, 3, shuffle=shuffle, rank=rank, world=2).epoch(0)  # type: ignore[arg-type]
            for x in batch
        ]
        for rank in range(2)
    ]
    assert sorted(parts[0] + parts[1]) == data
