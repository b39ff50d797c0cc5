"""The step of inference that keeps the forecasts."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from torchspeed.data.scale import Scale
from torchspeed.training.forecasts import Values
from torchspeed.training.loop import StepResult
from torchspeed.training.phases import PhaseClock
from torchspeed.training.steps import InferenceStep


class ForecastStep:
    """Inference that keeps what was forecast, what came, and what was last known.

    Args:
        step: does the inference.
        scale: of the series.
        columns: of the series that are forecast.
    """

    def __init__(self, step: InferenceStep, scale: Scale, columns: slice) -> None:
        self._step = step
        self._scale = scale
        self._columns = columns
        self._parts: list[tuple[Tensor, Tensor, Tensor]] = []

    def __call__(self, batch: Any, clock: PhaseClock) -> StepResult:
        """Run one batch of (inputs, targets)."""
        result = self._step(batch, clock)
        last = batch[0][:, -1, self._columns].clone()  # a view would keep the whole batch
        self._parts.append((result.outputs.float().cpu(), result.targets.cpu(), last))
        return result

    @property
    def mean(self) -> Values:
        """Mean of the training data, (columns,), as measured."""
        return self._scale.mean[self._columns].double().numpy()

    def values(self) -> tuple[Values, Values, Values]:
        """Forecasts, true values and last values, (items, columns) each, as measured."""
        forecasts, truth, last = (
            self._scale.restore(torch.cat(parts).double(), self._columns).numpy()
            for parts in zip(*self._parts, strict=True)
        )
        return forecasts, truth, last
