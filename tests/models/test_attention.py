"""Attention weights: positive, summing to one where a softmax makes them, and those used."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.test_promises import batch_for, configurations
from torchspeed.models import create_model


def shapes(name: str, sizes: dict[str, int], batch: int) -> dict[str, tuple[int, ...]]:
    window, features = sizes["window"], sizes["features"]
    if name == "darnn":
        return {"input": (batch, window, features), "temporal": (batch, window, window)}
    if name == "dsanet":
        shape = (batch, 3, sizes["heads"], features, features)
        return {"global": shape, "local": shape}
    return {"temporal": (batch, sizes["hidden"] - sizes["filter_size"] + 1)}


@pytest.mark.parametrize("name", ["darnn", "dsanet", "tpa_lstm"])
@settings(max_examples=20)
@given(data=st.data(), batch=st.integers(1, 4))
def test_weights_are_weights(name: str, data: st.DataObject, batch: int) -> None:
    sizes = data.draw(configurations(name))
    model: Any = create_model(name, **sizes).eval()
    weights = model.attention_weights(batch_for(name, model, batch))
    assert {key: tuple(w.shape) for key, w in weights.items()} == shapes(name, sizes, batch)
    for weight in weights.values():
        assert (weight > 0).all()
        if name == "tpa_lstm":  # a sigmoid each: several rows may count fully
            assert (weight < 1).all()
        else:
            torch.testing.assert_close(weight.sum(-1), torch.ones(weight.shape[:-1]))


def test_darnn_attends_to_the_series_that_its_scores_favour() -> None:
    model: Any = create_model("darnn", features=3, window=4).eval()
    with torch.no_grad():
        model.W_e.weight.zero_()
        model.W_e.bias.zero_()
        model.U_e.weight.copy_(torch.eye(4))
        model.v_e.weight.fill_(5.0)
    x = torch.zeros(1, 4, 3)
    x[0, :, 1] = 2.0
    alpha = model.attention_weights(x)["input"]
    assert (alpha[0, :, 1] > 0.99).all()


def test_dsanet_reports_the_weights_that_forward_uses() -> None:
    model: Any = create_model("dsanet", "plain", features=5).eval()
    layer = model.global_tower.layers[0]
    x = torch.randn(2, 5, 4)  # (batch, series, d_model)
    value = layer.query_key_value(x)[..., 8:].unflatten(2, (2, 2)).transpose(1, 2)
    mixed = layer.output((layer.weights(x) @ value).transpose(1, 2).flatten(2))
    attended = layer.attention_norm(x + mixed)
    inner = layer.outer(layer.inner(attended).relu())
    torch.testing.assert_close(layer(x), layer.feed_forward_norm(attended + inner))
