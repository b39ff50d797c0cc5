"""Pretrained forecasters: what they keep of a window is what they would compute again."""

import pytest
import torch

from tests.models.sizes import batch_for, small
from torchspeed.models.chronos_bolt import distance_buckets


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
