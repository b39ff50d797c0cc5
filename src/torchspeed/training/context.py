"""The context of a run on one rank, in any mode: its model, data, batches and result."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from torchspeed.data.dataset import Data
from torchspeed.data.load import make_loader
from torchspeed.data.series import rows_of
from torchspeed.errors import TorchspeedError
from torchspeed.training.baselines import baseline_forecasts
from torchspeed.training.config import RunConfig, complete
from torchspeed.training.forecasts import ForecastReport, Values, forecast_accuracy
from torchspeed.training.group import Group
from torchspeed.training.limits import check_batch, check_workers
from torchspeed.training.loop import LoopResult, Step, run_loop
from torchspeed.training.phases import PhaseClock, StepTimes
from torchspeed.training.prepare import prepare
from torchspeed.training.results import EpochRecord, RunResult, rank_times
from torchspeed.training.steps import Network


class Observer:
    """Callbacks for the progress of a run; those of this class do nothing."""

    def prepared(self, summary: str) -> None:
        """Note that model and data are ready and the work begins."""

    def begin(self, title: str, steps: int) -> None:
        """Note that a loop of ``steps`` steps starts."""

    def step(self, items: int, times: StepTimes) -> None:
        """Note that a step is done."""

    def epoch(self, record: EpochRecord) -> None:
        """Note that an epoch and its test are done."""


ALONE, NOBODY = Group(), Observer()

FEWEST_DUMMY_ITEMS, DUMMY_STEPS = 1000, 50
"""Fewest items of dummy data, and the training steps they last for; a fifth as many are tested."""


@dataclass(frozen=True, slots=True)
class RunContext:
    """A run on this rank."""

    config: RunConfig
    network: Network
    data: Data
    group: Group
    observer: Observer

    @classmethod
    def prepared(
        cls, config: RunConfig, group: Group, observer: Observer, *, trains: bool = False
    ) -> RunContext:
        """Open the data and make the model, on the device of this rank."""
        config = complete(replace(config, device=group.device(config.device)))
        if config.threads is not None:
            torch.set_num_threads(config.threads)
        options = replace(config.data_options, seed=config.seed)
        if config.data == "dummy" and options.items is None:
            items = max(FEWEST_DUMMY_ITEMS, DUMMY_STEPS * config.batch_size * group.world)
            options = replace(options, items=items)
        config = replace(config, data_options=options)
        network, data = prepare(config, trains=trains)
        # Checked before compiling, or the model would be compiled for this check alone.
        in_main_memory = network.model.eval() if network.device.type == "cpu" else None
        check_batch(config.batch_size, data.item_shape, in_main_memory, group.world, trains=trains)
        check_workers(config.workers, group.world)
        if config.compile:
            network.model.compile()
        return cls(config, network, data, group, observer)

    def announce(self) -> None:
        """Tell the observer, in one line, what is about to run."""
        config, data = self.config, self.data
        splits = {"to train on": data.train, "to validate with": data.validation,
                  "to test on": data.test}  # fmt: skip
        items: dict[str, Any] = {name: part for name, part in splits.items() if part is not None}
        counts = ", ".join(f"{len(part):,} {name}" for name, part in items.items())
        self.observer.prepared(
            f"{config.model}, {self.parameters:,} parameters, on {config.device}; {config.data}: "
            f"{counts}; {data.source}"
        )

    @property
    def parameters(self) -> int:
        """Trainable parameters of the model."""
        return sum(p.numel() for p in self.network.model.parameters() if p.requires_grad)

    def batches(self, items: Dataset[Any], *, shuffle: bool = False) -> DataLoader[Any]:
        """Return this rank's batches of some items."""
        rank, world, seed = self.group.rank, self.group.world, self.config.seed
        sampler: DistributedSampler[Any] | range | None = None
        if world > 1:
            count = len(items)  # type: ignore[arg-type]
            sampler = (
                DistributedSampler(items, world, rank, seed=seed)
                if shuffle
                else range(rank, count, world)
            )
        return make_loader(
            items,
            self.config.batch_size,
            workers=self.config.workers,
            shuffle=shuffle,
            seed=seed,
            sampler=sampler,
            pin_memory=self.network.device.type == "cuda",
        )

    def epoch(self, batches: DataLoader[Any], number: int) -> Iterator[Any]:
        """Return the batches of epoch ``number``, whichever were loaded before."""
        batches.generator.manual_seed(self.config.seed + number)
        if isinstance(batches.sampler, DistributedSampler):
            batches.sampler.set_epoch(number)
        return iter(batches)

    def steps(self, available: int, epochs: int = 1) -> int:
        """Return the number of steps of a loop over a number of batches.

        Raises:
            TorchspeedError: none would be left after the warm-up.
        """
        steps = min(available, self.config.limit_batches or available)
        if epochs * steps <= min(self.config.warmup, steps):
            count = "the only step" if epochs * steps == 1 else f"all {epochs * steps} steps"
            raise TorchspeedError(
                f"{count} would be warm-up; give a smaller --batch-size or --warmup, or more "
                "batches"
            )
        if self.config.warmup > steps:
            raise TorchspeedError(
                f"--warmup {self.config.warmup} is longer than the first epoch, whose steps alone "
                f"may be left out; give --warmup {steps} or less"
            )
        return steps

    def loop(
        self, batches: Iterator[Any], step: Step, *, warmup: int = 0, observer: Observer = NOBODY
    ) -> LoopResult:
        """Run a step on each batch; the model's mode is the caller's choice."""
        return run_loop(
            batches,
            step,
            PhaseClock(self.network.device, timed=self.config.phases),
            limit=self.config.limit_batches,
            warmup=warmup,
            on_step=observer.step,
        )

    def forecast_report(
        self, network: Network, epoch: int | None = None, others: dict[str, Network] | None = None
    ) -> ForecastReport | None:
        """Judge all ranks' forecasts of the test items; None where the data is no series.

        Args:
            network: network whose forecasts are judged.
            epoch: epoch that its parameters come from; None if it was not trained.
            others: networks to compare it with, by name, beside the simple forecasts.
        """
        scale, columns = self.data.scale, self.data.target_columns
        if scale is None:
            return None
        forecasts, truth = self._forecasts(network)
        available = len(self.data.test)  # type: ignore[arg-type]
        items = np.arange(self.group.rank, available, self.group.world)[: len(truth)]
        own = {name: self._forecasts(other)[0] for name, other in (others or {}).items()}
        ranks = self.group.gather((items, forecasts, truth, own))
        items = np.concatenate([rank[0] for rank in ranks])
        forecasts, truth = (torch.cat([rank[part] for rank in ranks]) for part in (1, 2))
        _, rows = rows_of(self.data.test, items)

        def measured(values: Tensor) -> Tensor:
            """Return values in the units of the data, (items, steps, columns)."""
            by_step = values.double().view(len(items), -1, values.shape[-1])
            return scale.restore(by_step, columns, rows)

        baselines = baseline_forecasts(self.data, scale, items)
        for name in own:
            baselines[name] = measured(torch.cat([rank[3][name] for rank in ranks]))
        true = _by_value(measured(truth))

        return ForecastReport(
            horizon=self.config.data_options.horizon,
            items=len(truth),
            epoch=epoch,
            model=forecast_accuracy(_by_value(measured(forecasts)), true),
            baselines={
                name: forecast_accuracy(_by_value(forecast), true)
                for name, forecast in baselines.items()
            },
        )

    def _forecasts(self, network: Network) -> tuple[Tensor, Tensor]:
        """Return this rank's forecasts of the test items, and their targets."""
        network.model.eval()
        parts = []
        for batch in islice(self.batches(self.data.test), self.config.limit_batches):
            inputs, targets = network.place(batch)
            with torch.inference_mode():
                outputs, _ = network.forward(inputs, targets)
            parts.append((outputs.float().cpu(), targets.cpu()))
        forecasts, truth = map(torch.cat, zip(*parts, strict=True))
        return forecasts, truth

    def sum_up(self, loop: LoopResult) -> LoopResult:
        """Return the sums of items, loss and correct answers over all ranks."""
        parts = self.group.gather((loop.items, loop.loss_sum, loop.correct))
        items, loss_sum, correct = (sum(column) for column in zip(*parts, strict=True))
        return LoopResult(items=items, loss_sum=loss_sum, correct=correct)

    def accuracy(self, loop: LoopResult) -> float | None:
        """Return the share of items classified correctly; None for a forecast."""
        return loop.accuracy if self.data.classes else None

    def result(
        self, mode: str, loops: list[LoopResult], loss: float, accuracy: float | None
    ) -> RunResult:
        """Return what all ranks measured, without the records of training."""
        device = self.network.device
        return RunResult(
            mode=mode,
            config=self.config.as_dict(),
            parameters=self.parameters,
            device_name=torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
            world=self.group.world,
            threads=torch.get_num_threads(),
            warmup_steps=sum(len(loop.warmup) for loop in loops),
            ranks=self.group.gather(rank_times(self.group.rank, loops)),
            peak_memory_bytes=_peak_memory(device),
            loss=loss,
            accuracy=accuracy,
        )


def _by_value(forecast: Tensor) -> Values:
    """Return (items, steps, columns) as (items * steps, columns)."""
    return forecast.flatten(0, 1).numpy()


def _peak_memory(device: torch.device) -> int:
    """Return the peak memory so far in bytes: torch's on a GPU, else this process's."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    unit = 1 if sys.platform == "darwin" else 1024  # Linux counts KiB, macOS bytes
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
