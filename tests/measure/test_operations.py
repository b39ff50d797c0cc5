"""Operators are recorded with the products and the bytes that one would write down by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from torchspeed.measure.operations import Operation, Product, record
from torchspeed.measure.work import CountablePasses, count
from torchspeed.models.lstm import LSTM


def recorded(run: Callable[[], object]) -> Operation:
    (operation,) = record(run)
    return operation


def test_a_dense_layer_is_a_product_and_moves_each_of_its_matrices_once() -> None:
    layer, x = nn.Linear(7, 3).requires_grad_(False), torch.randn(5, 7)
    moved = 4 * (5 * 7 + 7 * 3 + 3 + 5 * 3)
    assert recorded(lambda: layer(x)) == Operation(
        "aten::addmm", {Product(1, 5, 7, 3): 1}, 0, moved
    )


def test_a_batch_of_products() -> None:
    left, right = torch.randn(4, 5, 6), torch.randn(4, 6, 7)
    operation = recorded(lambda: torch.bmm(left, right))
    assert operation.products == {Product(4, 5, 6, 7): 1}
    assert operation.other_flops == 0


@pytest.mark.parametrize(
    ("run", "numbers"),
    [
        (lambda x: x + 1, 12 + 12),
        (lambda x: x * x, 12 + 12),
        (lambda x: x.add_(1), 12),
        (lambda x: x + x[:1], 12 + 4 + 12),
        (lambda x: x + x[:1].expand(3, 4), 12 + 4 + 12),
        (lambda x: torch.cat((x, x[:1])), 12 + 4 + 16),
        (lambda x: torch.empty(100), 0),
        (lambda x: torch.ops.aten._unsafe_view(x, [12]), 0),
    ],
)
def test_different_tensors_are_moved_once(run: Callable[[Tensor], object], numbers: int) -> None:
    x = torch.randn(3, 4)
    assert recorded(lambda: run(x)).moved_bytes == 4 * numbers


def test_views_are_no_operators() -> None:
    x = torch.randn(3, 4)
    assert record(lambda: x.view(12)[1:].unsqueeze(0)) == []


@given(
    size=st.integers(1, 9),
    kernel=st.integers(1, 4),
    stride=st.integers(1, 3),
    padding=st.integers(0, 3),
    dilation=st.integers(1, 2),
)
@settings(deadline=None, max_examples=50)
def test_multiply_adds_of_a_convolution_with_padding_are_not_counted(
    size: int, kernel: int, stride: int, padding: int, dilation: int
) -> None:
    if size + 2 * padding < dilation * (kernel - 1) + 1:
        return  # the filter is larger than what it slides over
    images, filters = torch.ones(2, 3, size, size + 1), torch.ones(5, 3, kernel, 1)

    def convolve() -> Tensor:
        return F.conv2d(images, filters, None, stride, (padding, 0), dilation)

    # Of ones, each multiply-add inside the image adds 1 to the result.
    operation = recorded(convolve)
    assert operation.other_flops == 2 * int(convolve().sum())
    assert not operation.products


@pytest.mark.parametrize("layers", [1, 2])
def test_the_products_of_an_lstm_have_all_of_its_flops(layers: int) -> None:
    lstm, x = LSTM(6, 5, layers), torch.randn(9, 4, 6, requires_grad=True)

    def backward() -> object:
        return torch.autograd.grad(lstm(x).sum(), [x, *lstm.parameters()])

    operations = record(backward)
    products = [(p, times) for operation in operations for p, times in operation.products.items()]
    assert sum(p.flops * times for p, times in products) == count(backward).flops
    assert sum(operation.other_flops for operation in operations) == 0
    assert (Product(1, 4, 5, 20), 9) in products  # of the state with the gates, step by step


@pytest.mark.parametrize("workload", ["lstnet", "lenet5"])
def test_a_workload_has_the_flops_and_dispatches_that_are_tracked(workload: str) -> None:
    passes = CountablePasses(workload, 3)
    for run in (passes.forward, passes.backward):
        work, operations = count(run), record(run)
        products = [p.flops * n for o in operations for p, n in o.products.items()]
        assert sum(products) + sum(o.other_flops for o in operations) == work.flops
        assert len(operations) == work.dispatches
