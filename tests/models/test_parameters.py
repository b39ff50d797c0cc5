"""Parameter counts: those of the papers and posts, part by part."""

import re
from typing import Any

import pytest
import torch

from tests.docs.pages import ROOT
from torchspeed.models import create_model

COUNTS = {
    "darnn": 785 + 40,  # torch's LSTM has a second bias a gate
    "dsanet": 830,
    "lstnet": 561,
    "tpa_lstm": 2063 + 40,
    "dlinear": 18_624,
    "nhits": 1_121_736,
    "tcn": 51_392,
    "deepar": 21_534,
    "patchtst": 548_718,
    "itransformer": 841_568,
    "tsmixer": 35_260,
    "timesnet": 605_415,
    "encoder_decoder": 664_583,
    "chronos_bolt": 8_632_064,
    "timesfm": 17_647_424,
    "mamba": 468_487,
    "darnn_flux_literal": 785,
    "dsanet_flux_literal": 830,
    "lstnet_flux_literal": 538,
    "tpa_lstm_flux_literal": 2063,
    "flux_cnn": 39_558,
    "lenet5": 44_426,
    "resnet18_mnist": 11_175_370,
    # Published with torchvision's weights of the same models.
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
    "yolov3": 61_949_149,
    "yolov3_tiny": 8_852_366,
    "transformer_encoder": 37_828_608,
    "bert_base": 109_482_240 - 768 * 769,  # without the pooler
    "gcn": 23_063,
}


@pytest.mark.parametrize("name", COUNTS)
def test_parameters_are_as_many_as_published(name: str) -> None:
    with torch.device("meta"):  # shapes only: nothing is drawn or stored
        model: Any = create_model(name)
    assert sum(p.numel() for p in model.parameters()) == COUNTS[name]


def test_the_page_names_these_counts() -> None:
    text = (ROOT / "docs" / "models.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` .*?\| ([\d,]+) \|", text, re.MULTILINE)
    named = {name: int(number.replace(",", "")) for name, number in rows}
    assert len(named) >= 16
    assert named == {name: COUNTS[name] for name in named}


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
