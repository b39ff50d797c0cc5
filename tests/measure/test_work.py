"""Work is counted as one would by hand."""

import pytest
import torch
from torch import nn

from torchspeed.measure.work import Work, activation_bytes, count, work_of
from torchspeed.models.gcn import random_graph
from torchspeed.models.lstm import LSTM


@pytest.mark.parametrize("layers", [1, 2])
def test_the_gates_of_an_lstm(layers: int) -> None:
    lstm, x = LSTM(6, 5, layers), torch.randn(9, 4, 6, requires_grad=True)
    step = 2 * 4 * (4 * 5) * (6 + 5)  # batch x gates x (input and state)
    deeper = 2 * 4 * (4 * 5) * (5 + 5)
    forward = 9 * (step + (layers - 1) * deeper)
    with torch.no_grad():
        assert count(lambda: lstm(x)).flops == forward
    trained = count(lambda: torch.autograd.grad(lstm(x).sum(), [x, *lstm.parameters()]))
    assert trained.flops == 3 * forward


def test_a_transformer_has_the_same_flops_in_inference_as_in_training() -> None:
    model = nn.Transformer(12, 2, 1, 1, 20, dropout=0.0, batch_first=True)
    source, target = torch.randn(2, 7, 12), torch.randn(2, 5, 12)
    with torch.no_grad():
        inferred = count(lambda: model.eval()(source, target))
    trained = count(lambda: model.train()(source, target))
    assert inferred.flops == trained.flops
    assert inferred.dispatches < trained.dispatches  # whole layers are one operator


def test_a_sparse_matrix_multiplies_its_values_alone() -> None:
    graph = random_graph(50, 120)  # 290 values
    x = torch.randn(50, 6, requires_grad=True)
    assert count(lambda: torch.sparse.mm(graph, x)).flops == 2 * 290 * 6
    assert count(lambda: torch.sparse.mm(graph, x).sum().backward()).flops == 2 * 2 * 290 * 6


def test_dispatches_are_operators_that_compute() -> None:
    x = torch.randn(4, 4)
    assert count(lambda: x.view(2, 8).t()[1:]) == Work(0, 0)
    assert count(lambda: [x.t() + 1, x.relu_()]) == Work(0, 2)


def test_activations_are_what_the_backward_pass_needs_each_once() -> None:
    x = torch.randn(10, 7, requires_grad=True)
    layer = nn.Linear(7, 3)
    known = [x, *layer.parameters()]
    # A linear map needs its input and its weights: nothing new is kept.
    assert activation_bytes(lambda: layer(x), known) == 0
    # A sigmoid keeps its result.
    assert activation_bytes(lambda: layer(x).sigmoid(), known) == 4 * 10 * 3
    # Kept by the sigmoid and by the product, one storage.
    assert activation_bytes(lambda: layer(x).sigmoid().square(), known) == 4 * 10 * 3


def test_flux_cnn_by_hand() -> None:
    convolutions = 28 * 28 * 16 * (3 * 25) + 10 * 10 * 8 * (16 * 25)
    dense = 200 * 120 + 120 * 84 + 84 * 10
    work = work_of("flux_cnn", 2)
    assert work.forward.flops == 2 * 2 * (convolutions + dense)
    assert work.backward.flops == 3 * work.forward.flops
