import operator
import time
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.gpu import needs_gpu
from torchspeed.data.dataset import Data
from torchspeed.training.config import Observer, RunConfig
from torchspeed.training.phases import Phase, PhaseClock, summarise
from torchspeed.training.run import Run, SmoothRun
from torchspeed.training.train import Trainer


class Delay:
    """Sleeps when it is called, and keeps how long that took: a busy machine oversleeps."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.taken: list[float] = []

    def __call__(self) -> None:
        began = time.perf_counter()
        time.sleep(self.seconds)
        self.taken.append(time.perf_counter() - began)


class SlowModel(nn.Module):
    """Waits in its forward pass, and in its backward pass."""

    def __init__(self, forward_delay: Delay, backward_delay: Delay) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 3)
        self.forward_delay = forward_delay
        self.backward_delay = backward_delay

    def forward(self, x: Tensor) -> Tensor:
        self.forward_delay()
        out: Tensor = self.linear(x)
        if out.requires_grad:
            out.register_hook(self._wait)
        return out

    def _wait(self, gradient: Tensor) -> Tensor:
        self.backward_delay()
        return gradient


class SlowToMove:
    """A tensor that takes its time to get to the device."""

    def __init__(self, tensor: Tensor, delay: Delay) -> None:
        self.tensor = tensor
        self.delay = delay

    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        self.delay()
        return self.tensor.to(*args, **kwargs)


def slow_batches(count: int, loading: Delay, processing: Delay) -> Iterator[Any]:
    for _ in range(count):
        loading()
        yield SlowToMove(torch.randn(5, 4), processing), torch.randint(3, (5,))


class Shows(Observer):
    """Takes its time between two steps."""

    def __init__(self, delay: Delay) -> None:
        self.step = delay  # type: ignore[method-assign]


ITEMS: Any = [(torch.zeros(4), 0)] * 20


def run_of(model: nn.Module, kind: type[Run] = Run, **options: Any) -> Run:
    data = Data("a test", ITEMS, ITEMS, (4,), 3, "a test")
    config = RunConfig(optimiser="sgd", rate=0.01, epochs=1, **options)
    return kind(config, model, data, nn.functional.cross_entropy)


SLACK = 0.01
"""Seconds that the rest of a phase takes at most, in the step that the machine disturbs least."""


def test_planted_delays_are_charged_to_their_phase_and_add_up_to_the_wall_time() -> None:
    delays = {phase: Delay(0.01 * index) for index, phase in enumerate(Phase, start=2)}
    between = Delay(0.06)
    model = SlowModel(delays[Phase.FORWARD], delays[Phase.BACKWARD])
    run = run_of(model, batch_size=5, limit_batches=10)
    step = Trainer(run)._step
    batches = slow_batches(12, delays[Phase.LOADING], delays[Phase.PROCESSING])
    began = time.perf_counter()
    result = run.loop(batches, step, warmup=2, observer=Shows(between))
    wall = time.perf_counter() - began
    summary = summarise(result.steps, [])
    for phase, delay in delays.items():
        seconds = [times[phase] for times in result.steps]
        assert all(map(operator.ge, seconds, delay.taken[2:])), phase
        assert min(seconds) <= min(delay.taken[2:]) + SLACK, phase
    phases = sum(phase.total_s for phase in summary.values())
    assert phases + sum(between.taken[2:]) == pytest.approx(result.wall_s, rel=0.05)
    assert result.warmup_s + result.wall_s == pytest.approx(wall, rel=0.02)


@needs_gpu
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
    assert result.items == 8000
    noise = seen[0] - item
    assert noise.shape == (4000, 2, 3, 3)
    assert noise.std().item() == pytest.approx(0.25, rel=0.02)
    assert noise.mean().item() == pytest.approx(0, abs=0.005)
    assert not torch.equal(seen[0], seen[1])
