"""The table of workloads: every one runs, trains and is what its source says."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from torchspeed.models import list_models
from torchspeed.workloads import get_workload, list_workloads

QUICK = [*list_workloads("time_series"), *list_workloads("flux_literal")]
QUICK += list_workloads("forecaster")
QUICK += [*list_workloads("flux_training"), *list_workloads("small_cnn")]


def test_every_model_has_a_workload_and_every_workload_a_model() -> None:
    assert {get_workload(name).model for name in list_workloads()} == set(list_models())


SIZES = {
    "darnn": (300, 10, 10),
    "dsanet": (1000, 10, 50),
    "lstnet": (500, 10, 20),
    "tpa_lstm": (300, 10, 10),
    "patchtst": (32, 96, 7),
    "lstnet_solar_literal": (500, 10, 137),
    "flux_cnn": (1000, 3, 32, 32),
    "lenet5": (128, 1, 28, 28),
    "vgg19": (5, 3, 224, 224),
    "yolov3": (1, 3, 608, 608),
    "transformer_encoder": (32, 100, 512),
    "gcn_16": (8, 2708, 1433),
}


def test_inputs_have_the_published_sizes() -> None:
    shapes = {name: tuple(get_workload(name).example_inputs().shape) for name in SIZES}
    assert shapes == SIZES


PARAMETERS: dict[str, dict[str, tuple[int, ...]]] = {
    "darnn_solar": {"encoder_lstm.weight_hh": (40, 10), "decoder_lstm.weight_hh": (40, 10)},
    "lstnet_solar": {"convolution.weight": (2, 137, 6), "gru.weight_hh": (9, 3)},
    "tpa_lstm_solar": {"patterns.weight": (32, 1, 9, 1), "lstm.weight_hh_l1": (40, 10)},
    "lstnet_solar_literal": {"convolution.weight": (2, 10 * 137)},
    "tpa_lstm_solar_literal": {"convolution.weight": (32, 1, 9, 1)},
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_fluxs_trainings_have_the_sizes_of_their_source(name: str) -> None:
    parameters, sizes = (
        dict(get_workload(name).create_model().named_parameters()),
        PARAMETERS[name],
    )
    assert {key: tuple(parameters[key].shape) for key in sizes} == sizes


@pytest.mark.parametrize("name", QUICK)
def test_one_training_step_has_every_gradient_and_lowers_the_loss(name: str) -> None:
    workload = get_workload(name)
    model = workload.create_model().eval()  # dropout would draw two different losses
    inputs, targets = workload.example_inputs(8), workload.example_targets(8)
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(2):
        optimiser.zero_grad()
        output = model(inputs)
        assert output.dtype == torch.float32
        assert workload.classifies or output.shape == targets.shape
        loss = workload.loss(output, targets)
        assert loss.shape == ()
        loss.backward()
        for key, parameter in model.named_parameters():
            # In evaluation DeepAR forecasts by means alone.
            if parameter.requires_grad and not key.startswith("deviation."):
                assert parameter.grad is not None, key
                assert parameter.grad.isfinite().all(), key
        optimiser.step()
        losses.append(loss.item())
    assert losses[1] < losses[0]


@given(name=st.sampled_from(QUICK), batch=st.integers(1, 9), seed=st.integers(0, 2**31))
@settings(max_examples=30)
def test_same_seed_same_inputs_and_any_batch(name: str, batch: int, seed: int) -> None:
    workload = get_workload(name)
    first, second = (workload.example_inputs(batch, seed=seed) for _ in range(2))
    assert first.shape == (batch, *workload.input_shape)
    assert torch.equal(first, second)
    assert not torch.equal(first, workload.example_inputs(batch, seed=seed + 1))


def test_same_seed_same_model_and_the_callers_random_numbers_are_left_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    models = [get_workload("darnn").create_model(seed) for seed in (0, 0, 1)]
    assert torch.equal(torch.rand(3), expected)
    first, same, other = (torch.cat([p.flatten() for p in model.parameters()]) for model in models)
    assert torch.equal(first, same)
    assert not torch.equal(first, other)


def test_unknown_workload_offers_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"no workload 'resnet1'.*resnet18"):
        get_workload("resnet1")
    with pytest.raises(ValueError, match=r"no family 'cnn'.*small_cnn"):
        list_workloads("cnn")


def test_bad_batch_and_device_are_named() -> None:
    workload = get_workload("darnn")
    with pytest.raises(ValueError, match=r"batch_size is 0.*at least 1"):
        workload.example_inputs(0)
    with pytest.raises(ValueError, match="device is 'tpu'; it must be 'cpu', 'cuda'"):
        workload.example_inputs(device="tpu")


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a CUDA device")
def test_absent_device_is_named_with_the_remedy() -> None:
    with pytest.raises(ValueError, match=r"device 'cuda' is not on this machine.*use 'cpu'"):
        get_workload("darnn").example_inputs(device="cuda")
