"""Today's forecasters compute what their papers say, for any sizes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.models.reference import forecasters as reference
from torchspeed.models import create_model
from torchspeed.workloads import list_workloads

NAMES = list_workloads("forecaster")
EVERY = pytest.mark.parametrize("name", NAMES)
SMALL: dict[str, dict[str, Any]] = {
    "dlinear": {"kernel": 4},
    "nhits": {"hidden": 6, "pools": (2, 3, 1), "frequencies": (4, 2, 1)},
    "tcn": {"channels": 4, "levels": 3, "kernel": 3},
    "deepar": {"hidden": 5, "layers": 2},
    "patchtst": {"patch": 4, "stride": 3, "width": 6, "heads": 2, "layers": 2, "inner": 5},
    "itransformer": {"width": 6, "heads": 3, "layers": 2, "inner": 5},
    "tsmixer": {"blocks": 2, "inner": 5},
    "timesnet": {"width": 5, "inner": 3, "layers": 2, "periods": 3, "kernels": 3},
    "encoder_decoder": {"label": 5, "width": 6, "heads": 2, "inner": 7, "decoder_layers": 2},
}
FORECASTS: dict[str, Callable[[Any, Any, int], Any]] = {
    "dlinear": lambda p, x, horizon: reference.dlinear(p, x, 4),
    "nhits": lambda p, x, horizon: reference.nhits(p, x, horizon, (2, 3, 1)),
    "tcn": lambda p, x, horizon: reference.tcn(p, x, horizon, 3),
    "deepar": lambda p, x, horizon: reference.deepar(p, x, horizon, 2),
    "patchtst": lambda p, x, horizon: reference.patchtst(p, x, 4, 3, 2, 2),
    "itransformer": lambda p, x, horizon: reference.itransformer(p, x, 2, 3),
    "tsmixer": lambda p, x, horizon: reference.tsmixer(p, x, 2),
    "timesnet": lambda p, x, horizon: reference.timesnet(p, x, horizon, 2, 3, 3),
    "encoder_decoder": lambda p, x, horizon: reference.encoder_decoder(
        p, x, horizon, 5, (2, 2), 2
    ),
}


def small(name: str, features: int = 3, window: int = 11, horizon: int = 6) -> Any:
    """A small model whose parameters, and statistics of batch norm, are all drawn."""
    sizes: dict[str, Any] = {"features": features, "window": window, "horizon": horizon}
    model: Any = create_model(name, **(SMALL[name] | sizes)).double().eval()
    with torch.no_grad():
        for key, tensor in model.state_dict().items():
            if key.endswith(("norm.weight", "gamma", "running_var", ".g")):
                tensor.uniform_(0.5, 1.5)
            elif tensor.is_floating_point() and (tensor.dim() < 2 or key == "W_pos"):
                tensor.uniform_(-1, 1)
    return model


def windows(model: Any, batch: int) -> Tensor:
    return torch.randn(batch, model.window, model.features, dtype=torch.float64) * 3 + 2


def arrays(model: Any) -> dict[str, Any]:
    return {key: tensor.numpy() for key, tensor in model.state_dict().items()}


@EVERY
@settings(max_examples=8)
@given(
    seed=st.integers(0, 2**20),
    features=st.integers(1, 4),
    window=st.integers(7, 13),
    horizon=st.integers(2, 9),
)
def test_forecasts_are_those_of_the_equations(
    name: str, seed: int, features: int, window: int, horizon: int
) -> None:
    torch.manual_seed(seed)
    model = small(name, features, window, horizon)
    x = windows(model, 1)
    expected = FORECASTS[name](arrays(model), x[0].numpy(), horizon)
    with torch.inference_mode():
        fast = model(x)[0]
    for actual in (fast, model(x)[0].detach()):  # torch infers in other ways than it trains
        # Positions are drawn in float32, whatever the parameters are.
        np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-6, atol=1e-6)


@EVERY
def test_evaluation_draws_nothing_and_training_does(name: str) -> None:
    model = small(name)
    x = windows(model, 4)
    torch.testing.assert_close(model(x), model(x), rtol=0, atol=0)
    model.train()
    draws = name not in {"dlinear", "nhits"}
    assert torch.equal(model(x), model(x)) is not draws


@EVERY
def test_a_forecast_depends_on_its_own_window_and_on_every_step_of_it(name: str) -> None:
    model = small(name)
    x = windows(model, 4).requires_grad_()
    out = model(x)
    changed = x.detach().clone()
    changed[2] = changed[2].flip(0) * 10
    others = model(changed)[[0, 1, 3]]
    if name == "timesnet":  # the samples of a batch share their periods
        x = x[:1]
    else:
        torch.testing.assert_close(others, out[[0, 1, 3]])
        torch.testing.assert_close(model(x[2:3]), out[2:3])
    (gradient,) = torch.autograd.grad(model(x).square().sum(), x)
    assert (gradient.abs().amax((0, 2)) > 0).all()


def test_no_step_of_a_tcn_sees_a_later_one() -> None:
    levels = small("tcn").levels
    x = torch.randn(20, 3, 11, dtype=torch.float64)  # a relu hides the change in some
    changed = x.clone()
    changed[:, :, 6] += 1
    same = (levels(x) == levels(changed)).all(1).all(0)
    assert same.tolist() == [step < 6 for step in range(11)]


def test_deepar_trains_with_the_density_of_its_equations() -> None:
    model = small("deepar")
    x, future = windows(model, 1), windows(model, 1)[:, :6]
    mean, deviation = reference.deepar_likelihood(
        arrays(model), x[0].numpy(), 6, 2, future[0].numpy()
    )
    values = np.concatenate((x[0], future[0]))[1:]
    density = -(((values - mean) / deviation) ** 2) / 2 - np.log(deviation * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(model.log_likelihood(x, future).item(), density.mean())


def test_deepars_samples_start_from_the_means_and_spread() -> None:
    model = small("deepar")
    x = windows(model, 2)
    with torch.no_grad():
        paths = model.sample(x, 4000)
        assert paths.shape == (4000, 2, 6, 3)
        error = paths[:, :, 0].std(0) / 4000**0.5
        assert ((paths[:, :, 0].mean(0) - model(x)[:, 0]).abs() < 5 * error).all()
    with pytest.raises(ValueError, match="samples must be an integer of at least 1, got 0"):
        model.sample(x, 0)
