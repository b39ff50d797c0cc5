"""What models promise, whatever their equations are."""

import re
from typing import Any

import pytest
import torch

from tests.conftest import ROOT
from tests.models.sizes import IMAGES, NAMES, batch_for, small
from torchspeed.models import create_model, list_models
from torchspeed.models.torchvision_models import TORCHVISION_MODELS
from torchspeed.workloads import list_workloads

LITERAL, PRETRAINED = list_workloads("flux_literal"), list_workloads("pretrained")
DRAWING = {"dsanet", "dsanet_flux_literal", "lstnet", "tcn", "deepar", "patchtst"}
DRAWING |= {"itransformer", "tsmixer", "timesnet", "encoder_decoder"}
EVERY_MODEL = pytest.mark.parametrize("name", NAMES)


@EVERY_MODEL
def test_a_sample_influences_others_in_literal_models_alone(name: str) -> None:
    model = small(name)
    x = batch_for(name, model, 4)
    out = model(x)
    changed = x.clone()
    changed[0] = torch.randn_like(changed[0]) * 10
    others = model(changed)[1:]
    if name in LITERAL:
        assert (others != out[1:]).any(1).all()
    elif name != "timesnet":  # its samples share their periods
        torch.testing.assert_close(others, out[1:], rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(model(x[2:3]), out[2:3], rtol=1e-5, atol=1e-5)


LEARNING = set(NAMES) - {*PRETRAINED, "dsanet_flux_literal"}  # its softmax saturates


@pytest.mark.parametrize("name", sorted(LEARNING))
def test_every_parameter_learns_and_every_time_step_counts(name: str) -> None:
    model = small(name)
    x = batch_for(name, model, 16).requires_grad_()
    model(x).square().sum().backward()
    assert x.grad is not None
    assert x.grad.isfinite().all()
    assert name in IMAGES or (x.grad.abs().amax((0, 2)) > 0).all()
    for key, parameter in model.named_parameters():
        if not parameter.requires_grad or key.startswith("deviation."):
            continue  # DeepAR forecasts by means alone, in evaluation mode
        # A softmax does not see what is added to all of its scores.
        cancels = key.endswith(("v_e.bias", "v_d.bias", "attention.2.bias", "attention.key.bias"))
        assert bool(parameter.grad.abs().max() > 1e-9) is not cancels, key


@EVERY_MODEL
def test_a_batch_in_any_memory_layout(name: str) -> None:
    model = small(name)
    x = batch_for(name, model, 3)
    axes = tuple(reversed(range(x.dim())))
    transposed = x.permute(axes).contiguous().permute(axes)
    assert not transposed.is_contiguous()
    torch.testing.assert_close(model(transposed), model(x), rtol=1e-5, atol=1e-5)


@EVERY_MODEL
def test_only_training_draws_random_numbers(name: str) -> None:
    model = small(name)
    x = batch_for(name, model, 8)
    assert torch.equal(model(x), model(x))
    model.train()
    assert torch.equal(model(x), model(x)) is (name not in DRAWING)


def test_flux_cnn_gives_probabilities() -> None:
    out = create_model("flux_cnn")(torch.randn(5, 3, 32, 32))
    torch.testing.assert_close(out.sum(1), torch.ones(5))
    assert (out > 0).all()


@pytest.mark.parametrize("name", TORCHVISION_MODELS)
@pytest.mark.parametrize("training", [True, False])
def test_torchvision_models_return_scores(name: str, training: bool) -> None:
    with torch.device("meta"):  # shapes only: no arithmetic, no memory
        model = create_model(name, num_classes=7).train(training)
        assert model(torch.randn(2, 3, 224, 224)).shape == (2, 7)


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("darnn", {"input": (2, 11, 3), "temporal": (2, 11, 11)}),
        ("dsanet", {"global": (2, 3, 2, 3, 3), "local": (2, 3, 2, 3, 3)}),
        ("tpa_lstm", {"temporal": (2, 9)}),
    ],
)
def test_weights_are_weights(name: str, shapes: dict[str, tuple[int, ...]]) -> None:
    model = small(name)
    weights = model.attention_weights(batch_for(name, model, 2))
    assert {key: tuple(weight.shape) for key, weight in weights.items()} == shapes
    for weight in weights.values():
        assert (weight > 0).all()
        if name == "tpa_lstm":  # a sigmoid each: several rows may count fully
            assert (weight < 1).all()
        else:
            torch.testing.assert_close(weight.sum(-1), torch.ones_like(weight[..., 0]))


def test_dsanet_reports_the_weights_that_forward_uses() -> None:
    layer = small("dsanet").global_tower.layers[0]
    x = torch.randn(2, 5, 4, dtype=torch.float64)  # (batch, series, d_model)
    value = layer.query_key_value(x)[..., 8:].unflatten(2, (2, 2)).transpose(1, 2)
    mixed = layer.output((layer.weights(x) @ value).transpose(1, 2).flatten(2))
    attended = layer.attention_norm(x + mixed)
    inner = layer.outer(layer.inner(attended).relu())
    torch.testing.assert_close(layer(x), layer.feed_forward_norm(attended + inner))


@pytest.mark.parametrize("name", list_models())
def test_parameters_are_as_many_as_the_model_and_the_page_say(name: str) -> None:
    with torch.device("meta"):  # shapes only: nothing is drawn or stored
        model: Any = create_model(name, "plain")
    count = sum(p.numel() for p in model.parameters())
    page = (ROOT / "docs" / "models.md").read_text("utf-8")
    row = re.search(rf"^\| `{name}` .*?\| ([\d,]+) \|", page, re.MULTILINE)
    assert row is None or row[1] == f"{count:,}"
    said = re.findall(r"([\d,]+)\s+parameters", type(model).__doc__ or "")
    assert not said or f"{count:,}" in said


@pytest.mark.parametrize("name", ["darnn", "lstnet", "tpa_lstm", "tpa_lstm_flux_literal"])
def test_recurrent_layers_start_as_torchs_and_only_parameters_are_stored(name: str) -> None:
    model: Any = create_model(name, "plain")
    parameters = dict(model.named_parameters())
    assert model.state_dict().keys() == parameters.keys()
    recurrent = [p for key, p in parameters.items() if ".weight_hh" in key]
    assert recurrent
    for weight in recurrent:
        assert 0.5 < weight.abs().max() * weight.shape[1] ** 0.5 <= 1
