"""Loaders: an order that the generator's seed decides, and windows in whole batches."""

import pytest
import torch
from torch.utils.data import TensorDataset

from torchspeed.data.load import make_loader
from torchspeed.data.series import Windows


@pytest.mark.parametrize("workers", [0, 2])
def test_the_seed_alone_decides_the_order_of_an_epoch(workers: int) -> None:
    loader = make_loader(TensorDataset(torch.arange(40)), 6, workers=workers)

    def order() -> list[int]:
        return [int(item) for [batch] in loader for item in batch]

    loader.generator.manual_seed(4)
    first = order()
    loader.generator.manual_seed(3)
    other = order()
    loader.generator.manual_seed(4)
    assert order() == first != other
    assert sorted(first) == list(range(40))


def test_a_sampler_gives_the_order() -> None:
    loader = make_loader(TensorDataset(torch.arange(9)), 2, sampler=range(1, 9, 3))
    assert [batch.tolist() for [batch] in loader] == [[1, 4], [7]]


@pytest.mark.parametrize("target", [None, 1])
@pytest.mark.parametrize("every_step", [False, True])
@pytest.mark.parametrize("workers", [0, 2])
def test_a_batch_of_windows_is_its_items(
    target: int | None, every_step: bool, workers: int
) -> None:
    windows = Windows(torch.randn(50, 3), 6, 4, target, range(5, 44), every_step=every_step)
    batches = make_loader(windows, 8, sampler=range(len(windows)), workers=workers)
    inputs, targets = (torch.cat(parts) for parts in zip(*batches, strict=True))
    for index in range(len(windows)):
        label = windows.labels[index]
        assert torch.equal(inputs[index], windows.values[label - 9 : label - 3])
        rows = windows.values[label - 3 : label + 1, windows.columns]
        assert torch.equal(targets[index], rows if every_step else rows[-1])
        assert torch.equal(windows[index][1], targets[index])
    first = windows.labels[0] - (3 if every_step else 0)
    assert first == 9 if not every_step else first >= 5
