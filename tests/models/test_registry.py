"""The table of models: what is in it, and what it says to a name that is not."""

import inspect
import os
import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import nn

from torchspeed.models import create_model, list_arguments, list_models, register_model
from torchspeed.models.torchvision_models import TORCHVISION_MODELS
from torchspeed.workloads import get_workload

OWN = [name for name in list_models() if name not in TORCHVISION_MODELS]


def test_finds_the_models_of_every_file_and_lists_them_sorted() -> None:
    assert list_models() == sorted(list_models())
    assert {"darnn", "lstnet_flux_literal", "resnet18_mnist", "vgg19"} < set(list_models())


@pytest.mark.parametrize("name", OWN)
def test_makes_a_model_in_training_mode(name: str) -> None:
    model: Any = create_model(name)
    assert isinstance(model, nn.Module)
    assert model.training
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert {p.device.type for p in model.parameters()} == {"cpu"}


@pytest.mark.parametrize("name", OWN)
def test_state_dict_round_trip(name: str) -> None:
    torch.manual_seed(1)
    saved = create_model(name).eval()
    torch.manual_seed(2)
    loaded = create_model(name).eval()
    x = torch.randn(2, *get_workload(name).input_shape)
    assert not torch.equal(saved(x), loaded(x))
    loaded.load_state_dict(saved.state_dict())
    assert torch.equal(saved(x), loaded(x))


@pytest.mark.parametrize("name", OWN)
def test_the_same_seed_makes_the_same_model(name: str) -> None:
    models = []
    for _ in range(2):
        torch.manual_seed(3)
        models.append(create_model(name))
    first, second = (model.state_dict() for model in models)
    assert all(torch.equal(first[key], second[key]) for key in first)


@pytest.mark.parametrize(
    ("name", "offer"),
    [
        ("lstm_tpa", "'tpa_lstm'"),
        ("DARNN", "'darnn'"),
        ("TPA-LSTM", "'tpa_lstm'"),
        ("resnet", "'resnet18'"),
        ("", "there are darnn, darnn_flux_literal, densenet121"),
    ],
)
def test_unknown_name_offers_the_nearest(name: str, offer: str) -> None:
    with pytest.raises(ValueError, match="no model is named") as raised:
        create_model(name)
    assert repr(name) in str(raised.value)
    assert offer in str(raised.value)


@pytest.mark.parametrize("name", ["darnn", "flux_cnn", "resnet50"])
def test_unknown_override_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=f"model '{name}' takes no 'windows'"):
        create_model(name, windows=3)


def test_unknown_override_lists_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="it takes features, window, encoder_hidden"):
        create_model("darnn", windows=3)
    with pytest.raises(ValueError, match="it takes no arguments"):
        create_model("lenet5", windows=3)


def test_a_name_is_taken_once() -> None:
    for tuned in (False, True):
        with pytest.raises(ValueError, match="'darnn' is already registered"):
            register_model("darnn", tuned=tuned)(nn.Identity)


def test_importing_the_models_leaves_torchvision_alone() -> None:
    code = (
        "import sys, torchspeed.models as m; assert 'torchvision' not in sys.modules;"
        "m.create_model('darnn'); assert 'torchvision' not in sys.modules;"
        "m.create_model('squeezenet1_1'); assert 'torchvision' in sys.modules"
    )
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=path)


@pytest.mark.parametrize("name", ["darnn", "dsanet", "lstnet", "tpa_lstm"])
def test_every_argument_has_a_default_and_a_line_in_the_docstring(name: str) -> None:
    maker = type(create_model(name, "plain"))
    assert list_arguments(name) == list(inspect.signature(maker).parameters)
    for argument, parameter in inspect.signature(maker).parameters.items():
        assert parameter.default is not inspect.Parameter.empty
        assert f"        {argument}: " in str(maker.__doc__)
