"""Inference and smooth inference from start to end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from torch.utils.data import DataLoader, Subset

from torchspeed.data.load import naming_worker_errors
from torchspeed.training.checkpoint import load_parameters
from torchspeed.training.config import RunConfig
from torchspeed.training.context import ALONE, NOBODY, Observer, RunContext
from torchspeed.training.group import Group
from torchspeed.training.loop import Step
from torchspeed.training.prepare import take_parameters
from torchspeed.training.results import RunResult
from torchspeed.training.steps import InferenceStep, SmoothInferenceStep

SMOOTH_ITEMS = 2000
"""Most items of smooth inference, as in BenchmarkJade."""


@naming_worker_errors()
def infer(
    config: RunConfig,
    *,
    weights: Path | None = None,
    observer: Observer = NOBODY,
    group: Group = ALONE,
) -> RunResult:
    """Run over the test items once, batch by batch.

    Without a file of ``weights`` the parameters are random, drawn from the seed.

    Raises:
        TorchspeedError: impossible configuration, unreadable data or weights, or a dead worker.
    """
    run = RunContext.prepared(config, group, observer)
    if weights is not None:
        take_parameters(run.network.model, load_parameters(weights), weights)
    batches = run.batches(run.data.test)
    step = InferenceStep(run.network)
    result = _inference(run, "inference", iter(batches), len(batches), step)
    return replace(result, forecast=run.forecast_report(run.network))


@naming_worker_errors()
def infer_smoothly(
    config: RunConfig,
    *,
    passes: int = 1,
    observer: Observer = NOBODY,
    group: Group = ALONE,
) -> RunResult:
    """Run each test item repeated to a full batch with Gaussian noise, ``passes`` times over.

    As in BenchmarkJade there are 2,000 items at most, and they are read one by one, in the run's
    own process unless there are workers. Each item is read once and used for all its passes.
    """
    run = RunContext.prepared(config, group, observer)
    available = len(run.data.test)  # type: ignore[arg-type]
    indices = range(group.rank, min(available, SMOOTH_ITEMS), group.world)
    items = DataLoader(Subset(run.data.test, indices), batch_size=None, num_workers=config.workers)
    repeated = chain.from_iterable(repeat(item, passes) for item in items)
    step = SmoothInferenceStep(run.network, config.batch_size, config.seed)
    return _inference(run, "smooth-inference", repeated, len(indices) * passes, step)


def _inference(
    run: RunContext, mode: str, batches: Iterator[Any], available: int, step: Step
) -> RunResult:
    """Return the result of one loop without training over a number of batches."""
    steps = run.steps(available)
    run.announce()
    run.observer.begin(mode.replace("-", " "), steps)
    run.network.model.eval()
    loop = run.loop(batches, step, warmup=run.config.warmup, observer=run.observer)
    summed = run.sum_up(loop)
    return run.result(mode, [loop], summed.loss, run.accuracy(summed))
