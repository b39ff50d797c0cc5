"""Steps that the machine made, not the code.

A commit touches a model or two. When most timings of a machine change in the same
direction at the same commit, the machine has changed: a kernel, a clock, a neighbour.
Each series with figures on both sides has a vote; three of five votes carry.
A release of torch is no such step: each release is an environment, with series of
its own. One commit that changes everything (a flag, an allocator) looks the same as
the machine; the events of the environment beside it tell which.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

from torchspeed.watch.analysis.geometric_mean import geometric_mean
from torchspeed.watch.analysis.steps import SeriesStep
from torchspeed.watch.history.history import History
from torchspeed.watch.history.records import Series

SHARE = 0.6
"""Share of the voting series that must step together."""
FEWEST_SERIES = 5
FEWEST_MODELS = 3
_TOLERANCE = 2
"""Measured commits by which noise may shift a detected step."""


@dataclass(frozen=True, slots=True)
class MachineStep:
    """A step that most series of one metric of a machine share."""

    machine: str
    metric: str
    """Metric of the series, or their unit in a project whose benchmarks have no models."""
    previous: str
    """Last measured commit before it."""
    commit: str
    """First measured commit after it: where most of the series place it."""
    ratio: float
    """Geometric mean of the ratios, after over before, of the series that stepped."""
    stepped: int
    voted: int
    members: frozenset[int]
    """Indices in the history's series of those that stepped."""


def machine_steps(
    history: History, steps: Mapping[int, tuple[SeriesStep, ...]]
) -> tuple[MachineStep, ...]:
    """Find the steps that most series of a machine make at the same commit.

    Args:
        history: The history.
        steps: Index of a series in it to its steps; a series left out has no vote.

    Returns:
        The machine's steps by machine, metric and commit.
    """
    groups: dict[tuple[str, str], list[int]] = {}
    for number in steps:
        series = history.series[number]
        groups.setdefault((series.machine, _kind(series)), []).append(number)
    order = {commit.hash: place for place, commit in enumerate(history.commits)}
    found: list[MachineStep] = []
    for (machine, metric), numbers in sorted(groups.items()):
        found += _shared(history, machine, metric, {n: steps[n] for n in numbers}, order)
    return tuple(found)


def _kind(series: Series) -> str:
    """What has a vote together: a metric of the models, or all of one unit without models."""
    labels = series.case.labels
    return labels["metric"] if "model" in labels else series.unit


def _shared(
    history: History,
    machine: str,
    metric: str,
    steps: dict[int, tuple[SeriesStep, ...]],
    order: dict[str, int],
) -> list[MachineStep]:
    spans = {
        number: [order[commit] for commit in history.series[number].values] for number in steps
    }
    measured = sorted({place for span in spans.values() for place in span})
    # Candidates by how many series step exactly there, so that the commonest place wins.
    exact: dict[tuple[int, str], int] = {}
    for found in steps.values():
        for step in found:
            key = (order[step.commit], step.step.direction)
            exact[key] = exact.get(key, 0) + 1
    result: list[MachineStep] = []
    taken: set[tuple[int, int]] = set()
    for place, direction in sorted(exact, key=lambda key: (-exact[key], key)):
        at = bisect_left(measured, place)
        low = measured[max(0, at - _TOLERANCE)]
        high = measured[min(len(measured) - 1, at + _TOLERANCE)]
        voters = [n for n, span in spans.items() if span and span[0] < low and span[-1] > high]
        stepped: dict[int, SeriesStep] = {}
        for number in voters:
            for step in steps[number]:
                where = order[step.commit]
                if (
                    low <= where <= high
                    and step.step.direction == direction
                    and (number, where) not in taken
                ):
                    stepped[number] = step
        if not _carries(len(stepped), len(voters), [history.series[n] for n in stepped]):
            continue
        taken |= {(number, order[step.commit]) for number, step in stepped.items()}
        result.append(
            MachineStep(
                machine=machine,
                metric=metric,
                previous=history.commits[measured[max(0, at - 1)]].hash,
                commit=history.commits[place].hash,
                ratio=geometric_mean([step.step.ratio for step in stepped.values()]).value,
                stepped=len(stepped),
                voted=len(voters),
                members=frozenset(stepped),
            )
        )
    return sorted(result, key=lambda shared: order[shared.commit])


def _carries(stepped: int, voters: int, members: list[Series]) -> bool:
    models = {series.case.labels.get("model", series.case.benchmark) for series in members}
    return stepped >= FEWEST_SERIES and len(models) >= FEWEST_MODELS and stepped >= SHARE * voters
