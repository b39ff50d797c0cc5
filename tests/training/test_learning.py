"""Optimiser and schedule: torch's own parts, put together rightly."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from torchspeed.training.config import RunConfig
from torchspeed.training.loop import run_loop
from torchspeed.training.phases import PhaseClock
from torchspeed.training.state import TrainingState
from torchspeed.training.steps import Network, TrainingStep
from torchspeed.training.train import train

CPU = torch.device("cpu")
SGD = RunConfig(data="digits", optimiser="sgd", rate=0.1, momentum=0.0, epochs=1)


def trained(config: RunConfig, batches: list[Any]) -> Tensor:
    """Parameters of a linear model after an epoch over the batches."""
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    state = TrainingState(model, config)
    step = TrainingStep(Network(model, F.mse_loss, CPU), state)
    run_loop(iter(batches), step, PhaseClock(CPU))
    return nn.utils.parameters_to_vector(model.parameters()).detach()


@pytest.fixture
def items() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(12, 3, generator=generator), torch.randn(12, 2, generator=generator)


def test_a_clipped_gradient_moves_the_parameters_by_its_norm(items: tuple[Tensor, Tensor]) -> None:
    torch.manual_seed(0)
    begin = nn.utils.parameters_to_vector(nn.Linear(3, 2).parameters()).detach()
    after = trained(replace(SGD, clip_norm=0.01), [items])
    assert (after - begin).norm().item() == pytest.approx(0.1 * 0.01, rel=1e-4)


def test_resuming_is_exact_with_all_of_it(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    config = RunConfig(
        optimiser="adamw", rate=0.01, schedule="cosine", clip_norm=1.0, schedule_epochs=3,
        limit_batches=5, epochs=3,
    )  # fmt: skip
    whole = train(config)
    file = tmp_path / "run.pt"
    train(replace(config, epochs=2), checkpoint=file)
    resumed = train(config, checkpoint=file, resume=True)
    for name in ("train_loss", "test_loss", "rate"):
        assert [getattr(e, name) for e in resumed.epochs] == [
            getattr(e, name) for e in whole.epochs
        ]
    assert [epoch.rate for epoch in whole.epochs] == pytest.approx([0.01, 0.0075, 0.0025])
