"""Changes of a series and how sure they are: confirmed, unconfirmed or refuted.

A change is

- **confirmed** when it is a confirmed change point (`asv_watch.statistics.change_points`), or
  an interleaved comparison across it shows a difference in the same direction;
- **unconfirmed** when too few runs show it: a change point that is not confirmed yet, or newest
  runs that each differ, by `asv_watch.statistics.rule`, from the median of the runs before
  them (`asv_watch.statistics.newest_jump`);
- **refuted** when the newest interleaved comparison across it shows no difference and its
  confidence interval excludes the size of the change.

The ratios to the reference are searched in the same way, for changes that runs are too noisy to
show: a ratio has a known standard error of some 0.5 %, where runs on different nights differ by
several per cent.
`asv_watch.judge.evidence` says which comparisons are across a change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from statistics import fmean
from typing import Literal

from asv_watch.judge.evidence import Evidence, Span, find_evidence
from asv_watch.judge.reference_series import Points
from asv_watch.judge.segments import Segment
from asv_watch.records.explanations import Explanation
from asv_watch.records.history import History
from asv_watch.records.notes import ChangeNote
from asv_watch.records.series import Series
from asv_watch.statistics.change_points import Step, find_steps, values_to_confirm
from asv_watch.statistics.newest_jump import newest_jump
from asv_watch.statistics.noise import caution
from asv_watch.statistics.pruning import FEWEST_VALUES, MINIMUM_Z
from asv_watch.statistics.ratio import verdict as verdict_of_ratio
from asv_watch.statistics.rule import Verdict

MOST_NEW_RUNS = values_to_confirm() - FEWEST_VALUES
"""Newest runs of a series among which an unconfirmed change is reported: with more of them a
lasting change is confirmed."""
UNCONFIRMED_Z = 4.5
"""Standard errors, times the caution for few values (`noise.caution`), by which the levels differ
at a change point that is reported although it is not confirmed yet."""


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
    """The note about it in ``results/notes.toml``."""
    made_by: tuple[str, str] | None = None
    """Hashes of the last commit before it and the first after it, where a bisection left fewer
    commits than those between ``previous`` and ``commit``."""
    explanation: Explanation | None = None
    """Which operators account for it, where that was examined."""

    @property
    def ratio(self) -> float | None:
        """Level after over level before; ``None`` where one of them is not positive."""
        return self.after / self.before if self.before > 0 and self.after > 0 else None

    @property
    def best_ratio(self) -> float | None:
        """The interleaved ratio where there is one, else that of the levels."""
        return self.ratio if self.evidence is None else self.evidence.ratio

    @property
    def multiple(self) -> float | None:
        """Its size as a multiple of the noise; ``None`` if unknown or without any noise."""
        if self.ratio is None or not self.noise:
            return None
        return abs(math.log(self.ratio)) / self.noise


def changes_of(
    index: int,
    segments: Sequence[Segment],
    steps: Sequence[Sequence[Step]],
    noise: float | None,
    history: History,
    ratios: Points,
) -> tuple[Change, ...]:
    """List the changes of a series, oldest first.

    Args:
        index: Index of the series in the history.
        segments: Its segments.
        steps: The change points of each segment, confirmed or not.
        noise: Its noise between runs.
        history: The history.
        ratios: Its ratios to the reference.
    """
    series = history.series[index]

    def change(commits: Sequence[int], step: Step, before: float) -> Change:
        went_up = step.after > step.before
        return Change(
            series=index,
            previous=commits[step.position - 1],
            commit=commits[step.position],
            before=before,
            after=step.after / step.before * before if before != step.before else step.after,
            verdict="better" if went_up == series.higher_is_better else "worse",
            state=State.CONFIRMED if step.confirmed else State.UNCONFIRMED,
            runs=step.values_after,
            noise=None if noise is None else noise * math.sqrt(2),
        )

    changes = []
    later = sum(len(segment.values) for segment in segments)
    for segment, of_segment in zip(segments, steps, strict=True):
        later -= len(segment.values)
        values: list[float] = segment.values.tolist()
        most_new = MOST_NEW_RUNS - later
        variances = None if noise is None else [noise**2] * len(values)
        reported = _reported_steps(values, of_segment, variances, [0.0] * len(values), most_new)
        commits: list[int] = segment.commits.tolist()
        changes += [change(commits, step, step.before) for step in reported]
    for step in _ratio_steps(ratios) if ratios else ():
        previous = list(ratios)[step.position - 1]
        point = series.columns.run_at(previous).point
        before = ratios[previous].seconds if point is None else point.value
        of_ratio = change([history.order[commit] for commit in ratios], step, before)
        if not any(_overlap(of_ratio, other) for other in changes):
            changes.append(of_ratio)
    changes.sort(key=lambda change: change.commit)
    return _with_evidence(series, changes, history)


def _reported_steps(
    values: Sequence[float],
    steps: Sequence[Step],
    variances: Sequence[float] | None,
    shared: Sequence[float],
    most_new: int,
) -> list[Step]:
    """Return the steps that are confirmed or recent, and the jump of the newest values after them.

    Args:
        values: Values under the same conditions.
        steps: Their change points.
        variances: Variance of the logarithm of each value, if known.
        shared: As for `newest_jump`.
        most_new: Largest number of newest values that make a recent change.
    """
    least_z = UNCONFIRMED_Z * caution(max(1, len(values) - 1))
    reported = [
        step
        for step in steps
        if step.confirmed or (step.values_after <= most_new and step.z >= least_z)
    ]
    start = reported[-1].position if reported else 0
    if variances is not None:
        jump = newest_jump(values[start:], variances[start:], shared[start:], most_new)
        if jump is not None:
            reported.append(replace(jump, position=start + jump.position))
    return reported


def _ratio_steps(points: Points) -> list[Step]:
    """Return the steps of the ratios to the reference, which show smaller changes than runs do."""
    ratios = [point.ratio for point in points.values()]
    # Rounds that agree to the last digit have no measurable error.
    errors = [max(point.standard_error, 1e-4) for point in points.values()]
    links = [point.link_error**2 for point in points.values()]
    steps = [
        widened
        for step in find_steps(ratios, standard_errors=errors)
        if (widened := _widened(step, links)).z >= MINIMUM_Z
    ]
    variances = [error**2 for error in errors]
    return _reported_steps(ratios, steps, variances, links, MOST_NEW_RUNS)


def _widened(step: Step, links: Sequence[float]) -> Step:
    """Return a step of ratios with the uncertainty of the links between its sides' references.

    All points of a side share it, so that more points do not make it smaller.

    Args:
        step: The step, by the points' own errors.
        links: Variance of the link of each point to the newest reference. References are renewed
            one after the other, so that the older one's includes the newer one's.
    """
    start, end = step.position - step.values_before, step.position + step.values_after
    between = abs(fmean(links[start : step.position]) - fmean(links[step.position : end]))
    size = abs(math.log(step.ratio))
    return replace(step, z=size / math.hypot(size / step.z, math.sqrt(between)))


def _overlap(change: Change, other: Change) -> bool:
    return change.previous < other.commit and other.previous < change.commit


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
    if evidence.through_reference and evidence.wider:  # it may be about another change close by
        return replace(change, evidence=evidence)
    answer = verdict_of_ratio(evidence)
    low, high = evidence.interval
    state = change.state
    if answer is not Verdict.SAME:
        same_direction = (evidence.ratio > 1) == (change.ratio > 1)
        state = State.CONFIRMED if same_direction else State.REFUTED
    elif not low <= change.ratio <= high:
        state = State.REFUTED
    return replace(change, state=state, evidence=evidence)
