"""The baselines of speed comparisons do the work that the models do."""

from typing import Any

import pytest
import torch

from tests.models.naive.darnn import NaiveDARNN
from tests.models.naive.dsanet import NaiveDSANet
from tests.models.naive.lstnet import NaiveLSTNet
from tests.models.naive.tpa_lstm import NaiveTPALSTM
from torchspeed.models import create_model


@pytest.mark.parametrize(
    ("name", "naive", "overrides"),
    [
        ("darnn", NaiveDARNN, {"features": 4, "encoder_hidden": 3, "target": 1}),
        ("dsanet", NaiveDSANet, {"features": 6, "outputs": 2}),
        ("tpa_lstm", NaiveTPALSTM, {"layers": 2, "filter_size": 2}),
    ],
)
def test_the_same_function(name: str, naive: type[Any], overrides: dict[str, Any]) -> None:
    model: Any = create_model(name, **overrides).double().eval()
    baseline = naive(model).double().eval()
    x = torch.randn(5, model.window, model.features, dtype=torch.float64, requires_grad=True)
    out, expected = model(x), baseline(x)
    torch.testing.assert_close(out, expected)
    (ours,) = torch.autograd.grad(out.square().sum(), x)
    (theirs,) = torch.autograd.grad(expected.square().sum(), x)
    torch.testing.assert_close(ours, theirs)


def test_lstnets_baseline_has_the_originals_parameters_and_shape() -> None:
    model: Any = create_model("lstnet")
    baseline = NaiveLSTNet(model)
    assert sum(p.numel() for p in baseline.parameters()) == 579
    x = torch.randn(5, model.window, model.features)
    assert baseline(x).shape == model(x).shape
