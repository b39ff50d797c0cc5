"""Today's forecasters compute what their papers say, for any sizes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.reference import forecasters as reference
from tests.models.sizes import arrays, batch_for, small

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
"""Each with the sizes of `tests.models.sizes.SMALL`."""


@pytest.mark.parametrize("name", FORECASTS)
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
    model = small(name, features=features, window=window, horizon=horizon)
    x = batch_for(name, model, 1) * 3 + 2
    expected = FORECASTS[name](arrays(model), x[0].numpy(), horizon)
    with torch.inference_mode():
        fast = model(x)[0]
    for actual in (fast, model(x)[0].detach()):  # torch infers in other ways than it trains
        # Positions are drawn in float32, whatever the parameters are.
        np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-6, atol=1e-6)


def test_no_step_of_a_tcn_sees_a_later_one() -> None:
    levels = small("tcn").levels
    x = torch.randn(20, 3, 11, dtype=torch.float64)  # a relu hides the change in some
    changed = x.clone()
    changed[:, :, 6] += 1
    same = (levels(x) == levels(changed)).all(1).all(0)
    assert same.tolist() == [step < 6 for step in range(11)]


def test_deepar_trains_with_the_density_of_its_equations() -> None:
    model = small("deepar")
    x, future = (batch_for("deepar", model, 1) * 3 + 2 for _ in range(2))
    future = future[:, :6]
    mean, deviation = reference.deepar_likelihood(
        arrays(model), x[0].numpy(), 6, 2, future[0].numpy()
    )
    values = np.concatenate((x[0], future[0]))[1:]
    density = -(((values - mean) / deviation) ** 2) / 2 - np.log(deviation * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(model.log_likelihood(x, future).item(), density.mean())


def test_deepars_samples_start_from_the_means_and_spread() -> None:
    model = small("deepar")
    x = batch_for("deepar", model, 2) * 3 + 2
    with torch.no_grad():
        paths = model.sample(x, 4000)
        assert paths.shape == (4000, 2, 6, 3)
        error = paths[:, :, 0].std(0) / 4000**0.5
        assert ((paths[:, :, 0].mean(0) - model(x)[:, 0]).abs() < 5 * error).all()
    with pytest.raises(ValueError, match="samples must be an integer of at least 1, got 0"):
        model.sample(x, 0)
