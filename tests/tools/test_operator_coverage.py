"""What operators take, and which of them are measured."""

from __future__ import annotations

import torch

from tools.operator_coverage import operators_of, training_step


def test_operators_in_place_and_views_are_not_told_apart_from_what_they_compute() -> None:
    x = torch.ones(4, 4)
    seconds = operators_of(lambda: [x.relu_(), x.view(16).relu(), torch.cat((x, x))])
    assert set(seconds) == {"relu", "cat"}
    assert all(value >= 0 for value in seconds.values())


def test_a_step_of_training_has_the_gradients_and_the_optimisers_operators() -> None:
    step = training_step("lenet5")
    names = {name for _ in range(2) for name in operators_of(step)}
    assert {"convolution", "convolution_backward", "max_pool2d_with_indices", "mul"} <= names
