"""Noise of the series of a history, as far as their values show it."""

from __future__ import annotations

from collections.abc import Sequence

from asv_watch.judge.segments import Segment
from asv_watch.records.history import History
from asv_watch.records.series import Series
from asv_watch.statistics.noise import (
    OwnNoise,
    informed_noise,
    middle_and_spread,
    own_noise,
    pooled_noise,
)


def own_noises(segments: Sequence[Sequence[Segment]]) -> tuple[OwnNoise, ...]:
    """Estimate the noise of each series from its own values, segment by segment."""
    return tuple(own_noise(segment.values for segment in of_series) for of_series in segments)


def known_noise(history: History, own: Sequence[OwnNoise]) -> tuple[float | None, ...]:
    """Noise between runs of each series of a history, as far as it is known.

    It comes from the first of these that there is:

    1.  the differences of neighbouring values within the segments of the series, seven at least,
        together with what the noise of other cases tells (`informed_noise`);
    2.  the differences of all series with the same metric on the machine, twenty at least from
        five series: the largest of the estimates from their median, third quartile and ninth
        decile, so that noisier cases than most count.

    Returns:
        For each series the standard deviation of the logarithm of a value, or ``None``.
    """
    of_metric: dict[tuple[str, str, str], list[OwnNoise]] = {}
    for series, of_series in zip(history.series, own, strict=True):
        if of_series.count:
            of_metric.setdefault(_metric(series), []).append(of_series)
    pooled = {metric: pooled_noise(members) for metric, members in of_metric.items()}
    others = {metric: middle_and_spread(members) for metric, members in of_metric.items()}
    noises: list[float | None] = []
    for series, of_series in zip(history.series, own, strict=True):
        noise = informed_noise(of_series, others.get(_metric(series)))
        noises.append(pooled.get(_metric(series)) if noise is None else noise)
    return tuple(noises)


def _metric(series: Series) -> tuple[str, str, str]:
    return series.machine, series.case.labels.get("metric", ""), series.unit
