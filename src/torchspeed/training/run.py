"""A run on this rank: its model, data, loops and result; and inference, the simplest one."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, Subset

from torchspeed.data.dataset import Data
from torchspeed.data.load import make_loader, naming_worker_errors
from torchspeed.errors import TorchspeedError
from torchspeed.training import ranks
from torchspeed.training.config import NOBODY, PATIENCE, Observer, RunConfig, complete
from torchspeed.training.forecasts import ForecastReport, forecast_report
from torchspeed.training.phases import LoopResult, PhaseClock, Step
from torchspeed.training.prepare import LossFunction, prepare
from torchspeed.training.results import RunResult, rank_times

WARMUP = 1
"""First steps of a run, which are not measured."""
FEWEST_DUMMY_ITEMS, DUMMY_STEPS = 1000, 50
"""Fewest items of dummy data, and the training steps they last for; a fifth as many are tested."""

SMOOTH_ITEMS, NOISE = 2000, 0.25
"""Most items of smooth inference, and the standard deviation of its noise, as in BenchmarkJade."""


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
        if config.data == "dummy" and config.items is None:
            items = max(FEWEST_DUMMY_ITEMS, DUMMY_STEPS * config.batch_size * ranks.world())
            config = replace(config, items=items)
        model, data, loss = prepare(config, trains=trains)
        if config.patience is None:
            # A cosine reaches its small rates, with the least losses, only at its end.
            stops = trains and data.validation is not None and not config.cosine
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
        splits: dict[str, Any] = {"to train on": data.train, "to validate with": data.validation,
                                  "to test on": data.test}  # fmt: skip
        sizes = (f"{len(items):,} {use}" for use, items in splits.items() if items is not None)
        self.observer.prepared(
            f"{config.model}, {self.parameters:,} parameters, on {config.device}; {config.data}: "
            f"{', '.join(sizes)}; {data.source}",
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
        """Run ``step`` on each batch, with the time of each phase; loss and accuracy of all ranks.

        Taking the next batch is the loading phase. The first ``warmup`` steps are left out of the
        times. The observer is told of each step between phases. The model's mode is the caller's
        choice.
        """
        result, clock, limit = LoopResult(), PhaseClock(self.device), self.config.limit_batches
        sizes: list[int] = []
        losses: list[Tensor] = []
        correct: list[Tensor] = []
        cpu_began, began = time.process_time(), time.perf_counter()
        source = iter(batches)
        while limit is None or len(sizes) < limit:
            clock.begin()
            batch = next(source, None)
            if batch is None:
                break
            clock.mark()
            loss, outputs, targets = step(batch, clock)
            sizes.append(len(targets))
            losses.append(loss)
            if not targets.is_floating_point():
                correct.append((outputs.argmax(1) == targets).sum())
            observer.step()
            if len(sizes) == warmup:
                result.warmup_s = clock.wait() - began
        result.wall_s = clock.wait() - began - result.warmup_s
        result.cpu_s = time.process_time() - cpu_began
        times = clock.times()
        result.warmup, result.steps = times[:warmup], times[warmup:]
        result.measured_items = sum(sizes[warmup:])
        # Reading a result waits for the device, so it is done once.
        means = torch.stack(losses).tolist() if losses else []
        loss_sum = sum(mean * items for mean, items in zip(means, sizes, strict=True))
        right = int(torch.stack(correct).sum()) if correct else 0
        parts = ranks.gather((sum(sizes), loss_sum, right))
        items, loss_sum, right = (sum(column) for column in zip(*parts, strict=True))
        result.loss = loss_sum / items if items else math.nan
        result.accuracy = right / items if items and self.data.classes else None
        return result

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
        return forecast_report(data, data.scale, self.config.horizon, torch.cat(outputs), epoch)

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
            f"{path} is damaged or not a checkpoint of this version; give another, or begin anew"
        )
    return saved


@naming_worker_errors()
def infer(
    config: RunConfig, *, weights: Path | None = None, observer: Observer = NOBODY
) -> RunResult:
    """Run over the test items once, batch by batch.

    ``weights`` is a file that ``--checkpoint`` wrote, whose best epoch counts, or any
    ``torch.save`` of a ``state_dict()``. Without it the seed draws the parameters at random.

    Raises:
        TorchspeedError: impossible configuration, unreadable data, parameters that are missing or
            of another model, or a dead worker.
    """
    run = Run.prepared(config, observer)
    if weights is not None:
        saved = read_saved(weights)
        try:
            run.model.load_state_dict(saved.get("best") or saved.get("model") or saved)
        except RuntimeError as error:
            reason = str(error).splitlines()[-1].strip()
            raise TorchspeedError(
                f"{weights} does not fit the model ({reason}); give the --model and "
                "--model-kwargs that it was trained with"
            ) from None
    batches = run.loader(run.data.test, ranks.share(len(run.data.test)))  # type: ignore[arg-type]
    result = _inference(run, "inference", batches)
    return replace(result, forecast=run.forecast_report(epoch=None))


@naming_worker_errors()
def infer_smoothly(config: RunConfig, *, observer: Observer = NOBODY) -> RunResult:
    """Run each test item repeated to a full batch with Gaussian noise.

    As in BenchmarkJade there are 2,000 items at most, and they are read one by one, in the run's
    own process unless there are workers.
    """
    run = SmoothRun.prepared(config, observer)
    available = len(run.data.test)  # type: ignore[arg-type]
    indices = ranks.share(min(available, SMOOTH_ITEMS))
    items = DataLoader(Subset(run.data.test, indices), batch_size=None, num_workers=config.workers)
    return _inference(run, "smooth-inference", items)


@dataclass(frozen=True, slots=True)
class SmoothRun(Run):
    """A run whose batches are one item each, repeated with Gaussian noise."""

    def place(self, batch: Any) -> tuple[Tensor, Tensor]:
        """Repeat an item (input, target) to a noisy batch on the device."""
        item, target = batch
        size, device = self.config.batch_size, self.device
        inputs = item.to(device).unsqueeze(0).repeat(size, *[1] * item.dim())
        inputs += NOISE * torch.randn_like(inputs)
        targets = torch.as_tensor(target, device=device)
        return inputs, targets.expand(size, *targets.shape)


def _inference(run: Run, command: str, batches: DataLoader[Any]) -> RunResult:
    run.announce(run.steps(len(batches)))
    run.model.eval()
    loop = run.loop(batches, run.infer, warmup=WARMUP, observer=run.observer)
    return run.result(command, [loop], loop.loss, loop.accuracy)
