"""The rounds of the cases of one measurement: by which clock, and when they are enough.

`Sampling` says when a case needs no further round. A difference rests on five rounds at least.
With three or more sides, the ratio of each to the next has to be known; a side that fails is left
out, and the others go on.

A round of a case that times nothing is one value of each side, so peak memory gets a ratio with
its interval as times do. Three rounds suffice for such a case if it does not differ. A tracked
value that each side repeats is compared by equality, as are exact counts.

On a busy machine wall time is mostly that of other work, and varies with it. CPU time is not, but
leaves out what a benchmark waits for, and adds up what its threads do at the same time. So it
replaces wall time only if all of this is true of a case:

- The suite has asv's default clock.
- In three quarters of its rounds, and of their samples, its process ran one thread, which never
  waited: the kernel counts how often a process gives its core away by itself
  (`asv_watch.probes.measure`). In the others it may have waited for something outside the case,
  such as a page of memory that the system had reclaimed.
- Wall time exceeds CPU time by `BUSY`, which can then only be the time of other work.

The choice ignores differences between the sides, and is the same for all sides and rounds.
"""

import contextlib
import itertools
import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import truediv

from asv_watch.comparison import Clock, Comparison, Outcome, Rounds, metric_of
from asv_watch.engine import processes
from asv_watch.engine.cases import MeasurableCase
from asv_watch.statistics.ratio import (
    estimate_ratio,
    margin_of_error,
    spread_of_few,
    spread_of_rounds,
)
from asv_watch.statistics.rule import MINIMUM_EFFECT, Answer, Verdict, answer, is_precise, verdict
from asv_watch.text import quantities

BUSY = 0.02
"""Share of the CPU time that other work added, from which the machine counts as busy."""


def clock_of(case: MeasurableCase, rounds: Sequence[processes.Round]) -> Clock:
    """Return the clock from which the ratios of a case are computed."""
    numbers = [number for numbers in rounds for number in numbers if number]
    if any(number.clock for number in numbers):
        return "process"
    computing = sum(number.computes for number in numbers)
    if not case.can_fork or computing < processes.COMPUTING * len(numbers):
        return ""  # a GPU computes while the process does nothing
    wall = sum(number.wall or 0.0 for number in numbers)
    cpu = sum(number.cpu or 0.0 for number in numbers)
    return "process" if wall > (1 + BUSY) * cpu else ""


def seconds(number: processes.SideResult, clock: Clock) -> float:
    """Return the seconds of a call by a clock, or the value of a case that times nothing."""
    return number.cpu if clock and number.cpu is not None else number.value


@dataclass(frozen=True, slots=True)
class Sampling:
    """How many rounds a case gets."""

    fewest_rounds: int = 5
    most_rounds: int = 16
    half_width: float = 0.015
    """Half of a ratio's interval at which a case needs no further round (0.015 is 1.5 %)."""
    doubtful_from: float = 0.01
    """If a ratio differs from 1 by this much but by less than its interval, as many rounds are
    measured again, once, provided that the interval is at most twice as wide as wanted, or that
    it would exclude 1 with as many rounds again if the ratio and the spread stayed."""
    share_of_difference: float = 0.1
    """For large differences the half width may be this share of the difference: a ratio ten
    half-widths from 1 is no coincidence."""
    change_if_busy: float = 0.0
    """On a busy machine a case needs no further round either once it is known whether there is a
    change of this size (0.05 is 5 %, `asv_watch.statistics.rule`); 0 if a ratio has to be as
    precise there as on an idle machine."""
    usual_spread: float = 0.0
    """Usual spread of the machine's rounds, to which that of a few is then corrected, as in the
    interval that is shown."""
    all_sides: bool = False
    """Whether a case is given up if a side cannot be measured; else if fewer than two can."""

    def fewest_rounds_of(self, case: MeasurableCase, sides: int) -> int:
        """Return how many rounds a case gets at least; a single side gets those of its suite."""
        return case.rounds if sides == 1 else self.fewest_rounds


