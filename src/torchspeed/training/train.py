"""Training from start to end."""

import copy
import io
import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn, optim
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.optim import lr_scheduler
from torch.utils.data import DistributedSampler

from torchspeed.data.load import naming_worker_errors
from torchspeed.errors import TorchspeedError
from torchspeed.files import write_whole
from torchspeed.training import ranks
from torchspeed.training.config import NOBODY, Observer, RunConfig
from torchspeed.training.phases import LoopResult, Phase, PhaseClock
from torchspeed.training.results import EpochRecord, RunResult, time_to_accuracy
from torchspeed.training.run import WARMUP, Run, read_saved

FREE = {"epochs", "patience", "target_accuracy", "threads", "device"}
"""Options that may differ when a run is resumed."""

MOMENTUM = 0.9
"""Momentum of SGD, as in BenchmarkJade, dl-benchmark and the Flux blog."""


@naming_worker_errors()
def train(
    config: RunConfig,
    *,
    observer: Observer = NOBODY,
    checkpoint: Path | None = None,
    resume: bool = False,
) -> RunResult:
    """Train for ``config.epochs``, until the target accuracy, or until nothing improves.

    Each batch of the optimiser is a batch of ``config.batch_size`` from every rank.
    The state is written to ``checkpoint`` after each epoch, and ``resume`` continues from it.

    Raises:
        TorchspeedError: impossible configuration, unreadable data, bad checkpoint, dead worker.
    """
    run = Run.prepared(config, observer, trains=True)
    trainer = Trainer(run)
    if checkpoint is not None and resume:
        trainer.restore(checkpoint)
    elif checkpoint is not None and checkpoint.exists():
        raise TorchspeedError(
            f"{checkpoint} exists already; give --resume to continue that run, another "
            "--checkpoint, or delete the file"
        )
    run.announce((run.config.epochs - len(trainer.epochs)) * trainer.steps)
    while trainer.goes_on():
        record = trainer.epoch()
        if not math.isfinite(record.train_loss):
            kept = f"; {checkpoint} holds the epoch before" if checkpoint else ""
            raise TorchspeedError(
                f"the training loss is not finite in epoch {record.number}; give a smaller "
                f"--rate{kept}"
            )
        if checkpoint is not None and ranks.rank() == 0:
            content = io.BytesIO()
            torch.save({"config": run.config.as_dict(), **trainer.state()}, content)
            write_whole(checkpoint, content.getvalue())
    return trainer.result()


