"""A run on this rank, whatever it does: its model, its data, its batches and its result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from torchspeed.data.dataset import Data
from torchspeed.data.load import make_loader
from torchspeed.errors import TorchspeedError
from torchspeed.training import ranks
from torchspeed.training.config import PATIENCE, RunConfig, complete
from torchspeed.training.forecasts import ForecastReport, forecast_report
from torchspeed.training.loop import LoopResult, LossFunction, PhaseClock, Step, run_loop
from torchspeed.training.prepare import prepare
from torchspeed.training.results import EpochRecord, RunResult, rank_times


class Observer:
    """Callbacks for the progress of a run; those of this class do nothing."""

    def prepared(self, summary: str, steps: int) -> None:
        """Note that model and data are ready and the run begins, which has so many steps."""

    def step(self) -> None:
        """Note that a step is done."""

    def epoch(self, record: EpochRecord) -> None:
        """Note that an epoch and its test are done."""


NOBODY = Observer()

WARMUP = 1
"""First steps of a run, which are not measured."""
FEWEST_DUMMY_ITEMS, DUMMY_STEPS = 1000, 50
"""Fewest items of dummy data, and the training steps they last for; a fifth as many are tested."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run on this rank."""

    config: RunConfig
    model: nn.Module
    data: Data
    loss: LossFunction
    observer: Observer = NOBODY

    @classmethod
    def prepared(cls, config: RunConfig, observer: Observer, *, trains: bool = False) -> Run:
        """Open the data and make the model, on the device of this rank."""
        config = complete(replace(config, device=ranks.own_device(config.device)))
        if config.threads is not None:
            torch.set_num_threads(config.threads)
        options = replace(config.data_options, seed=config.seed)
        if config.data == "dummy" and options.items is None:
            items = max(FEWEST_DUMMY_ITEMS, DUMMY_STEPS * config.batch_size * ranks.world())
            options = replace(options, items=items)
        config = replace(config, data_options=options)
        model, data, loss = prepare(config, trains=trains)
        if config.patience is None:
            # A cosine reaches its small rates, with the least losses, only at its end.
            stops = data.validation is not None and not config.cosine
            config = replace(config, patience=PATIENCE if stops else 0)
        return cls(config, model, data, loss, observer)

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return torch.device(self.config.device)

    @property
    def parameters(self) -> int:
        """Trainable parameters of the model."""
        return sum(p.numel() for p in self.model.parameters() if p.requires_grad)

    def announce(self, steps: int) -> None:
        """Tell the observer what is about to run, and how many steps."""
        config, data = self.config, self.data
        splits = {"to train on": data.train, "to validate with": data.validation,
                  "to test on": data.test}  # fmt: skip
        items: dict[str, Any] = {name: part for name, part in splits.items() if part is not None}
        counts = ", ".join(f"{len(part):,} {name}" for name, part in items.items())
        self.observer.prepared(
            f"{config.model}, {self.parameters:,} parameters, on {config.device}; {config.data}: "
            f"{counts}; {data.source}",
            steps,
        )

    def loader(self, items: Dataset[Any], order: Iterable[int] | None = None) -> DataLoader[Any]:
        """Return the batches of some items: those of indices, in order, or all, shuffled."""
        return make_loader(
            items,
            self.config.batch_size,
            workers=self.config.workers,
            sampler=order,
            pin_memory=self.device.type == "cuda",
        )

    def steps(self, available: int, epochs: int = 1) -> int:
        """Return the number of steps of a loop over a number of batches.

        Raises:
            TorchspeedError: none would be left after the warm-up.
        """
        steps = min(available, self.config.limit_batches or available)
        if epochs * steps <= WARMUP:
            raise TorchspeedError(
                "the only step would be warm-up; give a smaller --batch-size, or more batches"
            )
        return steps

    def place(self, batch: Any) -> tuple[Tensor, Tensor]:
        """Return inputs and targets, moved to the device."""
        inputs, targets = batch
        device = self.device
        return inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)

    def forward(
        self, model: nn.Module, loss: LossFunction, inputs: Tensor, targets: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the outputs of a model and their loss."""
        mixed = self.config.precision == "bf16-mixed"
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=mixed):
            outputs = model(inputs)
            return outputs, loss(outputs, targets)

    @torch.inference_mode()
    def infer(self, batch: Any, clock: PhaseClock) -> tuple[Tensor, Tensor, Tensor]:
        """Make a step of inference: forward pass and loss."""
        inputs, targets = self.place(batch)
        clock.mark()
        outputs, loss = self.forward(self.model, self.loss, inputs, targets)
        clock.mark()
        return loss, outputs, targets

    def loop(
        self, batches: Iterable[Any], step: Step, *, warmup: int = 0, observer: Observer = NOBODY
    ) -> LoopResult:
        """Run a step on each batch; the model's mode is the caller's choice."""
        return run_loop(
            batches,
            step,
            self.device,
            limit=self.config.limit_batches,
            warmup=warmup,
            on_step=observer.step,
        )

    def forecast_report(self, epoch: int | None) -> ForecastReport | None:
        """Judge the model's forecasts of the test items; None unless they are of a series.

        The parameters are those after an ``epoch``, or None if nothing was trained.
        """
        data = self.data
        if data.scale is None:
            return None
        self.model.eval()
        batches = self.loader(data.test, range(len(data.test)))  # type: ignore[arg-type]
        with torch.inference_mode():
            outputs = [
                self.forward(self.model, self.loss, *self.place(batch))[0].float().cpu()
                for batch in islice(batches, self.config.limit_batches)
            ]
        horizon = self.config.data_options.horizon
        return forecast_report(data, data.scale, horizon, torch.cat(outputs), epoch)

    def accuracy(self, loop: LoopResult) -> float | None:
        """Return the share of items classified correctly; None for a forecast."""
        return loop.accuracy if self.data.classes else None

    def result(
        self, command: str, loops: list[LoopResult], loss: float, accuracy: float | None
    ) -> RunResult:
        """Return what all ranks measured, without the records of training."""
        cuda = self.device.type == "cuda"
        return RunResult(
            command=command,
            config=self.config.as_dict(),
            parameters=self.parameters,
            device_name=torch.cuda.get_device_name(self.device) if cuda else "cpu",
            threads=torch.get_num_threads(),
            ranks=ranks.gather(rank_times(ranks.rank(), loops)),
            loss=loss,
            accuracy=accuracy,
        )


def read_saved(path: Path) -> dict[str, Any]:
    """Read the state of a training, or parameters alone, that `torch.save` wrote.

    Raises:
        TorchspeedError: missing or damaged file.
    """
    if not path.exists():
        raise TorchspeedError(
            f"no checkpoint {path}; leave out --resume or --weights, or give a file that exists"
        )
    try:
        saved: Any = torch.load(path, weights_only=True, map_location="cpu")
    except PermissionError:
        raise
    except Exception:  # torch raises anything for a damaged file
        saved = None
    if not isinstance(saved, dict):
        raise TorchspeedError(
            f"{path} is damaged or not a checkpoint of this version; delete it and begin anew"
        )
    return saved


def summed(loop: LoopResult) -> LoopResult:
    """Return the sums of items, loss and correct answers over all ranks."""
    parts = ranks.gather((loop.items, loop.loss_sum, loop.correct))
    items, loss_sum, correct = (sum(column) for column in zip(*parts, strict=True))
    return LoopResult(items=items, loss_sum=loss_sum, correct=correct)
