"""Change points of a series, with the commits that they lie between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torchspeed.watch.analysis.change_points import Step
from torchspeed.watch.analysis.segments import Segment
from torchspeed.watch.analysis.step_cache import StepCache


@dataclass(frozen=True, slots=True)
class SeriesStep:
    """A lasting change of a series between two commits."""

    previous: str
    """Hash of the last commit measured before it; commits between the two may be its cause."""
    commit: str
    """Hash of the first commit measured after it."""
    segment: int
    """Index of the segment that it lies in; its position counts from the segment's start."""
    step: Step


def steps_of(
    series: Sequence[Sequence[Segment]], cache: StepCache
) -> tuple[tuple[SeriesStep, ...], ...]:
    """Find the steps within the segments of each series, confirmed or not, oldest first."""
    found = iter(cache.find_all([segment.values for segments in series for segment in segments]))
    return tuple(
        tuple(
            SeriesStep(
                previous=commits[step.position - 1],
                commit=commits[step.position],
                segment=number,
                step=step,
            )
            for number, segment in enumerate(segments)
            for commits in [segment.commits]
            for step in next(found)
        )
        for segments in series
    )