class Trainer:
    """A model in training on one rank, epoch by epoch."""

    def __init__(self, run: Run) -> None:
        config, data = run.config, run.data
        if config.target_accuracy is not None and data.classes is None:
            raise TorchspeedError(
                f"{data.name} is a forecast and has no accuracy; leave out --target-accuracy"
            )
        self._run = run
        held_out: Any = data.test if data.validation is None else data.validation
        self._model = run.model
        self._order: DistributedSampler[Any] | None = None
        if ranks.world() > 1:
            ids = [run.device.index] if run.device.type == "cuda" else None
            self._model = DistributedDataParallel(run.model, device_ids=ids)
            self._order = DistributedSampler(data.train, seed=config.seed)
        self._batches = run.loader(data.train, self._order)
        self._held_out = run.loader(held_out, ranks.share(len(held_out)))
        self.steps = run.steps(len(self._batches), config.epochs)
        self._loss = F.l1_loss if config.absolute_error else run.loss
        parameters, rate, decay = run.model.parameters(), config.rate, config.weight_decay
        self._optimiser: optim.Optimizer
        if config.optimiser == "sgd":
            self._optimiser = optim.SGD(parameters, rate, MOMENTUM, weight_decay=decay)
        else:
            self._optimiser = optim.Adam(parameters, rate, weight_decay=decay)

        def factor(epoch: int) -> float:
            return 0.5 + 0.5 * math.cos(math.pi * epoch / config.epochs) if config.cosine else 1.0

        self._schedule = lr_scheduler.LambdaLR(self._optimiser, factor)
        self._parts: dict[str, Any] = {
            "model": run.model, "optimiser": self._optimiser, "schedule": self._schedule
        }  # fmt: skip
        self._loops: list[LoopResult] = []
        self.epochs: list[EpochRecord] = []
        self.best_epoch = 0
        """The epoch with the highest score, whose parameters are kept; 0 without any."""
        self.best: dict[str, Any] = {}
        """Parameters after that epoch."""

    def goes_on(self) -> bool:
        """Tell whether there is another epoch."""
        done, config = len(self.epochs), self._run.config
        reached = done > 0 and self.epochs[-1].reaches(config.target_share)
        return done < config.epochs and not reached and not self._stalled

    @property
    def _stalled(self) -> bool:
        patience = self._run.config.patience or 0
        return 0 < patience <= len(self.epochs) - self.best_epoch

    def epoch(self) -> EpochRecord:
        """Train for an epoch, and test."""
        run, number = self._run, len(self.epochs)
        rate = float(self._schedule.get_last_lr()[0])
        # Order and dropout follow from seed, epoch and rank, so a resumed run repeats them.
        if self._order is None:
            self._batches.generator.manual_seed(run.config.seed + number)
        else:
            self._order.set_epoch(number)
        torch.manual_seed(run.config.seed + number * ranks.world() + ranks.rank())
        run.model.train()
        warmup = 0 if self._loops else WARMUP
        loop = run.loop(self._batches, self._step, warmup=warmup, observer=run.observer)
        run.model.eval()
        tested = run.loop(self._held_out, run.infer)
        record = EpochRecord(
            number=number + 1,
            rate=rate,
            train_loss=loop.loss,
            train_accuracy=loop.accuracy,
            held_out_loss=tested.loss,
            test_accuracy=tested.accuracy,
            wall_s=loop.warmup_s + loop.wall_s,
            cpu_s=loop.cpu_s,
            loading_s=loop.total_s(Phase.LOADING, Phase.PROCESSING),
            passes_s=loop.total_s(Phase.FORWARD, Phase.BACKWARD),
        )
        best = self.epochs[self.best_epoch - 1].score if self.best_epoch else -math.inf
        if record.score > best:
            self.best_epoch = record.number
            self.best = copy.deepcopy(run.model.state_dict())
        self._schedule.step()
        self._loops.append(loop)
        self.epochs.append(record)
        run.observer.epoch(record)
        return record

    def _step(self, batch: Any, clock: PhaseClock) -> tuple[Tensor, Tensor, Tensor]:
        inputs, targets = self._run.place(batch)
        clock.mark()
        outputs, loss = self._run.forward(self._model, self._loss, inputs, targets)
        clock.mark()
        self._optimiser.zero_grad()
        loss.backward()
        if (clip_norm := self._run.config.clip_norm) is not None:
            nn.utils.clip_grad_norm_(self._model.parameters(), clip_norm)
        self._optimiser.step()
        clock.mark()
        return loss.detach(), outputs.detach(), targets

    def state(self) -> dict[str, Any]:
        """Return all that another process needs to go on."""
        return {
            **{name: part.state_dict() for name, part in self._parts.items()},
            "epochs": [asdict(record) for record in self.epochs],
            "best_epoch": self.best_epoch,
            "best": self.best,
        }

    def restore(self, file: Path) -> None:
        """Go on from a `state` in a file.

        Raises:
            TorchspeedError: missing or damaged file, or the state of another run or model.
        """
        state, config = read_saved(file), self._run.config
        free = FREE - {"epochs"} if config.cosine else FREE
        if difference := config.difference(state.get("config", {}), free):
            raise TorchspeedError(
                f"{file} comes from a run with {difference}; give the same, or another "
                "--checkpoint"
            )
        try:
            for name, part in self._parts.items():
                part.load_state_dict(state[name])
            self.epochs = [EpochRecord(**record) for record in state["epochs"]]
            self.best_epoch, self.best = state["best_epoch"], state["best"]
        except (RuntimeError, ValueError, KeyError, TypeError) as error:
            raise TorchspeedError(
                f"the checkpoint does not fit the model ({str(error).splitlines()[0]}); another "
                "version wrote it, so begin anew with another --checkpoint"
            ) from None

    def result(self) -> RunResult:
        """Return what all ranks measured, and how good the best epoch's forecasts are."""
        run, last, target = self._run, self.epochs[-1], self._run.config.target_share
        result = run.result("train", self._loops, last.train_loss, last.test_accuracy)
        if run.data.scale is not None:
            if not self.best_epoch:
                raise TorchspeedError(
                    "the validation loss was not finite after any epoch; give a smaller --rate"
                )
            run.model.load_state_dict(self.best)
        stopped = None
        if self._stalled and last.number < run.config.epochs:
            stopped = (
                f"stopped after epoch {last.number}: no improvement since epoch {self.best_epoch}"
            )
        return replace(
            result,
            epochs=self.epochs,
            stopped=stopped,
            time_to_accuracy=time_to_accuracy(self.epochs, target),
            forecast=run.forecast_report(self.best_epoch),
        )
