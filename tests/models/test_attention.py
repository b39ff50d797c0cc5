"""Attention weights: positive, summing to one where a softmax makes them, and those used."""

from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.models.test_time_series import batch_for, configurations
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
@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data(), batch=st.integers(1, 4))
def test_weights_are_weights(name: str, data: st.DataObject, batch: int) -> None:
    sizes = data.draw(configurations(name))
    model: Any = create_model(name, **sizes).eval()
    weights = model.attention_weights(batch_for(model, batch))
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
    model: Any = create_model("dsanet", features=5).eval()
    attention = model.global_tower.layers[0].attention
    x = torch.randn(4, 2, 5)  # (d_model, batch, series)
    out, weights = attention(x), attention.weights(x)
    joint = attention.query_key_value
    value = torch.einsum("od,dbs->bso", joint.weight[8:], x) + joint.bias[8:]
    mixed = torch.einsum("hbij,bjhd->bihd", weights.view(2, 2, 5, 5), value.view(2, 5, 2, 2))
    mixed = attention.output(mixed.flatten(2)).permute(2, 0, 1)
    torch.testing.assert_close(out, attention.norm(x + mixed))