DEFAULT = Sampling()
CHANGE_IF_BUSY = 0.05
"""Change that a comparison looks for on a busy machine, where a more precise one takes minutes."""
PRECISE = Sampling(most_rounds=24, half_width=MINIMUM_EFFECT / 2)
"""Decides whether a difference of `MINIMUM_EFFECT` exists, also in noisy cases."""

_ERROR_IF_BUSY = 0.00015
"""Chance on each side that a difference which is certain on a busy machine is none: smaller than
usual, because it is looked at after each round."""
_ROUNDS_TO_CALL_EXACT = 2
"""Rounds in which each side repeats its value, after which a tracked value counts as exact."""
_ROUNDS_TO_ESTIMATE = 2
"""Rounds of a case from which its spread tells how many it will take."""
_SAME_CLOCK = 1e-3
"""Two clocks that differ by no more than this share are one, such as the wall and asv's own."""

Estimated = tuple[float, tuple[float, float]]
"""A ratio and its interval."""
KeepCase = Callable[[Comparison], None]
KeepRound = Callable[[MeasurableCase, processes.Round], None]


@dataclass
class _OpenCase:
    case: MeasurableCase
    rounds: list[processes.Round]
    unmeasured: dict[int, processes.UnmeasuredError] = field(default_factory=dict)
    """Maps the index of a side to the reason why it is not measured any more."""
    repeated_until: int = 0
    """Number of rounds that a doubtful case gets; 0 if it is not doubtful."""

    def ratios(self) -> list[tuple[float, ...]]:
        """Return the ratios of the rounds, for each side that is measured and the one before it.

        They are empty if a value is zero or below.
        """
        clock = clock_of(self.case, self.rounds)
        rounds = [[seconds(n, clock) for n in numbers if n] for numbers in self.rounds]
        if any(min(values) <= 0 for values in rounds):
            return [() for _ in rounds[0][1:]]
        pairs = itertools.pairwise(zip(*rounds, strict=True))
        return [tuple(map(truediv, after, before)) for before, after in pairs]


