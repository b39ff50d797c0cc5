"""Parts of tuned models compute what torch's own do: attention, dropout and pooling."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from torch import Tensor
from torch.nn.functional import max_pool2d, scaled_dot_product_attention

from torchspeed.models.tuned.dsanet import attend, attention_weights, dropout
from torchspeed.models.tuned.pooling import relu_max_pool


@settings(max_examples=15)
@given(
    batch=st.integers(1, 8),
    size=st.integers(1, 10),
    positions=st.sampled_from([1, 5, 300, 400, 800]),  # the last three in parts of a batch
    scale=st.sampled_from([1.0, 100.0]),
    seed=st.integers(0, 2**16),
)
def test_values_and_gradients_are_those_of_scaled_dot_product_attention(
    batch: int, size: int, positions: int, scale: float, seed: int
) -> None:
    generator = torch.Generator().manual_seed(seed)

    def draw() -> Tensor:
        return torch.randn(batch, size, positions, generator=generator, dtype=torch.float64)

    query, key, value = ((draw() * scale).requires_grad_() for _ in range(3))
    fused = scaled_dot_product_attention(query.mT, key.mT, value.mT).mT  # torch has the size last
    objective = draw()
    expected = torch.autograd.grad((fused * objective).sum(), [query, key, value])
    mixed = attend(query, key, value, lambda weights: weights)
    torch.testing.assert_close(mixed, fused)
    gradients = torch.autograd.grad((mixed * objective).sum(), [query, key, value])
    torch.testing.assert_close(gradients, expected)
    weights = attention_weights(query, key)
    torch.testing.assert_close(value @ weights, fused)
    torch.testing.assert_close(weights.sum(1), torch.ones_like(weights[:, 0]))


@pytest.mark.parametrize("size", [2, 9])
def test_dropped_weights_mix_nothing_and_the_others_are_not_normalised_again(size: int) -> None:
    torch.manual_seed(0)
    query, key, value = (torch.randn(3, size, 5) for _ in range(3))
    factors = torch.tensor([0.0, 2.0, 2.0, 0.0, 2.0]).view(1, 5, 1)  # of five keys two are dropped

    def drop(x: Tensor) -> Tensor:
        return x * factors

    mixed = attend(query, key, value, drop)
    torch.testing.assert_close(mixed, value @ (attention_weights(query, key) * factors))


N = 400_000


def gone(p: float, seed: int = 0) -> torch.Tensor:
    torch.manual_seed(seed)
    return dropout(torch.ones(N), p, training=True) == 0


@pytest.mark.parametrize("p", [0.001, 0.25, 0.9])
def test_each_number_goes_with_probability_p(p: float) -> None:
    zeros = int(gone(p).sum())
    assert stats.binomtest(zeros, N, p).pvalue > 1e-4


@pytest.mark.parametrize("distance", [1, 3, 4])
def test_neighbours_that_share_a_draw_go_independently(distance: int) -> None:
    first = gone(0.3)
    both = int((first[:-distance] & first[distance:]).sum())
    assert stats.binomtest(both, N - distance, 0.09).pvalue > 1e-4


@given(
    shape=st.lists(st.integers(0, 7), max_size=3),
    p=st.floats(0, 1, exclude_max=True),
    dtype=st.sampled_from([torch.float32, torch.float64, torch.bfloat16]),
)
def test_what_stays_is_scaled_by_one_factor_and_has_its_gradient(
    shape: tuple[int, ...], p: float, dtype: torch.dtype
) -> None:
    x = (torch.rand(shape, dtype=dtype) + 1).requires_grad_()
    out = dropout(x, p, training=True)
    assert out.shape == x.shape
    assert out.dtype == dtype
    (gradient,) = torch.autograd.grad(out.sum(), x)
    torch.testing.assert_close(out, x * gradient)
    assert gradient.unique().numel() <= 2
    factors = gradient[gradient != 0]
    if 0.001 < p < 0.999:
        torch.testing.assert_close(
            factors, torch.full_like(factors, 1 / (1 - p)), rtol=0.02, atol=0
        )


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
