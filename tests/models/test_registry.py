"""The table of models: what is in it, and what it says to a name that is not."""

import pytest
from torch import nn

from torchspeed.models import create_model, list_implementations, register_model


@pytest.mark.parametrize(
    ("name", "offer"),
    [
        ("lstm_tpa", "'tpa_lstm'"),
        ("", "there are bert_base, chronos_bolt, convnext_tiny"),
    ],
)
def test_unknown_name_offers_the_nearest(name: str, offer: str) -> None:
    with pytest.raises(ValueError, match="no model is named") as raised:
        create_model(name)
    assert repr(name) in str(raised.value)
    assert offer in str(raised.value)


def test_unknown_override_lists_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="it takes features, window, encoder_hidden"):
        create_model("darnn", windows=3)
    with pytest.raises(ValueError, match="it takes no arguments"):
        create_model("lenet5", windows=3)


def test_a_name_is_taken_once() -> None:
    for implementation in list_implementations("darnn"):
        with pytest.raises(ValueError, match=f"{implementation} model named 'darnn' is already"):
            register_model("darnn", implementation)(nn.Identity)
