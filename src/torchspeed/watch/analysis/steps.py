"""The steps of a series as commits, and where its figure stands since the last one."""

from __future__ import annotations

from dataclasses import dataclass

from torchspeed.watch.analysis.change_points import (
    MINIMUM_EFFECT,
    Step,
    better_or_worse,
    find_steps,
)
from torchspeed.watch.analysis.statistics import median
from torchspeed.watch.history.records import Series

LEVEL_VALUES = 10
"""The level of a series now is the median of at most so many newest figures."""


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


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a series stands: its level now, and what the last step changed."""

    level: float
    """Median of the newest figures since the last step, at most ten."""
    values: int
    """Of how many figures."""
    last_step: SeriesStep | None
    """The newest confirmed one; ``None`` if it has not changed as far as one can tell."""

    @property
    def ratio(self) -> float | None:
        """Level now over the level before the last step; ``None`` without a step or from zero."""
        if self.last_step is None or self.last_step.step.before == 0:
            return None
        return self.level / self.last_step.step.before

    @property
    def verdict(self) -> str:
        """``better`` or ``worse`` as the last step was, ``same`` without one."""
        return "same" if self.last_step is None else self.last_step.verdict


def since_last_step(series: Series, steps: tuple[SeriesStep, ...]) -> Standing | None:
    """Tell where a series stands since the last of its confirmed steps.

    Args:
        series: A series.
        steps: Its steps, as ``steps_of`` gives them.

    Returns:
        ``None`` for a series without any figure.
    """
    values = list(series.values.values())
    if not values:
        return None
    confirmed = [step for step in steps if step.step.confirmed]
    last_step = confirmed[-1] if confirmed else None
    since = values[last_step.step.position :] if last_step else values
    newest = since[-LEVEL_VALUES:]
    return Standing(median(newest), len(newest), last_step)
