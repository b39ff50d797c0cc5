"""Results of a run as plain records, which can be written as JSON."""

import json
import math
import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from torchspeed.training.forecasts import ForecastReport
from torchspeed.training.phases import LoopResult, PhaseSummary, summarise


@dataclass(frozen=True, slots=True)
class EpochRecord:
    """One epoch of training, warm-up steps included; seconds, accuracy from 0 to 1."""

    number: int
    """From 1."""
    rate: float
    train_loss: float
    train_accuracy: float | None
    held_out_loss: float
    """Of the validation items of a series, whose best epoch alone is tested; else of the test."""
    test_accuracy: float | None
    wall_s: float
    """The training loop's wall time, without the test."""
    cpu_s: float
    """CPU time of the process in the training loop, all its threads; workers do not count."""
    loading_s: float
    """Data loading and processing."""
    passes_s: float
    """Forward and backward."""

    def reaches(self, target: float | None) -> bool:
        """Tell whether there is a target accuracy and the test reached it."""
        accuracy = self.test_accuracy
        return target is not None and accuracy is not None and accuracy >= target

    @property
    def score(self) -> float:
        """Score that the best epoch maximises: test accuracy, or the negative loss without one."""
        if not math.isfinite(self.held_out_loss):
            return -math.inf
        return -self.held_out_loss if self.test_accuracy is None else self.test_accuracy


@dataclass(frozen=True, slots=True)
class RankTimes:
    """Times of one rank, of the measured steps; totals are over all steps, the warm-up too."""

    rank: int
    steps: int
    items: int
    wall_s: float
    total_wall_s: float
    items_per_s: float
    phases: dict[str, PhaseSummary]


@dataclass(frozen=True, slots=True)
class AccuracyTimes:
    """dl-benchmark's columns. Seconds; accuracy from 0 to 1.

    In dl-benchmark the loading time is only the copy to the device, and waiting for the workers
    counts only in the function's time; here loading is the wait and the copy.
    """

    best_training_accuracy: float | None
    best_test_accuracy: float | None
    data_loading_s: float
    """Data loading and processing, all epochs."""
    epoch_training_s: float
    """Forward and backward, all epochs."""
    training_function_s: float
    """The loops' wall time, all epochs."""
    training_function_cpu_s: float
    """The loops' CPU time, all epochs."""
    average_training_loss: float
    """Mean of the epochs' losses."""
    target_accuracy: float | None
    epochs_to_target: int | None
    """None when it was not reached, or there is no target."""
    seconds_to_target: float | None
    """Wall time of the training loops up to the end of that epoch, tests left out."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """One run: its configuration, its times and its accuracy."""

    command: str
    """``train``, ``inference`` or ``smooth-inference``."""
    config: dict[str, Any]
    parameters: int
    """Trainable parameters of the model."""
    device_name: str
    threads: int
    """CPU threads of each rank."""
    ranks: list[RankTimes]
    """Those of a resumed training are of the epochs since it was resumed."""
    loss: float
    """Mean loss of the last epoch; test loss for inference."""
    accuracy: float | None
    epochs: list[EpochRecord] = field(default_factory=list)
    """Empty for inference."""
    stopped: str | None = None
    """Why training ended before its last epoch without reaching a target; None if it did not."""
    time_to_accuracy: AccuracyTimes | None = None
    """None for inference."""
    forecast: ForecastReport | None = None
    """None for images and random numbers."""

    @property
    def items_per_s(self) -> float:
        """Throughput of all ranks together, in items a second: the slowest sets the pace."""
        slowest_s = max(rank.wall_s for rank in self.ranks)
        return sum(rank.items for rank in self.ranks) / slowest_s if slowest_s else math.nan

    @property
    def medians_s(self) -> dict[str, float]:
        """Median seconds of each phase of a step, of the rank that was slowest in it."""
        return {
            phase: max(rank.phases[phase].median_s for rank in self.ranks)
            for phase in self.ranks[0].phases
        }

    def as_dict(self) -> dict[str, Any]:
        """Plain values with units in the names; absent and undefined ones are None."""
        values: dict[str, Any] = asdict(self) | {"items_per_s": self.items_per_s}
        if self.forecast is not None:
            values["forecast"]["in_words"] = self.forecast.in_words
        plain: dict[str, Any] = json.loads(json.dumps(values), parse_constant=lambda _: None)
        return plain


def rank_times(rank: int, loops: list[LoopResult]) -> RankTimes:
    """Return the times of a rank over all its loops."""
    steps = [step for loop in loops for step in loop.steps]
    items, wall_s = sum(loop.measured_items for loop in loops), sum(loop.wall_s for loop in loops)
    return RankTimes(
        rank=rank,
        steps=len(steps),
        items=items,
        wall_s=wall_s,
        total_wall_s=sum(loop.wall_s + loop.warmup_s for loop in loops),
        items_per_s=items / wall_s if wall_s else math.nan,
        phases=summarise(steps, [step for loop in loops for step in loop.warmup]),
    )


def time_to_accuracy(epochs: list[EpochRecord], target: float | None) -> AccuracyTimes:
    """Sum a training up in dl-benchmark's columns; ``target`` is an accuracy from 0 to 1."""
    reached = next((record.number for record in epochs if record.reaches(target)), None)
    return AccuracyTimes(
        best_training_accuracy=_best(record.train_accuracy for record in epochs),
        best_test_accuracy=_best(record.test_accuracy for record in epochs),
        data_loading_s=sum(record.loading_s for record in epochs),
        epoch_training_s=sum(record.passes_s for record in epochs),
        training_function_s=sum(record.wall_s for record in epochs),
        training_function_cpu_s=sum(record.cpu_s for record in epochs),
        average_training_loss=statistics.fmean(record.train_loss for record in epochs),
        target_accuracy=target,
        epochs_to_target=reached,
        seconds_to_target=(
            None if reached is None else sum(record.wall_s for record in epochs[:reached])
        ),
    )


def _best(accuracies: Iterable[float | None]) -> float | None:
    return max((accuracy for accuracy in accuracies if accuracy is not None), default=None)
