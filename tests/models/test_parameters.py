"""Parameter counts: those of the papers and posts, part by part."""

from typing import Any

import pytest
import torch

from torchspeed.models import create_model

COUNTS = {
    "darnn": 785 + 40,  # torch's LSTM has a second bias a gate
    "dsanet": 830,
    "lstnet": 561,
    "tpa_lstm": 2063 + 40,
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
}

PARTS = {
    "darnn": [
        (320 + 20, ["encoder_lstm"]),
        (221, ["W_e", "U_e", "v_e"]),
        (140 + 20, ["decoder_lstm"]),
        (86, ["W_d", "U_d", "v_d"]),
        (7, ["w_tilde"]),
        (11, ["output"]),
    ],
    "dsanet": [
        (391, ["global_tower"]),
        (370, ["local_tower"]),
        (11, ["autoregression"]),
        (7, ["combine"]),
        (51, ["head"]),
    ],
    "lstnet": [
        (242, ["convolution"]),
        (54, ["gru"]),
        (54, ["skip_gru"]),
        (200, ["output"]),
        (11, ["autoregression"]),
    ],
    "tpa_lstm": [
        (110, ["embedding"]),
        (11, ["output"]),
        (840 + 40, ["lstm"]),
        (352, ["W_a"]),
        (430, ["W_hv"]),
        (320, ["patterns"]),
    ],
}


@pytest.mark.parametrize("name", COUNTS)
def test_trainable_parameters_are_as_published(name: str) -> None:
    with torch.device("meta"):  # shapes only: nothing is drawn or stored
        model: Any = create_model(name)
    assert all(p.requires_grad for p in model.parameters())
    assert sum(p.numel() for p in model.parameters()) == COUNTS[name]


@pytest.mark.parametrize("name", PARTS)
def test_parts_add_up_as_listed(name: str) -> None:
    model: Any = create_model(name)
    for count, parts in PARTS[name]:
        result = sum(p.numel() for part in parts for p in model.get_submodule(part).parameters())
        assert result == count, parts
    assert sum(count for count, _ in PARTS[name]) == COUNTS[name]
    listed = [part for _, parts in PARTS[name] for part in parts]
    assert sorted(listed) == sorted(child for child, _ in model.named_children())
