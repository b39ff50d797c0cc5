"""Work is counted as one would by hand, and a pass is set beside the least time of its work."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from tests.gpu import needs_gpu
from torchspeed.measure import floor
from torchspeed.measure.floor import CONVOLUTION_FLOPS, PassWork, floor_of, floors_on
from torchspeed.measure.peak import Peak
from torchspeed.measure.utilisation import utilisation_of
from torchspeed.measure.work import Work, activation_bytes, count, work_of
from torchspeed.models.gcn import random_graph
from torchspeed.models.lstm import LSTM


def test_the_rate_is_a_products_arithmetic_over_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    peak = Peak("cpu", sizes=[256])

    def half_a_second(run: Callable[[], object], _clock: object) -> float:
        run()
        return 0.5

    monkeypatch.setattr("torchspeed.measure.peak.seconds_per_call", half_a_second)
    assert peak.measure() == 2 * 256**3 / 0.5
    torch.testing.assert_close(peak._out, peak._left @ peak._right)


@given(rates=st.dictionaries(st.sampled_from([8, 16, 24, 32]), st.floats(1e3, 1e12), min_size=1))
def test_the_fastest_size_is_kept(rates: dict[int, float]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Peak, "measure", lambda self: rates[self.size])
        peak = Peak("cpu", sizes=list(rates))
    assert rates[peak.size] == max(rates.values())
    assert peak._left.shape == (peak.size, peak.size)


def test_tensor_float_32_of_a_cpu_is_refused() -> None:
    with pytest.raises(ValueError, match="tf32 is for CUDA devices, not for 'cpu'"):
        Peak("cpu", tf32=True)


def test_a_real_pass_has_a_share_of_the_real_peak() -> None:
    measured = utilisation_of("lenet5", Peak("cpu", sizes=[256]), 16)
    for reached in (measured.forward, measured.backward):
        assert 0.001 < reached.share_of_peak < 1.2
        assert 1e7 < reached.flops_per_second < 1e13


def test_a_floor_is_flops_or_bytes_over_their_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    peak = Peak("cpu", sizes=[64])
    monkeypatch.setattr(peak, "measure", lambda: 1e9)
    monkeypatch.setattr(floor, "seconds_per_call", lambda *_: CONVOLUTION_FLOPS / 2e9)
    copied = 2**20
    bandwidth = copied / (CONVOLUTION_FLOPS / 2e9)
    works = [PassWork(int(4e12), copied), PassWork(1, copied)]
    assert floors_on(peak, works)() == pytest.approx([4e12 / 2e9, copied / bandwidth])
    monkeypatch.setattr(peak, "measure", lambda: 4e9)
    assert floors_on(peak, works)()[0] == pytest.approx(4e12 / 4e9)


def test_flops_of_the_convolution_are_those_that_torch_counts() -> None:
    images = torch.empty(floor.IMAGES, floor.CHANNELS, floor.SIZE, floor.SIZE, device="meta")
    filters = torch.empty(
        floor.CHANNELS, floor.CHANNELS, floor.FILTER, floor.FILTER, device="meta"
    )
    assert count(lambda: torch.conv2d(images, filters)).flops == CONVOLUTION_FLOPS


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=needs_gpu)])
def test_real_passes_take_longer_than_their_floors(device: str) -> None:
    peak = Peak(device, sizes=[128])
    measured = floor_of("lstnet", peak, batch=16)
    for against_floor in (measured.forward, measured.backward):
        assert against_floor.times_floor > 1
        assert 1e-8 < against_floor.floor_seconds < 1


def gradients(model: nn.Module, x: torch.Tensor) -> object:
    return torch.autograd.grad(model(x).sum(), [x, *model.parameters()])


@pytest.mark.parametrize("layers", [1, 2])
def test_the_gates_of_an_lstm(layers: int) -> None:
    lstm, x = LSTM(6, 5, layers), torch.randn(9, 4, 6, requires_grad=True)
    step = 2 * 4 * (4 * 5) * (6 + 5)  # batch x gates x (input and state)
    deeper = 2 * 4 * (4 * 5) * (5 + 5)
    forward = 9 * (step + (layers - 1) * deeper)
    with torch.no_grad():
        assert count(lambda: lstm(x)).flops == forward
    assert count(lambda: gradients(lstm, x)).flops == 3 * forward


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
