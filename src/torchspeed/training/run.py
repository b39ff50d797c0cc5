"""The three modes from start to end: train, inference, smooth inference."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from torchspeed.data.dataset import Data
from torchspeed.data.loader import Batches, naming_dead_workers
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
from torchspeed.training.loop import LoopResult, Step, run_loop
from torchspeed.training.phases import StepTimes, timeline_for
from torchspeed.training.prepare import prepare
from torchspeed.training.results import (
    EpochRecord,
    RunResult,
    phase_totals,
    rank_times,
    time_to_accuracy,
)
from torchspeed.training.steps import InferenceStep, Network, SmoothInferenceStep, TrainingStep


class Observer:
    """Is called as a run proceeds; this one ignores the calls."""

    def begin(self, title: str, steps: int) -> None:
        """A loop of so many steps starts."""

    def step(self, items: int, times: StepTimes) -> None:
        """A step is done."""

    def epoch(self, record: EpochRecord) -> None:
        """An epoch and its test are done."""


ALONE = Group()
NOBODY = Observer()


@dataclass(frozen=True, slots=True)
class _Run:
    """What a run in any mode needs, on this rank."""

    config: RunConfig
    network: Network
    data: Data
    group: Group
    observer: Observer

    @classmethod
    def prepared(cls, config: RunConfig, group: Group, observer: Observer) -> _Run:
        """Open the data and make the model, on the device of this rank."""
        config = replace(config, device=group.device(config.device))
        network, data = prepare(config)
        check_memory(data, config.batch_size, config.workers, group.world)
        return cls(config, network, data, group, observer)

    def batches(self, *, training: bool) -> Batches:
        """This rank's batches of the training or the test items."""
        return Batches(
            self.data.train if training else self.data.test,
            self.config.batch_size,
            workers=self.config.workers,
            shuffle=training,
            seed=self.config.seed,
            rank=self.group.rank,
            world=self.group.world,
            pin_memory=self.network.device.type == "cuda",
        )

    def steps(self, available: int, epochs: int = 1) -> int:
        """Steps of a loop over so many batches.

        Raises:
            TorchspeedError: all of them would be warm-up, which ends with the first loop.
        """
        steps = min(available, self.config.limit_batches or available)
        if epochs * steps <= min(self.config.warmup, steps):
            raise TorchspeedError(
                f"all {epochs * steps} steps would be warm-up; give a smaller --batch-size or "
                "--warmup, or more batches"
            )
        return steps

    def loop(
        self, batches: Iterator[Any], step: Step, *, warmup: int = 0, observer: Observer = NOBODY
    ) -> LoopResult:
        """Run a step on each batch; the model's mode is the caller's choice."""
        return run_loop(
            batches,
            step,
            timeline_for(self.network.device),
            limit=self.config.limit_batches,
            warmup=warmup,
            on_step=observer.step,
        )

    def inference(
        self, mode: str, batches: Iterator[Any], available: int, step: Step
    ) -> RunResult:
        """The result of one loop over so many batches without training."""
        self.observer.begin(mode.replace("-", " "), self.steps(available))
        self.network.model.eval()
        loop = self.loop(batches, step, warmup=self.config.warmup, observer=self.observer)
        summed = self.sum_up(loop)
        return self.result(mode, [loop], summed.loss, self.accuracy(summed))

    def sum_up(self, loop: LoopResult) -> LoopResult:
        """Items, loss and right answers of all ranks."""
        parts = self.group.gather((loop.items, loop.loss_sum, loop.right))
        items, loss_sum, right = (sum(column) for column in zip(*parts, strict=True))
        return LoopResult(items=items, loss_sum=loss_sum, right=right)

    def accuracy(self, loop: LoopResult) -> float | None:
        """Share of items classified correctly; None for a forecast."""
        return loop.accuracy if self.data.classes else None

    def result(
        self, mode: str, loops: list[LoopResult], loss: float, accuracy: float | None
    ) -> RunResult:
        """What all ranks measured, without the records of training."""
        device = self.network.device
        parameters = (p.numel() for p in self.network.model.parameters() if p.requires_grad)
        return RunResult(
            mode=mode,
            config=self.config.as_dict(),
            parameters=sum(parameters),
            device_name=torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
            world=self.group.world,
            warmup_steps=sum(len(loop.warmup) for loop in loops),
            ranks=self.group.gather(rank_times(self.group.rank, loops)),
            loss=loss,
            accuracy=accuracy,
        )


