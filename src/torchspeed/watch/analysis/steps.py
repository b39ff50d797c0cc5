"""The steps of a series, with the commits that they lie between."""

from __future__ import annotations

from dataclasses import dataclass

from torchspeed.watch.analysis.change_points import Step, better_or_worse, find_steps
from torchspeed.watch.analysis.rule import MINIMUM_EFFECT
from torchspeed.watch.history.records import Series


@dataclass(frozen=True, slots=True)
class SeriesStep:
    """A lasting change of a series between two commits."""

    previous: str
    """Hash of the last commit measured before it; commits between the two may be its cause."""
    commit: str
    """Hash of the first commit measured after it."""
    step: Step
    verdict: str
    """``better`` or ``worse``."""


def steps_of(series: Series, minimum_effect: float = MINIMUM_EFFECT) -> tuple[SeriesStep, ...]:
    """Find the steps of a series over the commits that have a figure.

    A step says itself whether it is confirmed: only then is it to be coloured or announced.
    """
    values = series.values
    commits = list(values)
    return tuple(
        SeriesStep(
            previous=commits[step.position - 1],
            commit=commits[step.position],
            step=step,
            verdict=better_or_worse(step, series.higher_is_better),
        )
        for step in find_steps(list(values.values()), minimum_effect)
    )
