"""Bad names, configurations and inputs: one ValueError that names argument, value and need."""

import re
from typing import Any, get_args

import pytest
import torch
from torch import nn

from tests.models.sizes import NAMES, batch_for, small
from torchspeed.models import (
    Implementation,
    create_model,
    list_arguments,
    list_implementations,
    list_models,
    register_model,
)

MAY_BE_0 = {"darnn": {"target"}, "tpa_lstm": {"highway"}}
BAD_CONFIGURATIONS = [
    *[
        ("darnn", {"window": value}, f"window must be an integer of at least 1, got {value!r}")
        for value in (-3, 2.0, True, "4", None)
    ],
    ("darnn", {"target": 10}, "target must be an index into the features, 0 to 9, got 10"),
    ("darnn", {"target": -1}, "target must be an index into the features, 0 to 9, got -1"),
    ("dsanet", {"heads": 3}, "heads must divide d_model, 4, got 3"),
    ("dsanet", {"local_length": 11}, "local_length must be at most window, 10, got 11"),
    ("lstnet", {"kernel": 11}, "kernel must be at most window, 10, got 11"),
    ("lstnet", {"skip": 60}, "skip must be at most window - kernel + 1, 5, got 60"),
    ("lstnet", {"highway": 11}, "highway must be at most window, 10, got 11"),
    ("tpa_lstm", {"window": 1}, "window must be at least 2, for a past to attend to, got 1"),
    ("tpa_lstm", {"highway": 11}, "highway must be at most window, 10, got 11"),
    ("tpa_lstm", {"filter_size": 11}, "filter_size must be at most hidden, 10, got 11"),
    ("nhits", {"pools": (2, 97, 1)}, "pool must be at most window, 96, got 97"),
    ("nhits", {"frequencies": (4, 0, 1)}, "frequency must be an integer of at least 1, got 0"),
    ("nhits", {"pools": (2,)}, "pools and frequencies must have one number a stack, got 1 and 3"),
    ("patchtst", {"patch": 97}, "patch must be at most window, 96, got 97"),
    ("patchtst", {"heads": 3}, "heads must divide width, 128, got 3"),
    ("timesnet", {"periods": 97}, "periods must be at most (window + horizon) / 2, 96, got 97"),
    ("encoder_decoder", {"label": 97}, "label must be at most window, 96, got 97"),
    ("chronos_bolt", {"patch": 17}, "patch must divide window, 512, got 17"),
    ("timesfm", {"patch": 64, "horizon": 96}, "patch must divide horizon, 96, got 64"),
    ("mamba", {"kernel": 1}, "kernel must be at least 2, for a step before, got 1"),
    ("yolov3", {"image_size": 600}, "image_size must be a multiple of 32, got 600"),
    ("bert_base", {"heads": 7}, "heads must divide width, 768, got 7"),
    ("gcn", {"nodes": 3, "edges": 4}, "3 nodes have fewer pairs than edges, 4"),
    ("encoder_decoder", {"heads": 3}, "heads must divide width, 128, got 3"),
]


@pytest.mark.parametrize(("name", "overrides", "message"), BAD_CONFIGURATIONS)
def test_bad_configuration(name: str, overrides: dict[str, Any], message: str) -> None:
    for implementation in get_args(Implementation):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            create_model(name, implementation, **overrides)


@pytest.mark.parametrize("name", list_models())
def test_no_size_is_0_and_no_dropout_1(name: str) -> None:
    for argument in set(list_arguments(name)) - MAY_BE_0.get(name, set()):
        value, rule = 0, "must be an integer of at least 1, got 0"
        if argument == "dropout":
            value, rule = 1, "must be at least 0 and below 1, got 1"
        elif argument in {"pools", "frequencies"}:
            rule = "must be a list of integers, got 0"
        for implementation in list_implementations(name):
            with pytest.raises(ValueError, match=f"^{argument} {rule}$"):
                create_model(name, implementation, **{argument: value})


@pytest.fixture(scope="module", params=get_args(Implementation))
def models(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {name: small(name, request.param).float() for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_bad_input(name: str, models: dict[str, Any]) -> None:
    model = models[name]
    shape = tuple(batch_for(name, model, 1).shape[1:])
    axes = rf"^x must have {len(shape) + 1} axes \(batch, .*\), got "
    wanted = rf"^x must have the shape .*at least 1, {', '.join(map(str, shape))}\), got "
    number = "^x must be torch.float32 .* got "
    wrong: list[tuple[Any, str]] = [
        (torch.randn(shape), f"{axes}{len(shape)}"),
        (torch.randn(1, 1, *shape), f"{axes}{len(shape) + 2}"),
        (torch.randn(0, *shape), wanted),
        (torch.randn(2, *shape, dtype=torch.float64), f"{number}torch.float64$"),
        (torch.ones(2, *shape, dtype=torch.int64), f"{number}torch.int64$"),
        (torch.randn(2, *shape, device="meta"), "^x must be on cpu .* got meta$"),
        ([[1.0]], "^x must be a tensor, got list$"),
    ]
    for axis in range(len(shape)):
        larger = (2, *(size + (axis == index) for index, size in enumerate(shape)))
        wrong.append((torch.randn(larger), wanted + re.escape(str(larger))))
    for x, message in wrong:
        for call in (model, getattr(model, "attention_weights", model)):  # three models have them
            with pytest.raises(ValueError, match=message):
                call(x)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("lstm_tpa", {}, "no model is named 'lstm_tpa': did you mean .*tpa_lstm"),
        ("", {}, "no model is named '': there are bert_base, chronos_bolt, convnext_tiny"),
        ("darnn", {"windows": 3}, "it takes features, window, encoder_hidden"),
        ("lenet5", {"windows": 3}, "it takes no arguments"),
    ],
)
def test_unknown_names_offer_known_ones(
    name: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        create_model(name, **arguments)


def test_a_name_is_taken_once() -> None:
    for implementation in list_implementations("darnn"):
        with pytest.raises(ValueError, match=f"{implementation} model named 'darnn' is already"):
            register_model("darnn", implementation)(nn.Identity)
