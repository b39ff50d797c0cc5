"""Pooling by slices is torch's relu and max pooling, in every pass."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import max_pool2d

from torchspeed.models.tuned.pooling import relu_max_pool


@given(
    shape=st.tuples(*[st.integers(1, 3)] * 2, *[st.integers(2, 7)] * 2),
    last=st.booleans(),
    seed=st.integers(0, 100),
)
@settings(max_examples=40)
def test_it_is_the_largest_of_each_square_with_torchs_gradient(
    shape: tuple[int, int, int, int], last: bool, seed: int
) -> None:
    # Few different numbers: many squares have equal ones.
    x = torch.randint(-2, 3, shape, generator=torch.Generator().manual_seed(seed)).float()
    x = x.contiguous(memory_format=torch.channels_last) if last else x
    expected = max_pool2d(x.relu(), 2)
    assert torch.equal(relu_max_pool(x), expected)
    x.requires_grad_()
    gradients = [
        torch.autograd.grad(pool.sum(), x)[0]
        for pool in (relu_max_pool(x), max_pool2d(x.relu(), 2))
    ]
    assert torch.equal(*gradients)
    assert torch.equal(relu_max_pool(x), expected)


def test_what_is_not_a_number_stays_visible() -> None:
    x = torch.zeros(1, 1, 4, 4)
    x[0, 0, 1, 1] = torch.nan
    assert relu_max_pool(x).isnan().tolist() == [[[[True, False], [False, False]]]]
