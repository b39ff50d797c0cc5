"""Attention in heads of few numbers is the paper's, in parts of a batch and compiled too."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from torchspeed.models.tuned.attention import attend, attention_weights

Attend = Callable[[Tensor, Tensor, Tensor, Callable[[Tensor], Tensor]], Tensor]


def _keep(x: Tensor) -> Tensor:
    return x


def _compiled() -> Attend:
    torch._dynamo.reset()
    compiled: Attend = torch.compile(attend, fullgraph=True, backend="aot_eager")
    return compiled


either_way = pytest.mark.parametrize(
    "make", [lambda: attend, _compiled], ids=["eager", "compiled"]
)


def _size_last(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2)


@either_way
@settings(max_examples=15)
@given(
    batch=st.integers(1, 8),
    size=st.integers(1, 10),
    positions=st.sampled_from([1, 5, 300, 400, 800]),  # the last three in parts of a batch
    scale=st.sampled_from([1.0, 100.0]),
    seed=st.integers(0, 2**16),
)
def test_values_and_gradients_are_those_of_scaled_dot_product_attention(
    make: Callable[[], Attend], batch: int, size: int, positions: int, scale: float, seed: int
) -> None:
    generator = torch.Generator().manual_seed(seed)

    def draw() -> Tensor:
        return torch.randn(batch, size, positions, generator=generator, dtype=torch.float64)

    query, key, value = ((draw() * scale).requires_grad_() for _ in range(3))
    fused = scaled_dot_product_attention(*_size_last(query, key, value)).transpose(1, 2)
    objective = draw()
    expected = torch.autograd.grad((fused * objective).sum(), [query, key, value])
    mixed = make()(query, key, value, _keep)
    torch.testing.assert_close(mixed, fused)
    gradients = torch.autograd.grad((mixed * objective).sum(), [query, key, value])
    torch.testing.assert_close(gradients, expected)
    weights = attention_weights(query, key)
    torch.testing.assert_close(value @ weights, fused)
    torch.testing.assert_close(weights.sum(1), torch.ones_like(weights[:, 0]))


@either_way
@pytest.mark.parametrize("size", [2, 9])
def test_dropped_weights_mix_nothing_and_the_others_are_not_normalised_again(
    make: Callable[[], Attend], size: int
) -> None:
    torch.manual_seed(0)
    query, key, value = (torch.randn(3, size, 5) for _ in range(3))
    factors = torch.tensor([0.0, 2.0, 2.0, 0.0, 2.0]).view(1, 5, 1)  # of five keys two are dropped

    def drop(x: Tensor) -> Tensor:
        return x * factors

    mixed = make()(query, key, value, drop)
    torch.testing.assert_close(mixed, value @ (attention_weights(query, key) * factors))
