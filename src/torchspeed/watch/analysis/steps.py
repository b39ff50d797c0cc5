"""Change points of a series, with the commits that they lie between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torchspeed.watch.analysis.change_points import Step, find_steps
from torchspeed.watch.analysis.segments import Segment


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


def steps_of(segments: Sequence[Segment]) -> tuple[SeriesStep, ...]:
    """Find the steps within the segments of a series, confirmed or not, oldest first."""
    steps = []
    for number, segment in enumerate(segments):
        commits = segment.commits
        steps += [
            SeriesStep(
                previous=commits[step.position - 1],
                commit=commits[step.position],
                segment=number,
                step=step,
            )
            for step in find_steps(segment.values)
        ]
    return tuple(steps)
