"""Is one case different from another: by how much, how sure, and is it better or worse.

A difference counts as significant when all of these hold:

1.  *Beyond the run's own spread.* Where both runs stored samples (five at least), the
    rank test's p, adjusted for the number of cases compared, is at most 0.01. Where they
    did not, the intervals of the two figures do not touch. Where neither is stored
    (memory, counts), the spread between runs of point 2 has to be known.
2.  *Beyond the spread between runs.* Where the series have enough figures to tell it,
    or the machine was calibrated for the case, the difference exceeds three standard
    deviations of a difference of two runs.
3.  *Big enough.* The relative change is at least 1.5 %.

Samples of one run do not know what the next run will be like, hence the second rule: two
commits measured one after the other differ by more than their samples say. Where that is
too coarse, measure the two side by side (`torchspeed.watch.turns.ratio`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from torchspeed.errors import TorchspeedError
from torchspeed.watch.analysis.change_points import MINIMUM_EFFECT
from torchspeed.watch.analysis.false_discovery import benjamini_hochberg
from torchspeed.watch.analysis.noise import known_noise
from torchspeed.watch.analysis.rank_test import mann_whitney
from torchspeed.watch.history.records import NEVER_RUN, Case, History, Point, Run, Series

FALSE_DISCOVERY_RATE = 0.01
"""Share of the differences called significant that may be none."""
FEWEST_SAMPLES = 5
DEVIATIONS_BETWEEN_RUNS = 3.0


class Verdict(Enum):
    """What a comparison comes to."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    """No significant difference: the two may be alike, or too noisy to tell apart."""
    MISSING = "missing"
    """One side has no figure."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one side of a comparison was measured."""

    machine: str
    environment: str
    commit: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """One case on two sides, before and after or one and the other."""

    case: Case
    unit: str
    higher_is_better: bool
    before_at: Place
    after_at: Place
    before: Run
    after: Run
    ratio: float | None
    """After over before; ``None`` where a side is missing or a figure is not positive."""
    interval: tuple[float, float] | None
    """What the ratio may be by the intervals of the two figures: the spread within the runs."""
    p: float | None
    """Of the rank test, adjusted for the number of cases; ``None`` without samples."""
    noise: float | None
    """Standard deviation of the ratio's logarithm that runs alone cause, where known."""
    verdict: Verdict
    why: str
    """The rule that decided, in words."""

    @property
    def significant(self) -> bool:
        """Whether the difference may be shown as one."""
        return self.verdict in {Verdict.BETTER, Verdict.WORSE}

    @property
    def improvement(self) -> float | None:
        """How many times better after is than before: above 1 is better, whatever the metric."""
        if self.ratio is None:
            return None
        return self.ratio if self.higher_is_better else 1 / self.ratio


def compare_revisions(
    history: History,
    before: str,
    after: str,
    *,
    minimum_effect: float = MINIMUM_EFFECT,
) -> tuple[Comparison, ...]:
    """Compare two commits: every series that either was measured for.

    Args:
        history: The history.
        before: Hash, unique start of one, or tag of a commit of the history.
        after: The other.
        minimum_effect: Smallest relative change that counts.

    Raises:
        TorchspeedError: There is no such commit, or more than one.
    """
    old, new = resolve_commit(history, before), resolve_commit(history, after)
    pairs = [
        (series, old, series, new)
        for series in history.series
        if old in series.runs or new in series.runs
    ]
    return _compare(history, pairs, minimum_effect)


