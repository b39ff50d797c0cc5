"""Today's forecasters compute what their papers say, for any sizes.

What pretrained ones keep of a window is what they would compute again.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.reference import forecasters as reference
from tests.models.sizes import arrays, batch_for, small
from torchspeed.models.chronos_bolt import distance_buckets

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


@pytest.mark.parametrize(("name", "read"), [("timesfm", 16), ("mamba", 1)])
def test_a_step_with_what_was_kept_is_that_of_the_longer_window(name: str, read: int) -> None:
    model = small(name)
    longer = small(name, window=model.window + 2 * read)
    longer.load_state_dict(model.state_dict())
    x = batch_for(name, model, 3) * 3 + 2
    with torch.no_grad():
        state = model.prefill(x)
        for _ in range(2):
            forecast, state = model.next_step(state)
            values = forecast[:, :, 0] if name == "timesfm" else forecast.unsqueeze(1)
            x = torch.cat((x, values), 1)
        expected = longer(x)
        torch.testing.assert_close(model.next_step(state)[0], expected, rtol=1e-4, atol=1e-4)
        if name == "timesfm":  # a later patch changes no earlier one
            torch.testing.assert_close(model(x[:, : model.window])[:, :, 0], x[:, 32:48])


def test_distances_have_the_buckets_of_t5() -> None:
    buckets = distance_buckets(200)
    expected = {0: 0, 1: 1, 7: 7, 8: 8, 11: 8, 12: 9, 16: 10, 63: 13, 64: 14, 91: 15, 199: 15}
    assert {distance: int(buckets[199, 199 - distance]) for distance in expected} == expected
    assert [int(buckets[0, key]) for key in (1, 8, 199)] == [17, 24, 31]


@pytest.mark.parametrize("name", ["chronos_bolt", "timesfm"])
def test_forecasts_follow_level_and_scale_of_their_window(name: str) -> None:
    model = small(name)
    x = batch_for(name, model, 4) * 3 + 2
    with torch.no_grad():
        torch.testing.assert_close(model(x * 5 + 7), model(x) * 5 + 7, rtol=1e-3, atol=1e-3)
