"""Training steps with AdamW."""

import torch

from torchspeed.measure.training_step import ADDITIONS, TrainingStep


def test_ways_of_one_step_change_parameters_alike() -> None:
    changed = {}
    for optimiser in ("foreach", "fused"):
        for addition in ADDITIONS:
            training = TrainingStep("dlinear", "cpu", optimiser, addition)
            training.step()
            changed[optimiser, addition] = torch.cat(
                [p.detach().flatten() for p in training.parameters]
            )
    expected = changed["foreach", "nothing"]
    for (_, addition), parameters in changed.items():
        if addition in ("nothing", "accumulation"):
            torch.testing.assert_close(parameters, expected, rtol=1e-4, atol=1e-5)
        assert 0 <= (parameters - expected).abs().max() < 3e-4  # AdamW's first step is its rate