def compare_environments(
    history: History,
    machine: str,
    before: str,
    after: str,
    commit: str | None = None,
    *,
    minimum_effect: float = MINIMUM_EFFECT,
    by_samples: bool = True,
) -> tuple[Comparison, ...]:
    """Compare two environments on one machine, such as two releases of torch.

    Args:
        history: The history.
        machine: Name of the machine.
        before: Name of one environment.
        after: Name of the other.
        commit: Hash, start of one, or tag; by default, for each case, the newest commit
            that has a figure in both.
        minimum_effect: Smallest relative change that counts.
        by_samples: Use the rank test where samples are stored; else the intervals of the
            figures decide, as they do where samples are not at hand.

    Raises:
        TorchspeedError: There is no such machine, environment or commit.
    """
    _known(machine, history.machines, "machine")
    for name in (before, after):
        _known(name, history.environments, "environment")
    return _compare_places(
        history, (machine, before), (machine, after), commit, minimum_effect, by_samples
    )


def compare_machines(
    history: History,
    before: str,
    after: str,
    environment: str,
    commit: str | None = None,
    *,
    minimum_effect: float = MINIMUM_EFFECT,
) -> tuple[Comparison, ...]:
    """Compare two machines in one environment; arguments as for ``compare_environments``."""
    for name in (before, after):
        _known(name, history.machines, "machine")
    _known(environment, history.environments, "environment")
    return _compare_places(
        history, (before, environment), (after, environment), commit, minimum_effect
    )


def resolve_commit(history: History, name: str) -> str:
    """Full hash of a commit of the history from its hash, the start of it, or a tag.

    Raises:
        TorchspeedError: None or several commits go by that name.
    """
    found = [c.hash for c in history.commits if c.hash == name or name in c.tags]
    if not found and name:
        found = [c.hash for c in history.commits if c.hash.startswith(name)]
    if len(found) != 1:
        what = "several commits" if found else "no commit with results"
        raise TorchspeedError(
            f"{name!r} names {what}: give a longer hash of a measured commit, or a tag"
        )
    return found[0]


def _known(name: str, known: Iterable[str], what: str) -> None:
    names = sorted(known)
    if name not in names:
        raise TorchspeedError(
            f"there is no {what} {name!r} in the results: choose from {', '.join(names) or 'none'}"
        )


def _compare_places(
    history: History,
    before: tuple[str, str],
    after: tuple[str, str],
    commit: str | None,
    minimum_effect: float,
    by_samples: bool = True,
) -> tuple[Comparison, ...]:
    full_hash = None if commit is None else resolve_commit(history, commit)
    others = {s.case: s for s in history.series if (s.machine, s.environment) == after}
    pairs = []
    for series in history.series:
        other = others.get(series.case)
        if (series.machine, series.environment) != before or other is None:
            continue
        at = full_hash or _newest_common(series, other)
        if at is not None:
            pairs.append((series, at, other, at))
    return _compare(history, pairs, minimum_effect, by_samples)


def _newest_common(series: Series, other: Series) -> str | None:
    """The newest commit with a figure in both, or just measured in both, if there is one."""
    figures, other_figures = series.values, other.values
    for candidates in (
        [commit for commit in figures if commit in other_figures],
        [commit for commit in series.runs if commit in other.runs],
    ):
        if candidates:
            return candidates[-1]
    return None


_Pair = tuple[Series, str, Series, str]


def _compare(
    history: History,
    pairs: Sequence[_Pair],
    minimum_effect: float,
    by_samples: bool = True,
) -> tuple[Comparison, ...]:
    noise_of = known_noise(history)
    raw = [
        _raw_comparison(pair, _noise_of_ratio(noise_of(pair[0]), noise_of(pair[2])))
        for pair in pairs
    ]
    if not by_samples:
        raw = [replace(comparison, p=None) for comparison in raw]
    tested = [number for number, comparison in enumerate(raw) if comparison.p is not None]
    adjusted = benjamini_hochberg([raw[number].p or 0.0 for number in tested])
    for number, p in zip(tested, adjusted, strict=True):
        raw[number] = replace(raw[number], p=p)
    return tuple(_judged(comparison, minimum_effect) for comparison in raw)


def _noise_of_ratio(before: float | None, after: float | None) -> float | None:
    """Standard deviation of the logarithm of a ratio of two runs."""
    if before is None or after is None:
        return None
    return math.hypot(before, after)


