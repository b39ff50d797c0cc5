"""The loader and both floors load the same windows."""

from __future__ import annotations

import pytest
import torch

from torchspeed.training.window_loading import WAYS, windows_per_second


@pytest.mark.parametrize("way", WAYS)
def test_an_epoch_has_every_window_once_with_what_follows_it(way: str) -> None:
    values = torch.arange(300 * 7, dtype=torch.float32).view(300, 7)
    epoch = WAYS[way](values)
    starts, orders = [], []
    for number in (0, 1):
        order = []
        for inputs, targets in epoch(number):
            assert inputs.shape[1:] == targets.shape[1:] == (96, 7)
            for window, future in zip(inputs, targets, strict=True):
                start = int(window[0, 0]) // 7
                assert torch.equal(torch.cat((window, future)), values[start : start + 192])
                order.append(start)
        starts.append(sorted(order))
        orders.append(order)
    assert starts == [list(range(300 - 192 + 1))] * 2
    assert orders[0] != orders[1], "not shuffled anew"


def test_a_rate_is_of_a_known_way() -> None:
    assert windows_per_second("numpy", rows=500) > 0
    with pytest.raises(
        ValueError, match="way is 'pandas'; it must be one of loader, numpy, torch"
    ):
        windows_per_second("pandas")
