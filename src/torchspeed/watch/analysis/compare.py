"""Releases of torch, or any two environments, compared case by case at one commit.

Both values of a comparison come from the same commit and the same machine, so that a change of the
code is never taken for one of the environment. `torchspeed.watch.analysis.rule` decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from torchspeed.errors import TorchspeedError
from torchspeed.watch.analysis.rule import NOISE_FACTOR, Judgement, Measurement, Verdict, judge
from torchspeed.watch.history.records import NEVER_RUN, Case, History, Point, Run, Series


@dataclass(frozen=True, slots=True)
class Comparison:
    """One case in two environments of a machine."""

    case: Case
    unit: str
    higher_is_better: bool
    commit: str
    """Hash of the commit that both were measured at."""
    before: Run
    after: Run
    judgement: Judgement

    @property
    def ratio(self) -> float | None:
        """After over before; ``None`` where a value is missing or not positive."""
        return self.judgement.ratio

    @property
    def interval(self) -> tuple[float, float] | None:
        """Ratios that the noise makes possible, by the factor of the rule; ``None`` if unknown.

        A difference is one whose interval leaves 1 out.
        """
        noise = self.judgement.noise
        if self.ratio is None or noise is None:
            return None
        reach = math.exp(NOISE_FACTOR * noise)
        return self.ratio / reach, self.ratio * reach

    @property
    def verdict(self) -> Verdict:
        """Whether the second environment is better or worse."""
        return self.judgement.verdict


def compare_environments(
    history: History,
    machine: str,
    before: str,
    after: str,
    noise_of: Callable[[Series], float | None],
) -> tuple[Comparison, ...]:
    """Compare two environments on one machine, such as two releases of torch.

    Each case is compared at the newest commit that has a value in both, or was at least
    measured in both. A case without such a commit is left out.

    Args:
        history: The history.
        machine: Name of the machine.
        before: Name of one environment.
        after: Name of the other.
        noise_of: Noise of a series, as ``noise.known_noise`` gives it.

    Raises:
        TorchspeedError: There is no such machine or environment.
    """
    for name, known, what in (
        (machine, history.machines, "machine"),
        (before, history.environments, "environment"),
        (after, history.environments, "environment"),
    ):
        if name not in known:
            raise TorchspeedError(
                f"there is no {what} {name!r} in the results: "
                f"choose from {', '.join(sorted(known)) or 'none'}"
            )
    others = {s.case: s for s in history.series if (s.machine, s.environment) == (machine, after)}
    comparisons = []
    for series in history.series:
        other = others.get(series.case)
        if (series.machine, series.environment) != (machine, before) or other is None:
            continue
        commit = _newest_common(series, other)
        if commit is not None:
            comparisons.append(_comparison(series, other, commit, noise_of))
    return tuple(comparisons)


def _newest_common(series: Series, other: Series) -> str | None:
    """The newest commit with a value in both, else the newest measured in both."""
    values, other_values = series.values, other.values
    for commits in (
        [commit for commit in values if commit in other_values],
        [commit for commit in series.runs if commit in other.runs],
    ):
        if commits:
            return commits[-1]
    return None


def _comparison(
    series: Series, other: Series, commit: str, noise_of: Callable[[Series], float | None]
) -> Comparison:
    before = series.runs.get(commit, NEVER_RUN)
    after = other.runs.get(commit, NEVER_RUN)
    if before.point is None or after.point is None:
        side, run = ("before", before) if before.point is None else ("after", after)
        reason = f": {run.reason}" if run.reason else ""
        judgement = Judgement(Verdict.MISSING, f"{side}: {run.outcome.value}{reason}", None, None)
    else:
        judgement = judge(
            _measurement(before.point, noise_of(series)),
            _measurement(after.point, noise_of(other)),
            higher_is_better=series.higher_is_better,
        )
    return Comparison(
        series.case, series.unit, series.higher_is_better, commit, before, after, judgement
    )


def _measurement(point: Point, noise: float | None) -> Measurement:
    return Measurement(point.value, point.interval, noise)