def _raw_comparison(pair: _Pair, noise: float | None) -> Comparison:
    series, old, other, new = pair
    before, after = series.runs.get(old, NEVER_RUN), other.runs.get(new, NEVER_RUN)
    comparison = Comparison(
        case=series.case,
        unit=series.unit,
        higher_is_better=series.higher_is_better,
        before_at=Place(series.machine, series.environment, old),
        after_at=Place(other.machine, other.environment, new),
        before=before,
        after=after,
        ratio=None,
        interval=None,
        p=None,
        noise=noise,
        verdict=Verdict.MISSING,
        why="",
    )
    if before.point is None or after.point is None:
        side, run = ("before", before) if before.point is None else ("after", after)
        reason = f": {run.reason}" if run.reason else ""
        return replace(comparison, why=f"{side}: {run.outcome.value}{reason}")
    if before.point.value <= 0 or after.point.value <= 0:
        return replace(
            comparison, verdict=Verdict.SAME, why="a figure is not positive: they have no ratio"
        )
    return replace(
        comparison,
        ratio=after.point.value / before.point.value,
        interval=_ratio_interval(before.point, after.point),
        p=_p_value(before.point, after.point),
        verdict=Verdict.SAME,
    )


def _p_value(before: Point, after: Point) -> float | None:
    if min(len(before.samples), len(after.samples)) < FEWEST_SAMPLES:
        return None
    return mann_whitney(before.samples, after.samples)


def _ratio_interval(before: Point, after: Point) -> tuple[float, float] | None:
    """Interval of the ratio of two figures from theirs.

    The distances from each figure to the ends of its interval, as logarithms, add like
    the sides of a right triangle.
    """
    if before.interval is None or after.interval is None:
        return None
    if min(before.interval[0], after.interval[0]) <= 0:
        return None
    ratio = after.value / before.value
    lower = math.hypot(
        math.log(after.value / after.interval[0]), math.log(before.interval[1] / before.value)
    )
    upper = math.hypot(
        math.log(after.interval[1] / after.value), math.log(before.value / before.interval[0])
    )
    return ratio * math.exp(-lower), ratio * math.exp(upper)


def _judged(comparison: Comparison, minimum_effect: float) -> Comparison:
    """Apply the rules in order; the first that fails says why it is the same."""
    ratio = comparison.ratio
    before, after = comparison.before.point, comparison.after.point
    if ratio is None or before is None or after is None:
        return comparison
    effect = abs(math.log(ratio))
    beyond_run, spread = _beyond_spread(comparison, before, after)
    if effect < math.log1p(minimum_effect):
        why = f"below {minimum_effect:.1%}"
    elif not beyond_run:
        why = spread
    elif comparison.noise is not None and effect <= DEVIATIONS_BETWEEN_RUNS * comparison.noise:
        why = f"within the noise between runs ({comparison.noise:.1%})"
    else:
        better = (ratio > 1) == comparison.higher_is_better
        return replace(comparison, verdict=Verdict.BETTER if better else Verdict.WORSE, why=spread)
    return replace(comparison, verdict=Verdict.SAME, why=why)


def _beyond_spread(comparison: Comparison, before: Point, after: Point) -> tuple[bool, str]:
    """Rule 1: is the difference beyond the spread within the runs, and how do we know."""
    if comparison.p is not None:
        beyond = comparison.p <= FALSE_DISCOVERY_RATE
        return beyond, f"rank test, p = {comparison.p:.2g}"
    if before.interval is not None and after.interval is not None:
        apart = before.interval[1] < after.interval[0] or after.interval[1] < before.interval[0]
        return apart, f"intervals {'apart' if apart else 'overlap'}"
    if comparison.noise is not None:
        return True, f"beyond the noise between runs ({comparison.noise:.1%})"
    return False, "no spread is known, so nothing can be said"
