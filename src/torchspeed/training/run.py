"""The three modes from start to end: train, inference, smooth inference."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from torchspeed.data.loader import Batches
from torchspeed.errors import TorchspeedError
from torchspeed.training.checkpoint import (
    Trainee,
    check_new,
    load_checkpoint,
    save_checkpoint,
)
from torchspeed.training.config import RunConfig
from torchspeed.training.group import Group
from torchspeed.training.limits import check_memory
from torchspeed.training.loop import LoopResult, run_loop
from torchspeed.training.optimisers import make_optimiser, make_schedule
from torchspeed.training.phases import StepTimes, timeline_for
from torchspeed.training.precision import grad_scaler
from torchspeed.training.prepare import Prepared, prepare
from torchspeed.training.results import (
    EpochRecord,
    RunResult,
    TimeToAccuracy,
    phase_totals,
    rank_times,
    time_to_accuracy,
)
from torchspeed.training.steps import InferenceStep, Network, SmoothInferenceStep, TrainingStep


class Observer(Protocol):
    """Who wants to know how a run goes."""

    def begin(self, title: str, steps: int) -> None:
        """A loop of so many steps starts."""
        ...

    def step(self, items: int, times: StepTimes) -> None:
        """A step is done."""
        ...

    def epoch(self, record: EpochRecord) -> None:
        """An epoch and its test are done."""
        ...


class Unobserved:
    """Nobody looks on."""

    def begin(self, title: str, steps: int) -> None:
        """Nothing."""

    def step(self, items: int, times: StepTimes) -> None:
        """Nothing."""

    def epoch(self, record: EpochRecord) -> None:
        """Nothing."""


ALONE = Group()
NOBODY = Unobserved()


def train(
    config: RunConfig,
    *,
    observer: Observer = NOBODY,
    checkpoint: Path | None = None,
    resume: bool = False,
    group: Group = ALONE,
) -> RunResult:
    """Train for ``config.epochs``, or until the target accuracy is reached.

    Args:
        config: what to do.
        observer: told of each step and epoch.
        checkpoint: file to keep the state in after each epoch.
        resume: whether to go on from ``checkpoint``.
        group: the ranks that train together; each batch of the optimiser is then
            ``world`` batches of ``config.batch_size``.

    Raises:
        TorchspeedError: impossible configuration, unreadable data, bad checkpoint.
    """
    config = replace(config, device=group.device(config.device))
    prepared = prepare(config)
    check_memory(prepared.data, config.batch_size, config.workers, group.world)
    network, data = prepared.network, prepared.data
    torch.manual_seed(config.seed + group.rank)  # the same model, other dropout
    if config.target_accuracy is not None and data.classes is None:
        raise TorchspeedError(
            f"{data.name} is a forecast and has no accuracy; leave out --target-accuracy"
        )
    batches = _batches(prepared, config, group, training=True)
    steps = _steps(batches, config)
    _check_warmup(config, config.epochs * steps, steps)
    optimiser = make_optimiser(
        config.optimiser,
        network.model.parameters(),
        rate=config.rate,
        momentum=config.momentum,
        weight_decay=config.weight_decay,
    )
    schedule = make_schedule(config.schedule, optimiser, config.schedule_span)
    scaler = grad_scaler(config.precision, network.device)
    trainee = Trainee(network.model, optimiser, schedule, scaler)
    if checkpoint is not None:
        if resume:
            trainee.restore(load_checkpoint(checkpoint, config, group.world), group.rank)
        else:
            check_new(checkpoint)
    step = TrainingStep(replace(network, model=_replicated(network, group)), optimiser, scaler)
    test = _batches(prepared, config, group, training=False)
    warmup = config.warmup
    for number in range(len(trainee.epochs), config.epochs):
        if _reached(trainee.epochs, config.target_accuracy):
            break
        rate = schedule.get_last_lr()[0]
        network.model.train()
        observer.begin(f"epoch {number + 1} of {config.epochs}", steps)
        loop = run_loop(
            batches.epoch(number),
            step,
            timeline_for(network.device),
            limit=config.limit_batches,
            warmup=warmup,
            on_step=observer.step,
        )
        warmup = 0
        schedule.step()
        evaluation_began = time.perf_counter()
        evaluation = _evaluate(network, test, config)
        evaluation_s = time.perf_counter() - evaluation_began
        trained, tested = _sum_up(group, loop), _sum_up(group, evaluation)
        trainee.loops.append(loop)
        trainee.epochs.append(
            EpochRecord(
                number=number + 1,
                rate=float(rate),
                train_loss=trained.loss,
                train_accuracy=trained.accuracy if data.classes else None,
                test_loss=tested.loss,
                test_accuracy=tested.accuracy if data.classes else None,
                wall_s=loop.warmup_s + loop.wall_s,
                phases_s=phase_totals(loop),
                evaluation_s=evaluation_s,
            )
        )
        observer.epoch(trainee.epochs[-1])
        _check_finite(loop, number + 1, trained.loss, checkpoint)
        if checkpoint is not None:
            states = group.gather(trainee.state_of_rank())
            if group.leads:
                save_checkpoint(checkpoint, config, trainee, states)
    last = trainee.epochs[-1]
    return _result(
        "train",
        config,
        prepared,
        group,
        trainee.loops,
        loss=last.train_loss,
        accuracy=last.test_accuracy,
        epochs=trainee.epochs,
        columns=time_to_accuracy(trainee.epochs, config.target_accuracy),
    )


def _check_finite(loop: LoopResult, epoch: int, loss: float, checkpoint: Path | None) -> None:
    """Stop a run whose loss has become infinite or NaN; the checkpoint before it is kept.

    Raises:
        TorchspeedError: the loss of some step of this rank, or of the epoch, is not finite.
    """
    if math.isfinite(loss):
        return
    step = "" if loop.not_finite_step is None else f", step {loop.not_finite_step + 1}"
    kept = f"; {checkpoint} holds the last good epoch" if checkpoint and epoch > 1 else ""
    raise TorchspeedError(
        f"the training loss is not finite in epoch {epoch}{step}; give a smaller --rate or "
        f"another --precision{kept}"
    )


def infer(config: RunConfig, *, observer: Observer = NOBODY, group: Group = ALONE) -> RunResult:
    """One pass over the test items, batch by batch.

    Raises:
        TorchspeedError: impossible configuration or unreadable data.
    """
    config = replace(config, device=group.device(config.device))
    prepared = prepare(config)
    check_memory(prepared.data, config.batch_size, config.workers, group.world)
    batches = _batches(prepared, config, group, training=False)
    steps = _steps(batches, config)
    _check_warmup(config, steps, steps)
    observer.begin("inference", steps)
    prepared.network.model.eval()
    loop = run_loop(
        batches.epoch(0),
        InferenceStep(prepared.network),
        timeline_for(prepared.network.device),
        limit=config.limit_batches,
        warmup=config.warmup,
        on_step=observer.step,
    )
    summed = _sum_up(group, loop)
    accuracy = summed.accuracy if prepared.data.classes else None
    return _result(
        "inference", config, prepared, group, [loop], loss=summed.loss, accuracy=accuracy
    )


def infer_smoothly(
    config: RunConfig,
    *,
    passes: int = 1,
    observer: Observer = NOBODY,
    group: Group = ALONE,
) -> RunResult:
    """Each test item repeated to a full batch with Gaussian noise, ``passes`` times over.

    As in BenchmarkJade the item is read in the run's own process: workers are
    not used. Items are read anew for each, not for each pass.

    Raises:
        TorchspeedError: impossible configuration or unreadable data.
    """
    config = replace(config, device=group.device(config.device))
    prepared = prepare(config)
    items = range(group.rank, len(prepared.data.test), group.world)  # type: ignore[arg-type]
    steps = min(len(items) * passes, config.limit_batches or len(items) * passes)
    _check_warmup(config, steps, steps)
    observer.begin("smooth inference", steps)
    prepared.network.model.eval()
    loop = run_loop(
        _repeated(prepared.data.test, items, passes),
        SmoothInferenceStep(prepared.network, config.batch_size, config.seed),
        timeline_for(prepared.network.device),
        limit=config.limit_batches,
        warmup=config.warmup,
        on_step=observer.step,
    )
    summed = _sum_up(group, loop)
    accuracy = summed.accuracy if prepared.data.classes else None
    return _result(
        "smooth-inference", config, prepared, group, [loop], loss=summed.loss, accuracy=accuracy
    )


def _batches(prepared: Prepared, config: RunConfig, group: Group, *, training: bool) -> Batches:
    return Batches(
        prepared.data.train if training else prepared.data.test,
        config.batch_size,
        workers=config.workers,
        shuffle=training,
        seed=config.seed,
        rank=group.rank,
        world=group.world,
        pin_memory=prepared.network.device.type == "cuda",
    )


def _steps(batches: Batches, config: RunConfig) -> int:
    return min(len(batches), config.limit_batches or len(batches))


def _check_warmup(config: RunConfig, steps: int, first_loop: int) -> None:
    """Warm-up ends with the first loop; something must be left to measure."""
    if steps <= min(config.warmup, first_loop):
        raise TorchspeedError(
            f"all {steps} steps would be warm-up; give a smaller --batch-size or --warmup, or "
            "more batches"
        )


def _replicated(network: Network, group: Group) -> nn.Module:
    if group.world == 1:
        return network.model
    ids = [network.device.index] if network.device.type == "cuda" else None
    return DistributedDataParallel(network.model, device_ids=ids)


def _evaluate(network: Network, batches: Batches, config: RunConfig) -> LoopResult:
    network.model.eval()
    return run_loop(
        batches.epoch(0),
        InferenceStep(network),
        timeline_for(network.device),
        limit=config.limit_batches,
    )


def _reached(epochs: list[EpochRecord], target: float | None) -> bool:
    if target is None or not epochs:
        return False
    accuracy = epochs[-1].test_accuracy
    return accuracy is not None and accuracy >= target


def _repeated(items: Any, indices: range, passes: int) -> Iterator[Any]:
    for index in indices:
        item = items[index]
        for _ in range(passes):
            yield item


def _sum_up(group: Group, loop: LoopResult) -> LoopResult:
    """Items, loss and right answers of all ranks."""
    parts = group.gather((loop.items, loop.loss_sum, loop.right))
    items, loss_sum, right = (sum(column) for column in zip(*parts, strict=True))
    return LoopResult(items=items, loss_sum=loss_sum, right=right)


def _result(
    mode: str,
    config: RunConfig,
    prepared: Prepared,
    group: Group,
    loops: list[LoopResult],
    *,
    loss: float,
    accuracy: float | None,
    epochs: list[EpochRecord] | None = None,
    columns: TimeToAccuracy | None = None,
) -> RunResult:
    device = prepared.network.device
    parameters = (p.numel() for p in prepared.network.model.parameters() if p.requires_grad)
    return RunResult(
        mode=mode,
        config=config.as_dict(),
        parameters=sum(parameters),
        device_name=torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        world=group.world,
        warmup_steps=sum(len(loop.warmup) for loop in loops),
        ranks=group.gather(rank_times(group.rank, loops)),
        loss=loss,
        accuracy=accuracy,
        epochs=epochs or [],
        time_to_accuracy=columns,
    )
