"""The operators of a call are counted by name, each with its own time."""

from __future__ import annotations

import torch

from tools.operator_coverage import operator_seconds, training_step


def test_an_operator_in_place_is_the_same_operator_and_a_step_has_those_of_the_optimiser() -> None:
    x = torch.ones(4, 4)
    seconds = operator_seconds(lambda: [x.relu_(), x.relu(), torch.cat((x, x))])
    assert {"clamp_min", "cat"} <= set(seconds)
    assert not any(name.endswith("_") for name in seconds)
    step = training_step("lenet5")
    names = {name for _ in range(2) for name in operator_seconds(step)}
    assert {"convolution_backward", "max_pool2d_with_indices", "mul", "add"} <= names