class RoundsOfCases:
    """The cases of one measurement, open and finished."""

    def __init__(
        self,
        cases: Sequence[MeasurableCase],
        sides: int,
        sampling: Sampling,
        keep: KeepCase,
        kept: Mapping[str, Sequence[processes.Round]],
        keep_round: KeepRound = lambda case, numbers: None,
    ) -> None:
        """Begin with the rounds of so many sides that an earlier start kept, by case.

        ``keep`` is called with each case that is finished, ``keep_round`` with each round.
        """
        self.open = {case: _OpenCase(case, list(kept.get(case.name, ()))) for case in cases}
        self._sides = sides
        self._fewest_sides = sides if sampling.all_sides else min(2, sides)
        self._sampling = sampling
        self._keep, self._keep_round = keep, keep_round
        self._spreads: dict[MeasurableCase, float] = {}
        self.results: list[Comparison] = []

    def active(self, case: MeasurableCase) -> list[int]:
        """Return the indices of the sides on which a case is still measured."""
        unmeasured = self.open[case].unmeasured
        return [side for side in range(self._sides) if side not in unmeasured]

    def add(self, case: MeasurableCase, numbers: processes.Round) -> str:
        """Add a round of a case and return its ratio, or else its value, in words.

        A case that times nothing is closed if more rounds would not change its answer.
        """
        opened = self.open[case]
        self._keep_round(case, numbers)
        opened.rounds.append(numbers)
        by_round = [[n.value for n in each if n] for each in opened.rounds]
        values = by_round[-1]
        if not case.is_timed:
            repeats = case.measures == "value" and by_round == [values] * _ROUNDS_TO_CALL_EXACT
            is_exact = case.measures == "count" or repeats
            has_ratio = min(map(min, by_round)) > 0
            if is_exact or (not has_ratio and len(by_round) >= _ROUNDS_TO_CALL_EXACT):
                self._close(case, exact=is_exact)
                shown = ", ".join(quantities.quantity(value, case.unit) for value in values)
                return "same" if len(values) > len(set(values)) == 1 else shown
            if not has_ratio:
                return "zero or below"
        kind = metric_of(case.unit)
        changes = [quantities.change(ratios[-1], kind) for ratios in opened.ratios()]
        return ", ".join(changes) or quantities.quantity(values[0], case.unit)

    def leave_out(
        self, case: MeasurableCase, side: int, reason: processes.UnmeasuredError
    ) -> None:
        """Go on without a side; close the case if nothing is left to compare."""
        opened = self.open[case]
        opened.unmeasured[side] = reason
        opened.rounds = [
            tuple(None if index == side else number for index, number in enumerate(numbers))
            for numbers in opened.rounds
        ]
        if len(self.active(case)) < self._fewest_sides:
            opened.rounds = []
            self._close(case)

    def close_known(self, *, all_of_them: bool = False) -> None:
        """Close the cases with enough rounds and, unless ``all_of_them``, precise enough ratios.

        The spread of a case counts as at least that of the median case.
        """
        ratios = {
            case: opened.ratios()
            for case, opened in self.open.items()
            if len(opened.rounds) >= self._sampling.fewest_rounds_of(case, self._sides)
        }
        self._spreads |= {
            case: max(map(spread_of_rounds, case_pairs))
            for case, case_pairs in ratios.items()
            if case_pairs and all(case_pairs)
        }
        least = statistics.median(self._spreads.values()) if self._spreads else 0.0
        for case, case_pairs in ratios.items():
            opened = self.open[case]
            rounds, is_busy = len(opened.rounds), self._is_busy(opened)
            usual = self._sampling.usual_spread if is_busy else 0.0
            measured = [
                estimate_ratio(
                    pair, max(least, spread_of_few(spread_of_rounds(pair), len(pair), usual))
                )
                for pair in case_pairs
                if pair
            ]
            differs = any(verdict(*ratio) is not Verdict.SAME for ratio in measured)
            if differs and rounds < DEFAULT.fewest_rounds:
                continue  # a difference needs more rounds
            if all_of_them or self._are_known(opened, measured, is_busy=is_busy):
                self._close(case, least)

    def _are_known(self, opened: _OpenCase, ratios: Sequence[Estimated], *, is_busy: bool) -> bool:
        """Tell whether a case needs no more rounds; a doubtful one gets as many again."""
        rounds = len(opened.rounds)
        # The difference from 1 and half of the interval's width, both as logarithms.
        measured = [
            (abs(math.log(ratio)), math.log(high / low) / 2) for ratio, (low, high) in ratios
        ]
        if is_busy and all(self._is_answered(*ratio, rounds) for ratio in measured):
            return True
        if opened.repeated_until:
            return rounds >= opened.repeated_until
        is_narrow = all(itertools.starmap(self._is_precise, measured))
        if not is_narrow and rounds < self._sampling.most_rounds:
            return False
        # Asked after each round, 102 of 9,600 simulated equal pairs would differ instead of 84.
        is_doubtful = any(itertools.starmap(self._is_doubtful, measured))
        opened.repeated_until = 2 * rounds if is_doubtful else 0
        return not is_doubtful

    def _is_precise(self, difference: float, half: float) -> bool:
        sampling = self._sampling
        return is_precise(difference, half, sampling.half_width, sampling.share_of_difference)

    def _is_answered(self, difference: float, half: float, rounds: int) -> bool:
        """Tell whether the change that is looked for on a busy machine is certain or excluded.

        A difference that is certain but too small to count may still grow, so any counts here.
        """
        change = math.log1p(self._sampling.change_if_busy)
        known = answer(difference, half, rounds - 1, change, error=_ERROR_IF_BUSY, counts_from=0.0)
        return known is not Answer.UNKNOWN

    def _is_doubtful(self, difference: float, half: float) -> bool:
        decidable = max(2 * self._sampling.half_width, math.sqrt(2) * difference)
        return self._sampling.doubtful_from <= difference <= 2 * half <= 2 * decidable

    def _is_busy(self, opened: _OpenCase) -> bool:
        """Tell whether a ratio may be less precise, because the machine is too busy for more.

        Other work takes so much of the time that it disturbs the CPU time too.
        """
        if not self._sampling.change_if_busy:
            return False
        clock = clock_of(opened.case, opened.rounds)
        numbers = [n for numbers in opened.rounds for n in numbers if n and n.wall is not None]
        wall = sum(number.wall or 0.0 for number in numbers)
        return (
            wall - sum(seconds(number, clock) for number in numbers) > processes.DISTURBED * wall
        )

    def rounds_left(self, case: MeasurableCase) -> int:
        """Estimate how many rounds an open case will take."""
        opened = self.open[case]
        rounds, is_busy = len(opened.rounds), self._is_busy(opened)
        needed = max(rounds, self._sampling.fewest_rounds_of(case, self._sides))
        if rounds < _ROUNDS_TO_ESTIMATE:
            return needed - rounds
        if opened.repeated_until:
            return max(0, opened.repeated_until - rounds)
        for pair in filter(None, opened.ratios()):
            spread, difference = spread_of_rounds(pair), abs(math.log(statistics.median(pair)))
            while needed < self._sampling.most_rounds:
                half = margin_of_error(spread, needed)
                if self._is_precise(difference, half) or (
                    is_busy and self._is_answered(difference, half, needed)
                ):
                    break
                needed += 1
        return needed - rounds

    def close_all(self) -> None:
        """Close the open cases, however few rounds they have."""
        for case in list(self.open):
            self._close(case)

    @contextlib.contextmanager
    def keeping(self) -> Iterator[None]:
        """Close the cases that have enough rounds, at an interrupt or the end of a time budget."""
        try:
            yield
        except BaseException:
            self.close_known(all_of_them=True)
            raise

    def _close(
        self, case: MeasurableCase, least_spread: float = 0.0, *, exact: bool = False
    ) -> None:
        opened = self.open.pop(case)
        reasons = opened.unmeasured.items()
        result = Comparison(
            case=case.name,
            at=int(time.time()),
            unit=case.unit,
            higher_is_better=case.higher_is_better,
            rounds=_column(opened.rounds, "value"),
            wall=_other_clock(opened.rounds, "wall"),
            cpu=_other_clock(opened.rounds, "cpu"),
            exact=exact,
            least_spread=float(f"{least_spread:.4g}"),
            skipped={side: e.reason for side, e in reasons if e.outcome is Outcome.SKIPPED},
            failed={
                side: str(e) if self._sides > 1 else e.reason
                for side, e in reasons
                if e.outcome is not Outcome.SKIPPED
            },
            late=tuple(side for side, e in reasons if e.outcome is Outcome.TIMED_OUT),
            clock=clock_of(case, opened.rounds),
            cases=case.sides,
            benchmark_version=case.version,
            one_setup=any(n.one_setup for numbers in opened.rounds for n in numbers if n),
        )
        self.results.append(result)
        self._keep(result)


def _column(rounds: Sequence[processes.Round], name: str) -> Rounds:
    return tuple(
        tuple(None if number is None else getattr(number, name) for number in numbers)
        for numbers in rounds
    )


def _other_clock(rounds: Sequence[processes.Round], name: str) -> Rounds:
    """Return the numbers of another clock; empty if they are those of the case's own."""
    values, other = _column(rounds, "value"), _column(rounds, name)
    pairs = zip(itertools.chain(*values), itertools.chain(*other), strict=True)
    known = [(value, seconds) for value, seconds in pairs if value and seconds is not None]
    return other if any(abs(s / value - 1) > _SAME_CLOCK for value, s in known) else ()
