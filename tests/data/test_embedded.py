from typing import Any

import torch
from sklearn import datasets

from torchspeed.data.load import load_data
from torchspeed.data.options import DataOptions


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
