"""Torch releases compared with each other, on one machine and at one commit.

Both values of a comparison come from the same commit of the package, so that a change of its code
is never taken for one of torch. Where the two releases were compared interleaved, that decides;
else `torchspeed.watch.analysis.rule` does, and says nothing where the noise between runs is not
known.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from torchspeed.watch.analysis.ratio import verdict
from torchspeed.watch.analysis.rule import NOISE_FACTOR, Measurement, Verdict, judge
from torchspeed.watch.history.comparisons import CaseRatio, StoredComparison
from torchspeed.watch.history.history import History
from torchspeed.watch.history.records import NEVER_RUN, Case, Environment, Run, Series


@dataclass(frozen=True, slots=True)
class ReleaseComparison:
    """One case measured with two torch releases."""

    case: Case
    unit: str
    higher_is_better: bool
    commit: str
    """Hash of the commit that both were measured at."""
    before: Run
    after: Run
    ratio: float | None
    """After over before; ``None`` where a value is missing or not positive."""
    interval: tuple[float, float] | None
    """What the ratio may be: the confidence interval of an interleaved comparison, or else what
    the noise between runs leaves possible; ``None`` where that is unknown."""
    interleaved: bool
    verdict: Verdict
    """Whether the later release is better or worse."""
    reason: str
    """What decided, as part of a sentence."""

    @property
    def differs(self) -> bool:
        """Whether there is a clear difference."""
        return self.verdict in {Verdict.BETTER, Verdict.WORSE}


@dataclass(frozen=True, slots=True)
class ReleasePair:
    """Two neighbouring releases and all cases that were measured with either."""

    before: str
    """Name of the environment with the earlier release."""
    after: str
    cases: tuple[ReleaseComparison, ...]


@dataclass(frozen=True, slots=True)
class Releases:
    """The torch releases that a machine measured at one commit."""

    machine: str
    commit: str
    """Hash of the newest commit that most of the releases measured."""
    environments: tuple[str, ...]
    """Names of the environments that did, the oldest release first; two at least."""
    pairs: tuple[ReleasePair, ...]
    """Each release with the one before it."""


def compare_releases(history: History, noise: Sequence[float | None]) -> tuple[Releases, ...]:
    """Compare the torch releases of every machine that measured several at one commit.

    Args:
        history: The history.
        noise: Noise between runs of each of its series (`noise.known_noise`).

    Returns:
        The releases of each such machine, by its name.
    """
    series_of: dict[tuple[str, str], dict[Case, tuple[Series, float | None]]] = {}
    for series, of_series in zip(history.series, noise, strict=True):
        place = (series.machine, series.environment)
        series_of.setdefault(place, {})[series.case] = (series, of_series)
    found = []
    for machine in sorted(history.machines):
        measured = {
            environment: _measured_commits(
                series for series, _ in series_of[machine, environment].values()
            )
            for environment in _one_a_release(history, machine, series_of)
        }
        commit = _common_commit(history, measured)
        if commit is None:
            continue
        environments = [name for name, commits in measured.items() if commit in commits]
        pairs = [
            ReleasePair(
                before,
                after,
                _compare(
                    series_of[machine, before],
                    series_of[machine, after],
                    commit,
                    _interleaved(history, machine, before, after),
                ),
            )
            for before, after in pairwise(environments)
        ]
        found.append(Releases(machine, commit, tuple(environments), tuple(pairs)))
    return tuple(found)


def release_order(version: str) -> tuple[int, ...]:
    """A release as numbers, so that 2.9 comes before 2.10."""
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _one_a_release(
    history: History, machine: str, series_of: Mapping[tuple[str, str], object]
) -> list[str]:
    """The environments of a machine, one for each torch release, the oldest release first.

    Of several environments with one release it is the one that measured the newest commit.
    """
    order = {commit.hash: place for place, commit in enumerate(history.commits)}

    def newest(environment: Environment) -> int:
        facts = history.facts.get((machine, environment.name), {})
        return max((order.get(commit, -1) for commit in facts), default=-1)

    of_release: dict[str, Environment] = {}
    for environment in history.environments.values():
        if environment.torch and (machine, environment.name) in series_of:
            other = of_release.setdefault(environment.torch, environment)
            if newest(environment) > newest(other):
                of_release[environment.torch] = environment
    return [of_release[torch].name for torch in sorted(of_release, key=release_order)]


def _measured_commits(series: Iterable[Series]) -> set[str]:
    return {commit for one in series for commit, run in one.runs.items() if run.point is not None}


def _common_commit(history: History, measured: Mapping[str, set[str]]) -> str | None:
    """The commit that the most environments measured, two at least; of several the newest."""
    counts = Counter(commit for commits in measured.values() for commit in commits)
    most = max(counts.values(), default=0)
    if most < 2:
        return None
    return next(c.hash for c in reversed(history.commits) if counts[c.hash] == most)


def _compare(
    before: Mapping[Case, tuple[Series, float | None]],
    after: Mapping[Case, tuple[Series, float | None]],
    commit: str,
    interleaved: Mapping[str, CaseRatio],
) -> tuple[ReleaseComparison, ...]:
    comparisons = []
    for case, (series, noise) in before.items():
        if case not in after:
            continue
        other, other_noise = after[case]
        old, new = series.runs.get(commit, NEVER_RUN), other.runs.get(commit, NEVER_RUN)
        if old is not NEVER_RUN or new is not NEVER_RUN:
            comparisons.append(
                _comparison(series, commit, (old, noise), (new, other_noise), interleaved)
            )
    return tuple(comparisons)


def _comparison(
    series: Series,
    commit: str,
    before: tuple[Run, float | None],
    after: tuple[Run, float | None],
    interleaved: Mapping[str, CaseRatio],
) -> ReleaseComparison:
    (old, noise), (new, other_noise) = before, after
    stored = interleaved.get(series.case.name) if series.unit == "seconds" else None
    ratio, interval = None, None
    if stored is not None:
        ratio, interval = stored.ratio, stored.interval
        answer, reason = verdict(stored), "compared interleaved"
    elif old.point is None or new.point is None:
        side, run = ("before", old) if old.point is None else ("after", new)
        answer = Verdict.MISSING
        reason = f"{side}: {run.outcome.value}{f': {run.reason}' if run.reason else ''}"
    else:
        judgement = judge(
            Measurement(old.point.value, old.point.interval, noise, old.recipe),
            Measurement(new.point.value, new.point.interval, other_noise, new.recipe),
            higher_is_better=series.higher_is_better,
        )
        ratio, answer, reason = judgement.ratio, judgement.verdict, judgement.reason
        if ratio is not None and judgement.noise is not None:
            reach = math.exp(NOISE_FACTOR * judgement.noise)
            interval = (ratio / reach, ratio * reach)
    return ReleaseComparison(
        case=series.case,
        unit=series.unit,
        higher_is_better=series.higher_is_better,
        commit=commit,
        before=old,
        after=new,
        ratio=ratio,
        interval=interval,
        interleaved=stored is not None,
        verdict=answer,
        reason=reason,
    )


def _interleaved(history: History, machine: str, before: str, after: str) -> dict[str, CaseRatio]:
    """The newest interleaved ratio of each case between the releases of two environments."""
    old, new = history.environments[before].torch, history.environments[after].torch
    ratios: dict[str, CaseRatio] = {}
    for comparison in history.comparisons.get(machine, ()):
        if _is_of_releases(comparison, old, new):
            ratios |= {ratio.case: ratio for ratio in comparison.ratios}
    return ratios


def _is_of_releases(comparison: StoredComparison, old: str, new: str) -> bool:
    header = comparison.header
    same_commit = header.before.commit == header.after.commit
    return same_commit and (header.before.torch, header.after.torch) == (old, new)
