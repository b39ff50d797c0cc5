"""Nights on simulated histories, whose steps are known: what they claim, and how often it is true.

A history has up to five steps of -60 to +60 % at known commits. Every night one to four commits
arrive; the newest is run, and so is an older one. Runs have noise, drift and spikes. A night
compares, as the rules of `asv_watch` say: the newest commit with the one measured before it (but
for one night in ten), then what is suspected or was compared once, then midpoints of what lies
between several commits, ten comparisons in all, ten minutes each. A comparison draws rounds of a
known spread. In each hour, every commit is off its true level by a little.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from asv_watch.bisect import Answer, answer_of, narrow
from asv_watch.compare.confirm import find_suspects
from asv_watch.judge.changes import Change
from asv_watch.judge.findings import Findings, analyse
from asv_watch.records.comparisons import CaseRatio, Kind, Measurement, StoredComparison
from asv_watch.records.history import History
from asv_watch.statistics.graph import SITTING
from asv_watch.statistics.ratio import estimate_ratio
from asv_watch.statistics.rule import MINIMUM_EFFECT
from asv_watch.versions.version import Version
from tests.asv_watch.making import (
    MACHINE,
    commit_hash,
    make_commits,
    make_history,
    make_series,
)

BUDGET = 10
"""Comparisons of a case in one night."""
MOST_STEPS = 5
LARGEST_STEP = 0.6
RUN_NOISE, DRIFT, SPIKES = 0.02, 0.003, 0.02
ROUNDS, PRECISE_ROUNDS = 10, 24
BETWEEN_SITTINGS = 0.0045
"""Standard deviation of a ratio from one sitting to another, as on this project's machines."""
COMPARISON_SECONDS = 600
NIGHT_SECONDS = 86_400
SETTLING_NIGHTS = 3
"""Nights after the last commit."""
DETECTABLE_STEP = 0.03
NIGHTS_TO_MEASURE = 2

_CASE = make_series([1.0]).case.name


class OutOfBudgetError(Exception):
    """The night is over."""


@dataclass
class Tally:
    """What was claimed over several histories."""

    shown: int = 0
    """Pairs of commits with a measured change at the end of any night, when first shown."""
    true: int = 0
    """Of them, those whose interval holds the true ratio."""
    false: int = 0
    """Of them, those between commits without a step."""
    quiet_commits: int = 0
    """Commits that make no step."""
    spanning: int = 0
    """Of those shown after the last night, those that span two steps."""
    steps: int = 0
    """Steps of `DETECTABLE_STEP` or more."""
    measured: int = 0
    """Of them, those measured on the night of their commit or the next."""

    def add(self, other: Tally) -> None:
        """Add the counts of further histories."""
        for name, count in vars(other).items():
            setattr(self, name, getattr(self, name) + count)

    def __str__(self) -> str:
        return (
            f"{self.true} of {self.shown} intervals hold the truth "
            f"({self.true / self.shown:.1%}); "
            f"{self.spanning} measured changes span two steps; "
            f"{self.false} false claims in {self.quiet_commits} commits without a change; "
            f"{self.measured} of {self.steps} steps of {DETECTABLE_STEP:.0%} or more measured "
            f"within {NIGHTS_TO_MEASURE} nights ({self.measured / self.steps:.1%})"
        )


