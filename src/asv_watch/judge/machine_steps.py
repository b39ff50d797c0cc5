"""Steps caused by the machine instead of the code.

A commit touches a model or two. When most timings of a machine change in the same
direction at the same commit, the machine has changed: a kernel, a clock, a neighbour.
Each series with values on both sides has a vote; three of five votes carry.
A release of a requirement is no such step: each release is an environment, with series of
its own. One commit that changes all models (a flag, an allocator) looks the same as
the machine; events of the environment at that commit show which it is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence

from asv_watch.records.history import History
from asv_watch.records.series import Indices, Series
from asv_watch.statistics.change_points import Step

SHARE = 0.6
"""Share of the voting series that must step together."""
FEWEST_SERIES = 5
FEWEST_MODELS = 3
_TOLERANCE = 2
"""Measured commits by which noise may shift a detected step."""


def machine_steps(history: History, steps: Sequence[Mapping[int, Step]]) -> set[tuple[int, int]]:
    """Find the steps that most series of one metric of a machine make at the same commit.

    Args:
        history: The history.
        steps: The steps of each of its series, by the index of the first commit after them.

    Returns:
        Index of the series and of the commit of each step that most series make together.
    """
    groups: dict[tuple[str, str], list[int]] = {}
    for number, series in enumerate(history.series):
        groups.setdefault((series.machine, _kind(series)), []).append(number)
    shared: set[tuple[int, int]] = set()
    for numbers in groups.values():
        measured = {
            number: history.indices(history.series[number].columns.valued) for number in numbers
        }
        shared |= _shared(history, {number: steps[number] for number in numbers}, measured)
    return shared


def _kind(series: Series) -> str:
    """Return the group that votes together: a metric of the models, or all series of a unit."""
    labels = series.case.labels
    return labels["metric"] if "model" in labels else series.unit


def _shared(
    history: History, steps: Mapping[int, Mapping[int, Step]], commits: Mapping[int, Indices]
) -> set[tuple[int, int]]:
    """Find the shared steps of series that vote together."""
    # Candidates by how many series step exactly there, so that the commonest commit wins.
    candidates = Counter(
        (commit, step.direction)
        for of_series in steps.values()
        for commit, step in of_series.items()
    )
    if not candidates:
        return set()
    measured = history.in_any(commits.values())
    spans = {number: (of[0], of[-1]) for number, of in commits.items() if len(of)}
    shared: set[tuple[int, int]] = set()
    for position, direction in sorted(candidates, key=lambda key: (-candidates[key], key)):
        at = bisect_left(measured, position)
        low = measured[max(0, at - _TOLERANCE)]
        high = measured[min(len(measured) - 1, at + _TOLERANCE)]
        voters = [n for n, (first, last) in spans.items() if first < low and last > high]
        stepped = {
            number: commit
            for number in voters
            for commit, step in steps[number].items()
            if low <= commit <= high
            and step.direction == direction
            and (number, commit) not in shared
        }
        models = {_model(history.series[number]) for number in stepped}
        if (
            len(stepped) >= max(FEWEST_SERIES, SHARE * len(voters))
            and len(models) >= FEWEST_MODELS
        ):
            shared |= stepped.items()
    return shared


def _model(series: Series) -> str:
    return series.case.labels.get("model", series.case.benchmark)
