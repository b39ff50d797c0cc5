"""Generation in three precisions."""

import pytest
import torch

from torchspeed.measure.generation import PRECISIONS, Generation


@pytest.mark.parametrize("name", ["chronos_bolt", "timesfm", "mamba"])
def test_lower_precisions_forecast_nearly_the_same(name: str) -> None:
    forecasts = []
    for precision in PRECISIONS:
        generation = Generation(name, "cpu", precision)
        forecasts.append(generation.next_step()[0])
        assert torch.equal(generation.next_step()[0], forecasts[-1]), "a step starts anew"
    assert forecasts[1].dtype == torch.bfloat16
    exact = forecasts[0]
    for lower in forecasts[1:]:
        assert 0 < (lower.float() - exact).norm() / exact.norm() < 0.1
