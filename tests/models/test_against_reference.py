"""The fast models compute what the papers' equations say."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.models.reference import darnn, dsanet, lstnet, tpa_lstm
from torchspeed.models import create_model

CASES = [
    ("darnn", {}, darnn.predict, {}),
    (
        "darnn",
        {"features": 3, "window": 4, "encoder_hidden": 6, "decoder_hidden": 2, "target": 2},
        darnn.predict,
        {"target": 2},
    ),
    ("dsanet", {"features": 6}, dsanet.predict, {}),
    (
        "dsanet",
        {"features": 3, "window": 4, "local_length": 4, "kernels": 2, "d_model": 6, "d_hidden": 5}
        | {"layers": 2, "heads": 3, "outputs": 2},
        dsanet.predict,
        {"layers": 2, "heads": 3},
    ),
    ("lstnet", {}, lstnet.predict, {}),
    (
        "lstnet",
        {"features": 4, "window": 9, "channels": 5, "kernel": 2, "recurrent": 4, "skip": 3}
        | {"skip_recurrent": 2, "highway": 4},
        lstnet.predict,
        {"skip": 3},
    ),
    ("tpa_lstm", {}, tpa_lstm.predict, {}),
    (
        "tpa_lstm",
        {"features": 3, "window": 5, "hidden": 6, "layers": 2, "filters": 4, "filter_size": 3},
        tpa_lstm.predict,
        {"layers": 2, "filter_size": 3},
    ),
]


def gradients(
    out: Tensor, direction: Tensor, x: Tensor, weights: dict[str, Tensor]
) -> dict[str, Tensor]:
    values = torch.autograd.grad((out * direction).sum(), [x, *weights.values()])
    return dict(zip(["x", *weights], values, strict=True))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("name", "overrides", "predict", "config"), CASES)
def test_outputs_and_gradients_agree(
    name: str,
    overrides: dict[str, Any],
    predict: Callable[..., Any],
    config: dict[str, Any],
    dtype: torch.dtype,
) -> None:
    model: Any = create_model(name, **overrides).to(dtype).eval()
    spread_parameters(model)
    x = torch.randn(3, model.window, model.features, dtype=dtype, requires_grad=True)
    weights = {key: p.detach().clone().requires_grad_() for key, p in model.named_parameters()}

    out, expected = model(x), predict(weights, x, **config)
    direction = torch.randn_like(out)
    limit = 1e-5 if dtype == torch.float32 else 1e-10
    torch.testing.assert_close(out, expected, rtol=limit, atol=limit)

    ours = gradients(out, direction, x, dict(model.named_parameters()))
    theirs = gradients(expected, direction, x, weights)
    for key, gradient in theirs.items():
        difference = (ours[key] - gradient).abs()
        assert (difference <= limit * (1 + gradient.abs())).all(), key


def spread_parameters(model: nn.Module) -> None:
    """Move the parameters off where an initialiser left them: no bias 0, no gain 1."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
