"""Changes of a series and how sure they are: confirmed, unconfirmed or refuted.

A change is

- **confirmed** when it is a confirmed change point (`torchspeed.watch.analysis.change_points`), or
  an interleaved comparison across it shows a difference in the same direction;
- **unconfirmed** when too few runs show it: a change point that is not confirmed yet, or newest
  runs that each differ, by `torchspeed.watch.analysis.rule`, from the median of the runs before
  them. A jump is reported after its first run;
- **refuted** when the newest interleaved comparison across it shows no difference and its
  confidence interval excludes the size of the change.

The ratios to the reference are searched in the same way
(`torchspeed.watch.analysis.ratio_changes`), for changes that runs are too noisy to show.
`torchspeed.watch.analysis.evidence` says which comparisons are across a change.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from statistics import median
from typing import Literal

from torchspeed.watch.analysis.change_points import values_to_confirm
from torchspeed.watch.analysis.evidence import Evidence, Span, find_evidence
from torchspeed.watch.analysis.pruning import FEWEST_VALUES
from torchspeed.watch.analysis.ratio import verdict as verdict_of_ratio
from torchspeed.watch.analysis.ratio_changes import Points, ratio_changes
from torchspeed.watch.analysis.rule import Measurement, Verdict, judge
from torchspeed.watch.analysis.segments import Segment
from torchspeed.watch.analysis.steps import SeriesStep
from torchspeed.watch.history.explanations import Explanation
from torchspeed.watch.history.history import History
from torchspeed.watch.history.notes import ChangeNote
from torchspeed.watch.history.records import Series

LEVEL_VALUES = 10
"""The level before the newest runs is the median of at most so many values."""
MOST_NEW_RUNS = values_to_confirm() - FEWEST_VALUES
"""Newest runs of a series among which an unconfirmed change is reported: with more of them a
lasting change is confirmed."""


class State(Enum):
    """How sure a change is."""

    CONFIRMED = "confirmed"
    UNCONFIRMED = "unconfirmed"
    REFUTED = "refuted"


Direction = Literal["better", "worse"]
Cause = Literal["code", "machine", "environment"]
"""``machine``: most series of the machine changed at the same commit; ``environment``: installed
software changed there; ``code``: neither did."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the level of one series between two commits."""

    series: int
    """Index of the series in the history."""
    previous: int
    """Index in the history's commits of the last one measured before it. The cause is one of the
    commits after this one, up to and including the next."""
    commit: int
    """Index of the first commit measured after it."""
    before: float
    """Level before it, in the unit of the series."""
    after: float
    verdict: Direction
    state: State
    runs: int
    """Number of runs at the new level."""
    noise: float | None
    """Standard deviation of the logarithm of the ratio of two runs, ``None`` if unknown."""
    evidence: Evidence | None = None
    """What interleaved comparisons say about it, if there are any across it."""
    cause: Cause = "code"
    note: ChangeNote | None = None
    """What somebody wrote about it in ``results/notes.toml``."""
    made_by: tuple[str, str] | None = None
    """Hashes of the last commit before it and the first after it, where a bisection found fewer
    commits than those between ``previous`` and ``commit``."""
    explanation: Explanation | None = None
    """Which operators account for it, where that was examined."""

    @property
    def ratio(self) -> float | None:
        """Level after over level before; ``None`` where one of them is not positive."""
        return self.after / self.before if self.before > 0 and self.after > 0 else None

    @property
    def multiple(self) -> float | None:
        """Its size as a multiple of the noise; ``None`` if unknown or without any noise."""
        if self.ratio is None or not self.noise:
            return None
        return abs(math.log(self.ratio)) / self.noise


