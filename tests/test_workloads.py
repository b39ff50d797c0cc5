"""The table of workloads: every one runs, trains and is what its source says."""

import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from torchspeed.models import list_models
from torchspeed.workloads import get_workload, list_workloads

QUICK = [*list_workloads("time_series"), *list_workloads("flux_literal")]
QUICK += list_workloads("forecaster")
QUICK += [*list_workloads("flux_training"), *list_workloads("small_cnn")]


def test_every_model_has_a_workload_and_every_workload_a_model() -> None:
    assert {get_workload(name).model for name in list_workloads()} == set(list_models())


def test_inputs_have_the_sizes_of_the_page() -> None:
    page = (ROOT / "docs" / "models.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \|.*? \(([\d, ]+)\) \|", page, re.MULTILINE)
    assert {"darnn", "dsanet", "lstnet", "tpa_lstm", "flux_cnn", "lenet5"} <= set(dict(rows))
    assert "map 96 steps of 7 series to the next 96, in batches of 32" in page
    rows += [(name, "32, 96, 7") for name in list_workloads("forecaster")]
    for name, sizes in rows:
        shape = get_workload(name).example_inputs().shape
        assert ", ".join(map(str, shape)) == sizes, name


PARAMETERS: dict[str, dict[str, tuple[int, ...]]] = {
    "darnn_solar": {"encoder_lstm.weight_hh": (40, 10), "decoder_lstm.weight_hh": (40, 10)},
    "lstnet_solar": {"convolution.weight": (2, 137, 6), "gru.weight_hh": (9, 3)},
    "tpa_lstm_solar": {"patterns.weight": (32, 1, 9, 1), "lstm.weight_hh_l1": (40, 10)},
    "lstnet_solar_literal": {"convolution.weight": (2, 10 * 137)},
    "tpa_lstm_solar_literal": {"convolution.weight": (32, 1, 9, 1)},
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_fluxs_trainings_have_the_sizes_of_their_source(name: str) -> None:
    parameters = dict(get_workload(name).create_model().named_parameters())
    sizes = PARAMETERS[name]
    assert {key: tuple(parameters[key].shape) for key in sizes} == sizes


@pytest.mark.parametrize("name", QUICK)
def test_one_training_step_lowers_the_loss(name: str) -> None:
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


def test_a_wrong_family_batch_or_device_is_named_with_the_choices() -> None:
    with pytest.raises(ValueError, match=r"no family 'cnn'.*small_cnn"):
        list_workloads("cnn")
    with pytest.raises(ValueError, match=r"batch_size is 0.*at least 1"):
        get_workload("darnn").example_inputs(0)
    with pytest.raises(ValueError, match=r"device 'cuda:99' is not on this machine.*use 'cpu'"):
        get_workload("darnn").example_inputs(device="cuda:99")
