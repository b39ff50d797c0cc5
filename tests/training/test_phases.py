from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from torchspeed.data.dataset import Data
from torchspeed.training.config import Observer, RunConfig
from torchspeed.training.phases import Phase, PhaseClock, summarise
from torchspeed.training.run import Run, SmoothRun
from torchspeed.training.train import Trainer

ITEMS: Any = [(torch.zeros(4), 0)] * 20


def run_of(model: nn.Module, kind: type[Run] = Run, **options: Any) -> Run:
    data = Data("a test", ITEMS, ITEMS, (4,), 3, "a test")
    config = RunConfig(optimiser="sgd", rate=0.01, epochs=1, **options)
    return kind(config, model, data, nn.functional.cross_entropy)


TAKES = {Phase.LOADING: 1.0, Phase.PROCESSING: 2.0, Phase.FORWARD: 4.0, Phase.BACKWARD: 8.0}
"""Seconds of each phase of a step."""
BETWEEN = 16.0
"""Seconds between two steps."""


class Clock:
    """A clock that runs only while a part of a step works, in place of the module ``time``."""

    now = 0.0

    def perf_counter(self) -> float:
        return self.now

    process_time = perf_counter

    def work(self, seconds: float) -> None:
        self.now += seconds


def test_phases_have_their_times_and_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    for module in ("phases", "run"):
        monkeypatch.setattr(f"torchspeed.training.{module}.time", clock)

    class Model(nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            clock.work(TAKES[Phase.FORWARD])
            out = super().forward(x)
            out.register_hook(lambda _gradient: clock.work(TAKES[Phase.BACKWARD]))
            return out

    class Moved:
        """Inputs that take their time to get to the device."""

        def to(self, device: torch.device, **_: Any) -> Tensor:
            clock.work(TAKES[Phase.PROCESSING])
            return torch.randn(5, 4, device=device)

    def batches() -> Iterator[Any]:
        while True:
            clock.work(TAKES[Phase.LOADING])
            yield Moved(), torch.randint(3, (5,))

    class Shows(Observer):
        def step(self) -> None:
            clock.work(BETWEEN)

    run = run_of(Model(4, 3), batch_size=5, limit_batches=10)
    result = run.loop(batches(), Trainer(run)._step, warmup=2, observer=Shows())
    assert result.steps == [TAKES] * 8
    assert result.warmup == [TAKES] * 2
    whole = sum(TAKES.values()) + BETWEEN
    assert (result.warmup_s, result.wall_s, result.cpu_s) == (2 * whole, 8 * whole, 10 * whole)
    for phase, summary in summarise(result.steps, result.warmup).items():
        took = TAKES[Phase(phase)]
        assert (summary.median_s, summary.iqr_s, summary.total_s) == (took, 0, 10 * took)


@pytest.mark.needs("CUDA")
def test_gpu_work_is_charged_to_the_phase_that_launched_it() -> None:
    cycles = 200_000_000  # about 0.1 s of a busy GPU
    clock = PhaseClock(torch.device("cuda"))
    began = clock.wait()
    for busy in Phase:
        clock.begin()
        for phase in Phase:
            if phase is busy:
                torch.cuda._sleep(cycles)
            clock.mark()
    span = clock.wait() - began
    times = clock.times()
    for busy, step in zip(Phase, times, strict=True):
        assert step[busy] > 0.9 * sum(step.values())
    assert sum(sum(step.values()) for step in times) == pytest.approx(span, rel=0.02)


def test_smooth_inference_fills_a_batch_with_noisy_copies() -> None:
    seen: list[Tensor] = []

    class Remember(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            seen.append(x.clone())
            return x.flatten(1)[:, :3]

    run = run_of(Remember(), SmoothRun, batch_size=4000)
    item = torch.randn(2, 3, 3)
    result = run.loop([(item, 1), (item, 1)], run.infer)
    assert result.measured_items == 8000
    noise = seen[0] - item
    assert noise.shape == (4000, 2, 3, 3)
    assert noise.std().item() == pytest.approx(0.25, rel=0.02)
    assert noise.mean().item() == pytest.approx(0, abs=0.005)
    assert not torch.equal(seen[0], seen[1])