def changes_of(
    index: int,
    segments: Sequence[Segment],
    steps: Sequence[SeriesStep],
    noise: float | None,
    history: History,
    place: Mapping[str, int],
    ratios: Points,
) -> tuple[Change, ...]:
    """List the changes of a series, oldest first.

    Args:
        index: Index of the series in the history.
        segments: Its segments.
        steps: Its change points, confirmed or not (`steps.steps_of`).
        noise: Its noise between runs.
        history: The history.
        place: Commit hash to index in the history's commits.
        ratios: Its ratios to the reference.
    """
    series = history.series[index]
    of_ratio = None if noise is None else noise * math.sqrt(2)
    changes = []
    later = sum(len(segment.points) for segment in segments)
    for number, segment in enumerate(segments):
        later -= len(segment.points)
        found = [
            step.step
            for step in steps
            if step.segment == number
            and (step.step.confirmed or step.step.values_after + later <= MOST_NEW_RUNS)
        ]
        commits = segment.commits
        changes += [
            Change(
                series=index,
                previous=place[commits[step.position - 1]],
                commit=place[commits[step.position]],
                before=step.before,
                after=step.after,
                verdict=_direction(step.after > step.before, series),
                state=State.CONFIRMED if step.confirmed else State.UNCONFIRMED,
                runs=step.values_after,
                noise=of_ratio,
            )
            for step in found
        ]
        start = found[-1].position if found else 0
        runs, before, after = _newest_jump(segment.values[start:], noise, MOST_NEW_RUNS - later)
        if runs:
            changes.append(
                Change(
                    series=index,
                    previous=place[commits[-runs - 1]],
                    commit=place[commits[-runs]],
                    before=before,
                    after=after,
                    verdict=_direction(after > before, series),
                    state=State.UNCONFIRMED,
                    runs=runs,
                    noise=of_ratio,
                )
            )
    changes += [
        change
        for change in _changes_of_ratios(index, series, ratios, of_ratio, place)
        if not any(_overlap(change, other) for other in changes)
    ]
    changes.sort(key=lambda change: change.commit)
    return _with_evidence(series, changes, history)


def _changes_of_ratios(
    index: int,
    series: Series,
    ratios: Points,
    of_ratio: float | None,
    place: Mapping[str, int],
) -> Iterator[Change]:
    """Changes that the ratios to the reference show, at commits that have a value as well."""
    values = series.values
    measured = {commit: point for commit, point in ratios.items() if commit in values}
    for change in ratio_changes(measured, MOST_NEW_RUNS):
        before = values[change.previous]
        yield Change(
            series=index,
            previous=place[change.previous],
            commit=place[change.commit],
            before=before,
            after=before * change.ratio,
            verdict=_direction(change.ratio > 1, series),
            state=State.CONFIRMED if change.confirmed else State.UNCONFIRMED,
            runs=change.runs,
            noise=of_ratio,
        )


def _overlap(one: Change, other: Change) -> bool:
    return one.previous < other.commit and other.previous < one.commit


def _direction(went_up: bool, series: Series) -> Direction:
    return "better" if went_up == series.higher_is_better else "worse"


def _newest_jump(
    values: Sequence[float], noise: float | None, most: int
) -> tuple[int, float, float]:
    """Find the newest values that each differ from the level before them, in one direction.

    Args:
        values: Values since the last change, under the same conditions.
        noise: Noise of a run.
        most: Largest number of newest values to look at.

    Returns:
        Their number, 0 if they do not differ; the level before and the level after.
    """
    for runs in range(min(most, len(values) - 1), 0, -1):
        earlier, newest = values[:-runs][-LEVEL_VALUES:], values[-runs:]
        level = median(earlier)
        of_level = None if noise is None else noise / math.sqrt(len(earlier))
        before = Measurement(level, None, of_level)
        verdicts = {judge(before, Measurement(value, None, noise)).verdict for value in newest}
        if len(verdicts) == 1 and Verdict.SAME not in verdicts:
            return runs, level, median(newest)
    return 0, math.nan, math.nan


def _with_evidence(
    series: Series, changes: Sequence[Change], history: History
) -> tuple[Change, ...]:
    """Let the interleaved comparisons confirm or refute changes of a time."""
    comparisons = history.comparisons.get(series.machine, ())
    if series.unit != "seconds" or not comparisons or not changes:
        return tuple(changes)
    torch = history.environments[series.environment].torch
    positions = history.positions

    def position(commit: int) -> int:
        return positions[history.commits[commit].hash]

    judged = []
    for number, change in enumerate(changes):
        start = position(changes[number - 1].commit) if number else 0
        is_last = number + 1 == len(changes)
        end = len(positions) if is_last else position(changes[number + 1].commit)
        span = Span(
            range(start, position(change.previous) + 1), range(position(change.commit), end)
        )
        evidence = find_evidence(comparisons, series.case.name, torch, positions, span)
        judged.append(_judged_by(change, evidence))
    return tuple(judged)


def _judged_by(change: Change, evidence: Evidence | None) -> Change:
    if evidence is None or change.ratio is None:
        return change
    answer = verdict_of_ratio(evidence)
    low, high = evidence.interval
    state = change.state
    if answer is not Verdict.SAME:
        same_direction = (evidence.ratio > 1) == (change.ratio > 1)
        state = State.CONFIRMED if same_direction else State.REFUTED
    elif not low <= change.ratio <= high:
        state = State.REFUTED
    return replace(change, state=state, evidence=evidence)
