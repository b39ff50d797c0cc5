"""Optimiser, schedule, accumulation and averaging: torch's own parts, put together rightly."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from torchspeed.training.config import RunConfig
from torchspeed.training.loop import run_loop
from torchspeed.training.phases import timeline_for
from torchspeed.training.steps import Network, TrainingStep
from torchspeed.training.train import train
from torchspeed.training.trainee import Trainee

CPU = torch.device("cpu")
SGD = RunConfig(data="digits", optimiser="sgd", rate=0.1, momentum=0.0, epochs=1)


def trained(config: RunConfig, batches: list[Any]) -> tuple[Tensor, Trainee]:
    """Parameters of a linear model after an epoch over the batches."""
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    trainee = Trainee(model, config, steps=len(batches))
    step = TrainingStep(Network(model, F.mse_loss, CPU), trainee)
    run_loop(iter(batches), step, timeline_for(CPU))
    return nn.utils.parameters_to_vector(model.parameters()).detach(), trainee


@pytest.fixture
def items() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(12, 3, generator=generator), torch.randn(12, 2, generator=generator)


def cut(items: tuple[Tensor, Tensor], size: int) -> list[Any]:
    return list(zip(*(part.split(size) for part in items), strict=True))


def test_accumulated_batches_are_one_large_batch(items: tuple[Tensor, Tensor]) -> None:
    large, _ = trained(SGD, cut(items, 12))
    small, _ = trained(replace(SGD, accumulate=4), cut(items, 3))
    assert torch.allclose(small, large, atol=1e-6)
    # A group that the epoch cuts short counts as what it is.
    rest, _ = trained(replace(SGD, accumulate=3), cut(items, 3))
    by_hand, _ = trained(SGD, [tuple(part[:9] for part in items), tuple(p[9:] for p in items)])
    assert torch.allclose(rest, by_hand, atol=1e-6)


def test_a_clipped_gradient_moves_the_parameters_by_its_norm(items: tuple[Tensor, Tensor]) -> None:
    torch.manual_seed(0)
    begin = nn.utils.parameters_to_vector(nn.Linear(3, 2).parameters()).detach()
    after, _ = trained(replace(SGD, clip_norm=0.01), cut(items, 12))
    assert (after - begin).norm().item() == pytest.approx(0.1 * 0.01, rel=1e-4)


def test_the_moving_average_is_what_is_tested(items: tuple[Tensor, Tensor]) -> None:
    first, _ = trained(SGD, cut(items, 6)[:1])
    last, trainee = trained(replace(SGD, ema=0.75), cut(items, 6))
    average = nn.utils.parameters_to_vector(trainee.tested.parameters())
    assert torch.allclose(average, 0.75 * first + 0.25 * last)


@pytest.mark.parametrize(
    ("unit", "rates"), [("step", [0.001, 0.0505, 0.1, 0.05]), ("epoch", [0.001] * 4)]
)
def test_the_rate_rises_and_falls_with_steps_or_epochs(
    unit: Literal["epoch", "step"], rates: list[float]
) -> None:
    config = replace(SGD, schedule="cosine", schedule_unit=unit, rate_warmup=1, epochs=2)
    trainee = Trainee(nn.Linear(3, 2), config, steps=2)
    seen = []
    for _ in range(4):
        seen.append(trainee.schedule.get_last_lr()[0])
        trainee.update()
    assert seen == pytest.approx(rates)


def test_resuming_is_exact_with_all_of_it(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    config = RunConfig(
        optimiser="adamw", rate=0.01, schedule="cosine", schedule_unit="step", schedule_epochs=4,
        rate_warmup=1, accumulate=2, clip_norm=1.0, ema=0.9, label_smoothing=0.1, test_every=2,
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
    assert [epoch.test_loss is None for epoch in whole.epochs] == [True, False, False]
