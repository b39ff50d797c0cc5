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
from torchspeed.models.gcn import random_graph
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
@settings(max_examples=50)
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
    assert operation.flops == 2 * convolve().numel() * filters[0].numel()
    assert not operation.products


def test_a_transformer_has_the_same_products_whether_torch_infers_in_one_operator_or_trains() -> (
    None
):
    model = torch.nn.Transformer(12, 2, 1, 1, 20, dropout=0.0, batch_first=True)
    source, target = torch.randn(2, 7, 12), torch.randn(2, 5, 12)
    with torch.no_grad():
        inferred = record(lambda: model.eval()(source, target))
    trained = record(lambda: model.train()(source, target))
    names = {operation.name for operation in inferred}
    assert {"aten::_transformer_encoder_layer_fwd", "aten::_native_multi_head_attention"} <= names
    assert sum(o.flops for o in inferred) == sum(o.flops for o in trained)


def test_a_sparse_matrix_multiplies_its_values_alone() -> None:
    graph = random_graph(50, 120)  # 290 values
    x = torch.randn(50, 6, requires_grad=True)
    forward = record(lambda: torch.sparse.mm(graph, x))
    assert sum(o.flops for o in forward) == 2 * 290 * 6
    both = record(lambda: torch.sparse.mm(graph, x).sum().backward())
    assert sum(o.flops for o in both) == 2 * 2 * 290 * 6


def test_an_lstm_multiplies_its_state_with_the_gates_step_by_step() -> None:
    lstm, x = LSTM(6, 5, 2), torch.randn(9, 4, 6)
    with torch.no_grad():
        operations = record(lambda: lstm(x))
    products = [item for operation in operations for item in operation.products.items()]
    assert (Product(1, 4, 5, 20), 9) in products
