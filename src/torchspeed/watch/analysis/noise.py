"""How much a figure moves from run to run when nothing has changed.

Samples taken within one run say how sure that run is of itself. The next run, in
another process and on another day, differs by more: memory lies elsewhere, the
machine is warmer. That spread shows only between runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist, median

import numpy as np
import numpy.typing as npt

from torchspeed.watch.history.records import History, Series

FEWEST_VALUES = 8
"""Values of a series from which its noise is estimated."""
_QUANTILES = (0.5, 0.75)


def difference_variance(y: npt.NDArray[np.float64]) -> float:
    """Variance of first differences that a few steps and spikes do not move.

    The larger of two estimates from quantiles of the absolute differences; the median
    alone would overlook a second mode.
    """
    sizes = np.abs(np.diff(y))
    return max(
        (float(np.quantile(sizes, share)) / NormalDist().inv_cdf((1 + share) / 2)) ** 2
        for share in _QUANTILES
    )


def run_to_run(values: Sequence[float]) -> float | None:
    """Coefficient of variation of a series between runs, steps and spikes left aside.

    Args:
        values: Finite figures in commit order.

    Returns:
        Standard deviation of the logarithm of one run's figure, as a share (0.01 is
        1 %); ``None`` below eight values or where one is not positive.
    """
    figures = np.asarray(values, dtype=np.float64)
    if not np.isfinite(figures).all():
        raise ValueError("values must be finite: leave out what was not measured")
    if len(figures) < FEWEST_VALUES or not (figures > 0).all():
        return None
    return math.sqrt(difference_variance(np.log(figures)) / 2)


def calibrated_noise(case: float, cases: Sequence[float]) -> float:
    """What a few runs say of a case's noise: at least that of the middle one of all cases.

    A few runs cannot show that a case is quieter than others: of three runs that differ by
    1 % one case in twelve looks as if it were 0.3 %.

    Args:
        case: Noise of the case's own runs, of a run or of a ratio.
        cases: Likewise, of every case that was measured with it.
    """
    return max(case, median(cases))


def noise_together(noises: Sequence[float]) -> float:
    """Of several cases: the root of the mean square."""
    return math.sqrt(sum(noise**2 for noise in noises) / len(noises))


def known_noise(history: History) -> Callable[[Series], float | None]:
    """What is known of each series' noise between runs.

    From its own figures (`run_to_run`), or while these are too few from the newest
    calibration of its machine, if that has the case (`calibrated_noise`). Each series is
    looked at once.

    Returns:
        A function from a series of the history to the coefficient of variation of one
        run's figure, as a share, or ``None``.
    """
    calibrated = {}
    for machine, calibration in history.calibrations.items():
        noises = [case.noise for case in calibration.cases]
        for case in calibration.cases:
            noise = calibrated_noise(case.noise, noises) / math.sqrt(2)  # a ratio holds two runs'
            calibrated[machine, case.case] = noise
    known: dict[int, float | None] = {}

    def noise_of(series: Series) -> float | None:
        if id(series) not in known:
            own = run_to_run(list(series.values.values()))
            other = calibrated.get((series.machine, series.case.name)) if calibrated else None
            known[id(series)] = other if own is None else own
        return known[id(series)]

    return noise_of


@dataclass(frozen=True, slots=True)
class MachineNoise:
    """How noisy one kind of figure is on a machine: over its series."""

    machine: str
    device: str
    metric: str
    median: float
    """Half of the series are quieter: coefficient of variation, as a share."""
    worst: float
    series: int
    """Series long enough to tell."""


def machine_noise(history: History) -> tuple[MachineNoise, ...]:
    """Noise of each machine, device and metric, by name."""
    found: dict[tuple[str, str, str], list[float]] = {}
    for series in history.series:
        noise = run_to_run(list(series.values.values()))
        if noise is not None:
            labels = series.case.labels
            key = (series.machine, labels.get("device", ""), labels["metric"])
            found.setdefault(key, []).append(noise)
    return tuple(
        MachineNoise(*key, median(noises), max(noises), len(noises))
        for key, noises in sorted(found.items())
    )
