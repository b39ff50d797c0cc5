"""Parameters are as many as in the papers and posts, and start as torch's."""

import re
from typing import Any

import pytest
import torch

from tests.conftest import ROOT
from torchspeed.models import create_model, list_models

PUBLISHED = {
    "resnet18": 11_689_512,
    "resnet34": 21_797_672,
    "resnet50": 25_557_032,
    "densenet121": 7_978_856,
    "googlenet": 6_624_904,
    "vgg19": 143_667_240,
    "squeezenet1_1": 1_235_496,
    "mobilenet_v3_large": 5_483_032,
    "efficientnet_b0": 5_288_548,
    "convnext_tiny": 28_589_128,
}
"""With torchvision's weights of the same models."""


@pytest.mark.parametrize("name", list_models())
def test_parameters_are_as_many_as_published_or_as_the_model_and_the_page_say(name: str) -> None:
    with torch.device("meta"):  # shapes only: nothing is drawn or stored
        model: Any = create_model(name, "plain")
    count = sum(p.numel() for p in model.parameters())
    page = (ROOT / "docs" / "models.md").read_text("utf-8")
    row = re.search(rf"^\| `{name}` .*?\| ([\d,]+) \|", page, re.MULTILINE)
    assert row is None or row[1] == f"{count:,}"
    assert count == PUBLISHED.get(name, count)
    said = re.findall(r"([\d,]+)\s+parameters", type(model).__doc__ or "")
    assert not said or f"{count:,}" in said


@pytest.mark.parametrize("name", ["darnn", "lstnet", "tpa_lstm", "tpa_lstm_flux_literal"])
def test_recurrent_layers_start_as_torchs_and_checkpoints_hold_their_parameters_alone(
    name: str,
) -> None:
    model: Any = create_model(name, "plain")
    parameters = dict(model.named_parameters())
    assert model.state_dict().keys() == parameters.keys()
    recurrent = [p for key, p in parameters.items() if ".weight_hh" in key]
    assert recurrent
    for weight in recurrent:
        assert 0.5 < weight.abs().max() * weight.shape[1] ** 0.5 <= 1