@dataclass
class Simulation:
    """One history, and the nights that measure it."""

    rng: np.random.Generator
    levels: list[float]
    """True time of each commit."""
    arrivals: list[int]
    """Number of commits that exist on each night."""
    spread: float
    """Standard deviation of the logarithm of a round's ratio."""
    runs: dict[int, float] = field(default_factory=dict)
    comparisons: list[StoredComparison] = field(default_factory=list)
    _left: int = 0
    _night: int = 0
    _levels: dict[tuple[int, int], float] = field(default_factory=dict)
    _analysed: dict[tuple[int, int, int], tuple[History, Findings]] = field(default_factory=dict)
    """By the number of commits, runs and comparisons, of which none ever goes."""

    def steps(self) -> dict[int, float]:
        """Return the commits that make a step, with its ratio."""
        pairs = zip(self.levels, self.levels[1:], strict=False)
        return {
            number: after / before
            for number, (before, after) in enumerate(pairs, start=1)
            if before != after
        }

    def pass_night(self, night: int) -> tuple[Change, ...]:
        """Measure; return the changes that are shown afterwards."""
        count = self.arrivals[night]
        newest = count - 1
        self._left, self._night = BUDGET, night
        try:
            self._compare_new_commit(newest)
            self._run(newest)
            self._run(int(self.rng.integers(count)))
            self._compare_suspects(count)
            self._bisect(count)
        except OutOfBudgetError:
            pass
        return self._changes(count)[1].changes

    def _run(self, commit: int) -> None:
        if commit not in self.runs:
            drift = DRIFT * math.sqrt(commit) * math.sin(commit / 9 + self.spread * 1000)
            noise = self.rng.normal(0.0, RUN_NOISE) + drift
            spike = self.rng.uniform(1.2, 2.0) if self.rng.random() < SPIKES else 1.0
            self.runs[commit] = self.levels[commit] * math.exp(noise) * spike

    def _compare(self, before: int, after: int, kind: Kind, rounds: int) -> CaseRatio:
        if self._left == 0:
            raise OutOfBudgetError
        self._left -= 1
        at = self._night * NIGHT_SECONDS + (BUDGET - self._left) * COMPARISON_SECONDS
        sitting = at // SITTING
        true = self.levels[after] / self.levels[before]
        true *= self._level_in(after, sitting) / self._level_in(before, sitting)
        ratios = (true * self.rng.lognormal(0.0, self.spread, rounds)).tolist()
        ratio, interval = estimate_ratio(ratios)
        measured = CaseRatio(
            _CASE, at, tuple(ratios), ratio, interval, self.levels[before], self.levels[after]
        )
        versions = tuple(Version(commit_hash(n), {}, "3.11") for n in (before, after))
        header = Measurement(kind=kind, at=at, machine=MACHINE, versions=versions)
        self.comparisons.append(StoredComparison(Path("c.jsonl"), header, (measured,), ()))
        return measured

    def _level_in(self, commit: int, sitting: int) -> float:
        """Return how far a commit is off its true level in a sitting, as a ratio."""
        if (commit, sitting) not in self._levels:
            deviation = self.rng.normal(0.0, BETWEEN_SITTINGS / math.sqrt(2))
            self._levels[commit, sitting] = math.exp(deviation)
        return self._levels[commit, sitting]

    def _changes(self, count: int) -> tuple[History, Findings]:
        known = count, len(self.runs), len(self.comparisons)
        if known not in self._analysed:
            history = make_history(
                [make_series(dict(sorted(self.runs.items())))],
                commits=make_commits(count),
                positions={commit_hash(number): number for number in range(count)},
                comparisons={MACHINE: tuple(self.comparisons)},
            )
            self._analysed[known] = history, analyse(history)
        return self._analysed[known]

    def _compare_new_commit(self, newest: int) -> None:
        compared = {commit_hash(newest)} & {c.header.after.commit for c in self.comparisons}
        earlier = [commit for commit in self.runs if commit < newest]
        if earlier and not compared and self.rng.random() >= 0.1:
            self._compare(max(earlier), newest, "compare", ROUNDS)

    def _compare_suspects(self, count: int) -> None:
        history, findings = self._changes(count)
        unsure = *findings.changes, *findings.near
        for suspects in find_suspects(history, unsure, MACHINE):
            ends = (history.positions[suspects.before], history.positions[suspects.after])
            self._compare(*ends, "confirm", PRECISE_ROUNDS)

    def _bisect(self, count: int) -> None:
        for change in self._changes(count)[1].changes:
            first, last = change.previous, change.commit
            if change.is_measured and last - first > 1 and change.ratio:
                resolution = max(MINIMUM_EFFECT, math.expm1(abs(math.log(change.ratio)) / 4))
                self._narrow(first, last, resolution)

    def _narrow(self, first: int, last: int, resolution: float) -> None:
        def split(before: int, after: int, midpoint: int) -> tuple[Answer, Answer]:
            ends = (before, midpoint), (midpoint, after)
            one, two = (
                answer_of(
                    self._compare(first + old, first + new, "bisect", PRECISE_ROUNDS), resolution
                )
                for old, new in ends
            )
            return one, two

        narrow(last - first + 1, split)


def draw(rng: np.random.Generator, nights: int) -> Simulation:
    """Draw a history."""
    arrivals = [*(10 + np.cumsum(rng.integers(1, 5, nights))).tolist()]
    count = arrivals[-1]
    levels = np.ones(count)
    starts = rng.choice(np.arange(10, count), rng.integers(0, MOST_STEPS + 1), replace=False)
    for start in starts:
        levels[start:] *= 1 + rng.uniform(-LARGEST_STEP, LARGEST_STEP)
    arrivals += [count] * SETTLING_NIGHTS
    simulation = Simulation(rng, levels.tolist(), arrivals, rng.uniform(0.005, 0.02))
    for commit in range(10):
        simulation._run(commit)
    return simulation


def tally_of(simulation: Simulation) -> Tally:
    """Pass all nights of a history, and count what they claim."""
    levels, steps = simulation.levels, simulation.steps()
    tally = Tally(quiet_commits=len(levels) - len(steps))
    tally.steps = sum(abs(ratio - 1) >= DETECTABLE_STEP for ratio in steps.values())
    seen: set[tuple[int, int]] = set()
    measured: set[int] = set()
    last: list[Change] = []
    for night, count in enumerate(simulation.arrivals):
        last = [change for change in simulation.pass_night(night) if change.is_measured]
        before = simulation.arrivals[night - NIGHTS_TO_MEASURE] if night >= 2 else 10
        for change in last:
            ends = range(change.previous + 1, change.commit + 1)
            measured |= {step for step in steps if step in ends and before <= step < count}
            key = change.previous, change.commit
            if key in seen:
                continue
            seen.add(key)
            true = levels[change.commit] / levels[change.previous]
            low, high = change.interval or (0.0, 0.0)
            tally.shown += 1
            tally.true += low <= true <= high
            tally.false += not any(step in ends for step in steps)
    tally.spanning = sum(
        sum(change.previous < step <= change.commit for step in steps) > 1 for change in last
    )
    tally.measured = sum(abs(steps[step] - 1) >= DETECTABLE_STEP for step in measured)
    return tally


def simulate(histories: int, *, nights: int = 20, seed: int = 2026) -> Tally:
    """Draw histories and pass their nights.

    Args:
        histories: how many.
        nights: on which commits arrive, for each.
        seed: of all that is drawn.
    """
    rng, total = np.random.default_rng(seed), Tally()
    for _ in range(histories):
        total.add(tally_of(draw(rng, nights)))
    return total
