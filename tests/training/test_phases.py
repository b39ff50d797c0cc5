import operator
import time
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.gpu import needs_gpu
from torchspeed.training.config import RunConfig
from torchspeed.training.loop import run_loop
from torchspeed.training.phases import Phase, PhaseClock, summarise
from torchspeed.training.state import TrainingState
from torchspeed.training.steps import Network, SmoothInferenceStep, TrainingStep

CPU = torch.device("cpu")


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


IN_STEP = [phase for phase in Phase if phase is not Phase.BOOKKEEPING]

SLACK = 0.01
"""Seconds that the rest of a phase takes at most, in the step that the machine disturbs least."""


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def test_planted_delays_are_charged_to_their_phase_and_add_up_to_the_wall_time() -> None:
    delays = {phase: Delay(0.01 * index) for index, phase in enumerate(Phase, start=2)}
    model = SlowModel(delays[Phase.FORWARD], delays[Phase.BACKWARD])
    network = Network(model, nn.functional.cross_entropy, CPU)
    config = RunConfig(optimiser="sgd", rate=0.01, epochs=1)
    step = TrainingStep(network, TrainingState(model, config))
    batches = slow_batches(12, delays[Phase.LOADING], delays[Phase.PROCESSING])
    began = time.perf_counter()
    shown = delays[Phase.BOOKKEEPING]
    result = run_loop(
        batches, step, PhaseClock(CPU), limit=10, warmup=2, on_step=lambda *_: shown()
    )
    wall = time.perf_counter() - began
    summary = summarise(result.steps)
    for phase, delay in delays.items():
        seconds = [step[phase] for step in result.steps]
        assert all(map(operator.ge, seconds, delay.taken[2:])), phase
        assert min(seconds) <= min(delay.taken[2:]) + SLACK, phase
    phases = sum(phase.total_s for phase in summary.values())
    assert phases == pytest.approx(result.wall_s)
    assert result.warmup_s + result.wall_s == pytest.approx(wall, rel=0.02)


@needs_gpu
def test_gpu_work_is_charged_to_the_phase_that_launched_it() -> None:
    cycles = 200_000_000  # about 0.1 s of a busy GPU
    clock = PhaseClock(torch.device("cuda"))
    for busy in (Phase.PROCESSING, Phase.FORWARD, Phase.BACKWARD):
        torch.cuda.synchronize()
        began = time.perf_counter()
        clock.start()
        for phase in IN_STEP:
            if phase is busy:
                torch.cuda._sleep(cycles)
            clock.end_of(phase)
        times = clock.stop()
        span = time.perf_counter() - began
        assert times[busy] == max(times.values())
        assert times[busy] > 0.9 * span
        assert sum(times.values()) == pytest.approx(span, rel=0.02)


def test_smooth_inference_fills_a_batch_with_noisy_copies() -> None:
    seen: list[Tensor] = []

    class Remember(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            seen.append(x.clone())
            return x.flatten(1)[:, :3]

    network = Network(Remember(), nn.functional.cross_entropy, CPU)
    step = SmoothInferenceStep(network, batch_size=4000, seed=0)
    item = torch.randn(2, 3, 3)
    result = run_loop(iter([(item, 1), (item, 1)]), step, PhaseClock(CPU))
    assert result.items == 8000
    noise = seen[0] - item
    assert noise.shape == (4000, 2, 3, 3)
    assert noise.std().item() == pytest.approx(0.25, rel=0.02)
    assert noise.mean().item() == pytest.approx(0, abs=0.005)
    assert not torch.equal(seen[0], seen[1])
