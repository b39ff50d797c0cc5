"""Our dropout is dropout: the share, the mean, the gradient, and draws without a pattern."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from torchspeed.models.tuned.dropout import dropout

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


@pytest.mark.parametrize(("p", "training"), [(0.5, False), (0.0, True)])
def test_nothing_happens_otherwise(p: float, training: bool) -> None:
    x = torch.rand(3)
    assert dropout(x, p, training) is x
