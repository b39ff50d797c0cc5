"""Training from start to end."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path

import torch
from torch.nn import functional as F
from torch.nn.parallel import DataParallel, DistributedDataParallel

from torchspeed.data.load import naming_worker_errors
from torchspeed.errors import TorchspeedError
from torchspeed.training.baselines import (
    LINEAR_MODEL,
    LINEAR_NAME,
    LinearForecaster,
    linear_config,
)
from torchspeed.training.checkpoint import check_new, load_checkpoint, save, save_checkpoint
from torchspeed.training.config import RunConfig
from torchspeed.training.context import ALONE, NOBODY, Observer, RunContext
from torchspeed.training.forecasts import ForecastReport
from torchspeed.training.group import Group
from torchspeed.training.loop import LoopResult
from torchspeed.training.results import EpochRecord, RunResult, time_to_accuracy
from torchspeed.training.state import TrainingState
from torchspeed.training.steps import InferenceStep, Loss, Network, TrainingStep


@naming_worker_errors()
def train(
    config: RunConfig,
    *,
    observer: Observer = NOBODY,
    checkpoint: Path | None = None,
    resume: bool = False,
    save_best: Path | None = None,
    group: Group = ALONE,
) -> RunResult:
    """Train for ``config.epochs``, or until the target accuracy is reached.

    Args:
        config: what to do.
        observer: called after each step and epoch.
        checkpoint: file that the state is written to after each epoch.
        resume: whether to continue from ``checkpoint``.
        save_best: file for the parameters of the best epoch.
        group: the ranks that train together; each batch of the optimiser is then
            ``world`` batches of ``config.batch_size``.

    Raises:
        TorchspeedError: impossible configuration, unreadable data, bad checkpoint, dead worker.
    """
    run = RunContext.prepared(config, group, observer, trains=True)
    trainer = _Trainer(run)
    if checkpoint is not None:
        if resume:
            trainer.state.restore(load_checkpoint(checkpoint, run.config, group.world),
                                    group.rank)  # fmt: skip
        else:
            check_new(checkpoint)
    run.announce()
    while trainer.goes_on():
        loop, record = trainer.epoch()
        _check_finite(loop, record, checkpoint)
        if checkpoint is not None:
            state = trainer.state.shared_state()
            states = group.gather(trainer.state.rank_state())
            if group.leads:
                save_checkpoint(checkpoint, run.config, state, states)
    if save_best is not None and group.leads:
        save(save_best, trainer.state.best)
    return trainer.result()


class _Trainer:
    """A model in training on one rank, epoch by epoch."""

    def __init__(self, run: RunContext) -> None:
        config = run.config
        torch.manual_seed(config.seed + run.group.rank)  # the same model, other dropout
        if config.target_accuracy is not None and run.data.classes is None:
            raise TorchspeedError(
                f"{run.data.name} is a forecast and has no accuracy; leave out --target-accuracy"
            )
        self.run = run
        self.batches = run.batches(run.data.train, shuffle=True)
        self.steps = run.steps(len(self.batches), config.epochs)
        model = run.network.model
        self.state = TrainingState(model, config)
        if run.group.world > 1:
            model = _replicated(run.network)
        elif config.strategy == "dp":
            model = DataParallel(model)  # on all GPUs; parts of each batch, in threads
        network = replace(run.network, model=model, loss=_training_loss(run.network, config))
        self.step = TrainingStep(network, self.state)
        validation = run.data.validation
        self.validates = validation is not None
        self.held_out = run.batches(run.data.test if validation is None else validation)
        self._warmup = config.warmup

    def goes_on(self) -> bool:
        """Tell whether there is another epoch."""
        done, config = self.state.epochs, self.run.config
        return len(done) < config.epochs and not (done and done[-1].reaches(config.target_share))

    def epoch(self) -> tuple[LoopResult, EpochRecord]:
        """Train for an epoch, and test."""
        run, number = self.run, len(self.state.epochs)
        rate = float(self.state.schedule.get_last_lr()[0])
        run.network.model.train()
        run.observer.begin(f"epoch {number + 1} of {run.config.epochs}", self.steps)
        loop = run.loop(
            run.epoch(self.batches, number), self.step, warmup=self._warmup, observer=run.observer
        )
        self._warmup = 0
        began = time.perf_counter()
        tested = self._test()
        evaluation_s = time.perf_counter() - began
        trained = run.sum_up(loop)
        record = EpochRecord(
            number=number + 1,
            rate=rate,
            train_loss=trained.loss,
            train_accuracy=run.accuracy(trained),
            validation_loss=tested.loss if self.validates else None,
            test_loss=None if self.validates else tested.loss,
            test_accuracy=run.accuracy(tested),
            wall_s=loop.warmup_s + loop.wall_s,
            evaluation_s=evaluation_s,
        )
        self.state.record(record, loop)
        run.observer.epoch(record)
        return loop, record

    def _test(self) -> LoopResult:
        self.run.network.model.eval()
        loop = self.run.loop(iter(self.held_out), InferenceStep(self.run.network))
        return self.run.sum_up(loop)

    def result(self) -> RunResult:
        """Return what all ranks measured, and how good the best epoch's forecasts are."""
        state = self.state
        last, target = state.epochs[-1], self.run.config.target_share
        result = self.run.result("train", state.loops, last.train_loss, last.test_accuracy)
        return replace(
            result,
            epochs=state.epochs,
            time_to_accuracy=time_to_accuracy(
                state.epochs, state.loops, result.ranks[0].phases, target
            ),
            forecast=self._forecast(),
        )

    def _forecast(self) -> ForecastReport | None:
        if self.run.data.scale is None:
            return None
        if self.state.best_epoch is None:
            raise TorchspeedError(
                "the validation loss was not finite after any epoch; give a smaller --rate"
            )
        self.run.network.model.load_state_dict(self.state.best)
        is_linear = self.run.config.model == LINEAR_MODEL
        others = {} if is_linear else {LINEAR_NAME: self._linear()}
        return self.run.forecast_report(self.run.network, self.state.best_epoch, others)

    def _linear(self) -> Network:
        """Train `LINEAR_MODEL` on the same windows by its own recipe; its best epoch is tested."""
        run = self.run
        config = linear_config(run.config)
        torch.manual_seed(config.seed)
        model = LinearForecaster(run.data).to(run.network.device)
        network = Network(model, F.mse_loss, run.network.device)
        trainer = _Trainer(replace(run, config=config, network=network, observer=NOBODY))
        while trainer.goes_on():
            trainer.epoch()
        if trainer.state.best_epoch is not None:
            network.model.load_state_dict(trainer.state.best)
        return network


def _check_finite(loop: LoopResult, record: EpochRecord, checkpoint: Path | None) -> None:
    """Stop a run whose loss has become infinite or NaN; the checkpoint before it is kept."""
    if math.isfinite(record.train_loss):
        return
    step = "" if loop.not_finite_step is None else f", step {loop.not_finite_step + 1}"
    kept = f"; {checkpoint} holds the last good epoch" if checkpoint and record.number > 1 else ""
    raise TorchspeedError(
        f"the training loss is not finite in epoch {record.number}{step}; give a smaller --rate "
        f"or another --precision{kept}"
    )


def _training_loss(network: Network, config: RunConfig) -> Loss:
    if config.loss == "squared":
        return network.loss
    if network.loss is not F.mse_loss:
        raise TorchspeedError(
            f"{config.model} is trained to classify, not to forecast; leave out --loss"
        )
    return F.l1_loss


def _replicated(network: Network) -> DistributedDataParallel:
    ids = [network.device.index] if network.device.type == "cuda" else None
    return DistributedDataParallel(network.model, device_ids=ids)