@naming_dead_workers()
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
        observer: called after each step and epoch.
        checkpoint: file to keep the state in after each epoch.
        resume: whether to go on from ``checkpoint``.
        group: the ranks that train together; each batch of the optimiser is then
            ``world`` batches of ``config.batch_size``.

    Raises:
        TorchspeedError: impossible configuration, unreadable data, bad checkpoint, dead worker.
    """
    run = _Run.prepared(config, group, observer)
    config, network = run.config, run.network
    torch.manual_seed(config.seed + group.rank)  # the same model, other dropout
    if config.target_accuracy is not None and run.data.classes is None:
        raise TorchspeedError(
            f"{run.data.name} is a forecast and has no accuracy; leave out --target-accuracy"
        )
    batches = run.batches(training=True)
    steps = run.steps(len(batches), config.epochs)
    trainee = Trainee(network.model, config)
    if checkpoint is not None:
        if resume:
            trainee.restore(load_checkpoint(checkpoint, config, group.world), group.rank)
        else:
            check_new(checkpoint)
    replicated = replace(network, model=_replicated(network, group))
    step = TrainingStep(replicated, trainee.optimiser, trainee.scaler)
    test = run.batches(training=False)
    warmup = config.warmup
    for number in range(len(trainee.epochs), config.epochs):
        if trainee.epochs and trainee.epochs[-1].reaches(config.target_accuracy):
            break
        rate = float(trainee.schedule.get_last_lr()[0])
        network.model.train()
        observer.begin(f"epoch {number + 1} of {config.epochs}", steps)
        loop = run.loop(batches.epoch(number), step, warmup=warmup, observer=observer)
        warmup = 0
        trainee.schedule.step()
        evaluation_began = time.perf_counter()
        network.model.eval()
        evaluation = run.loop(test.epoch(0), InferenceStep(network))
        evaluation_s = time.perf_counter() - evaluation_began
        trained, tested = run.sum_up(loop), run.sum_up(evaluation)
        trainee.loops.append(loop)
        trainee.epochs.append(
            EpochRecord(
                number=number + 1,
                rate=rate,
                train_loss=trained.loss,
                train_accuracy=run.accuracy(trained),
                test_loss=tested.loss,
                test_accuracy=run.accuracy(tested),
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
    return replace(
        run.result("train", trainee.loops, last.train_loss, last.test_accuracy),
        epochs=trainee.epochs,
        time_to_accuracy=time_to_accuracy(trainee.epochs, config.target_accuracy),
    )


@naming_dead_workers()
def infer(config: RunConfig, *, observer: Observer = NOBODY, group: Group = ALONE) -> RunResult:
    """One pass over the test items, batch by batch.

    Raises:
        TorchspeedError: impossible configuration, unreadable data, or a dead worker.
    """
    run = _Run.prepared(config, group, observer)
    batches = run.batches(training=False)
    return run.inference("inference", batches.epoch(0), len(batches), InferenceStep(run.network))


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
    run = _Run.prepared(config, group, observer)
    items: Any = run.data.test
    indices = range(group.rank, len(items), group.world)
    repeated = chain.from_iterable(repeat(items[index], passes) for index in indices)
    step = SmoothInferenceStep(run.network, config.batch_size, config.seed)
    return run.inference("smooth-inference", repeated, len(indices) * passes, step)


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


def _replicated(network: Network, group: Group) -> nn.Module:
    if group.world == 1:
        return network.model
    ids = [network.device.index] if network.device.type == "cuda" else None
    return DistributedDataParallel(network.model, device_ids=ids)
