"""What operators take, and which of them are measured."""

from __future__ import annotations

import pytest
import torch

from tools import operator_coverage
from tools.operator_coverage import operators_of, report, training_step
from torchspeed.errors import TorchspeedError


def test_operators_in_place_and_views_are_not_told_apart_from_what_they_compute() -> None:
    x = torch.ones(4, 4)
    seconds = operators_of(lambda: [x.relu_(), x.view(16).relu(), torch.cat((x, x))])
    assert set(seconds) == {"relu", "cat"}
    assert all(value >= 0 for value in seconds.values())


def test_a_step_of_training_has_the_gradients_and_the_optimisers_operators() -> None:
    step = training_step("lenet5")
    names = {name for _ in range(2) for name in operators_of(step)}
    assert {"convolution", "convolution_backward", "max_pool2d_with_indices", "mul"} <= names


def test_what_nothing_measures_is_named_after_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = {"convolution": 0.6, "fractional_max_pool3d": 0.4}
    monkeypatch.setattr(operator_coverage, "shares", lambda _: shares)
    monkeypatch.setattr(operator_coverage, "of_plain_models", lambda: {"convolution": ["lenet5"]})
    monkeypatch.setattr(operator_coverage, "of_operator_suite", dict)
    lines = report()
    rows = [next(lines) for _ in range(4)][2:]
    assert rows == [
        "| `convolution` | 60.0 | `lenet5` |  |",
        "| `fractional_max_pool3d` | 40.0 |  |  |",
    ]
    with pytest.raises(TorchspeedError, match="nothing measures fractional_max_pool3d; add"):
        next(lines)
