"""How well steps are found, on series whose steps are known: whole, and online.

A step counts as found if one of the same direction is reported within five commits of
it; everything else that is reported is a false alarm. *Online* means as a nightly meets
it: again after each new commit, an alarm being the first report of a step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from asv.step_detect import detect_steps

from asv_watch.runs.change_points import find_steps
from asv_watch.runs.partition import Array
from tests.asv_watch.labelled_series import LabelledSeries

TOLERANCE = 5
FIRST_ONLINE = 10
"""Commits before the first look at a series that grows."""
Found = list[tuple[int, int]]
"""Positions of reported steps, and +1 or -1 for their direction."""
Detector = Callable[[Sequence[float] | Array], Found]


def ours(values: Sequence[float] | Array) -> Found:
    """Steps of a whole series."""
    return [(step.position, 1 if step.direction == "up" else -1) for step in find_steps(values)]


def ours_confirmed(values: Sequence[float] | Array) -> Found:
    """Confirmed steps, of a series that still grows."""
    detected = find_steps(values)
    return [(s.position, 1 if s.direction == "up" else -1) for s in detected if s.confirmed]


def asv_steps(values: Sequence[float] | Array) -> Found:
    """Every boundary of asv's piecewise fit, in both directions."""
    segments = detect_steps(list(values))
    return [(after[0], 1 if after[2] > before[2] else -1) for before, after in pairwise(segments)]


@dataclass(frozen=True)
class Whole:
    """Figures over whole series."""

    precision: float
    recall: float
    false_alarms: float
    """For 1000 commits."""

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return 2 * self.precision * self.recall / (self.precision + self.recall)


@dataclass(frozen=True)
class Online:
    """Figures over series that grow by a commit at a time; recall of steps of twice the noise."""

    false_alarms: float
    recall: float
    within_10: float
    median_delay: float


def matches(detected: Iterable[tuple[int, int]], steps: Sequence[tuple[int, float]]) -> list[int]:
    """For each reported step the index of the true one that it finds, or -1."""
    free = set(range(len(steps)))
    result = []
    for position, direction in detected:
        near = [
            (abs(position - steps[index][0]), index)
            for index in free
            if abs(position - steps[index][0]) <= TOLERANCE
            and (steps[index][1] > 1) == (direction > 0)
        ]
        index = min(near)[1] if near else -1
        free.discard(index)
        result.append(index)
    return result


def evaluate_whole(detector: Detector, labelled: Sequence[LabelledSeries]) -> Whole:
    """Run a detector once over the values of each series."""
    right = wrong = true = commits = 0
    for series in labelled:
        matched = matches(detector(series.values), series.steps)
        right += sum(index >= 0 for index in matched)
        wrong += sum(index < 0 for index in matched)
        true += len(series.steps)
        commits += len(series.values)
    return Whole(right / max(1, right + wrong), right / true, 1000 * wrong / commits)


def evaluate_online(detector: Detector, labelled: Sequence[LabelledSeries]) -> Online:
    """Run a detector over every beginning of each series."""
    false_alarms = commits = large = 0
    delays: list[int] = []
    for series in labelled:
        alarms: Found = []
        delay_of: dict[int, int] = {}
        for now in range(FIRST_ONLINE, len(series.values) + 1):
            for position, direction in detector(series.values[:now]):
                known = any(
                    abs(position - other) <= TOLERANCE and direction == other_direction
                    for other, other_direction in alarms
                )
                if known:
                    continue
                alarms.append((position, direction))
                index = matches([(position, direction)], series.steps)[0]
                if index < 0 or now <= series.steps[index][0]:
                    false_alarms += 1
                else:
                    delay_of.setdefault(index, now - series.steps[index][0])
        commits += len(series.values) - FIRST_ONLINE
        for index, (_, ratio) in enumerate(series.steps):
            if max(ratio, 1 / ratio) - 1 >= 2 * series.noise * (1 - 1e-9):
                large += 1
                if index in delay_of:
                    delays.append(delay_of[index])
    return Online(
        1000 * false_alarms / commits,
        len(delays) / large,
        sum(delay <= 10 for delay in delays) / large,
        float(np.median(delays)) if delays else math.inf,
    )
