"""Measures cases of versions, round after round, until each ratio is precise enough.

A round of every case comes before the next round of any, so that minutes lie between two rounds of
one case. Each round has processes of its own on all sides, because the layout of memory, and with
it the speed, differs from process to process. Every case gets the fewest rounds of the `Sampling`;
a case whose interval is still too wide gets more. Sampling stops when the interval is narrow
enough (`asv_watch.statistics.rule`), unless the ratio is doubtful: then the case gets as many
rounds again, once, and all of them count. A difference rests on five rounds at least. For large
differences half of the interval may be 10 % of the difference: a ratio ten half-widths from 1 is
no coincidence. With three or more sides, the ratio of each to the next has to be known; a side
that fails is left out, and the others go on.

A round of a case that times nothing is one value of each side, so peak memory gets a ratio with
its interval as times do. Three rounds suffice for such a case if it does not differ. A tracked
value that each side repeats is compared by equality, as are exact counts.
"""

import contextlib
import dataclasses
import itertools
import math
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from asv_watch.comparison import Comparison, Rounds, metric_of
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.clocks import clock_of, is_disturbed, seconds
from asv_watch.engine.processes import (
    CaseFailedError,
    CaseSkippedError,
    CaseTimedOutError,
    Round,
    SideProcess,
    UnmeasuredError,
    imported_by_all,
    measure_round,
)
from asv_watch.engine.sides import Side
from asv_watch.errors import MachineError
from asv_watch.machine.budget import Budget
from asv_watch.progress import Display, human_time, time_left
from asv_watch.statistics.ratio import (
    estimate_ratio,
    margin_of_error,
    spread_of_few,
    spread_of_rounds,
)
from asv_watch.statistics.rule import MINIMUM_EFFECT, Answer, Verdict, answer, is_precise, verdict
from asv_watch.text import quantities


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
    """For large differences the half width may be this share of the difference: a time
    2.4 times as long is precise enough at ±9 %."""
    change_if_busy: float = 0.0
    """On a busy machine a case needs no further round either once it is known whether there is a
    change of this size (0.05 is 5 %, `asv_watch.statistics.rule`); 0 if a ratio has to be as
    precise there as on an idle machine."""
    usual_spread: float = 0.0
    """Usual spread of the machine's rounds, to which that of a few is then corrected, as in the
    interval that is shown."""
    all_sides: bool = False
    """Whether a case is given up if a side cannot be measured; else if fewer than two can."""


DEFAULT = Sampling()
CHANGE_IF_BUSY = 0.05
"""Change that a comparison looks for on a busy machine, where a more precise one takes minutes."""
PRECISE = Sampling(most_rounds=24, half_width=MINIMUM_EFFECT / 2)
"""Decides whether a difference of `MINIMUM_EFFECT` exists, also in noisy cases."""

_ERROR_IF_BUSY = 0.00015
"""Chance on each side that a difference which is certain on a busy machine is none: smaller than
usual, because it is looked at after each round."""
_FEWEST_ROUNDS_OF_VALUES = 3
_ROUNDS_TO_CALL_EXACT = 2
"""Rounds in which each side repeats its value, after which a tracked value counts as exact."""
_ROUNDS_TO_ESTIMATE = 2
"""Rounds of a case from which its spread tells how many it will take."""
_SAME_CLOCK = 1e-3
"""Two clocks that differ by no more than this share are one, such as the wall and asv's own."""

Estimated = tuple[float, tuple[float, float]]
"""A ratio and its interval."""
KeepRound = Callable[[MeasurableCase, Round], None]
KeepCase = Callable[[Comparison], None]


@dataclass
class _OpenCase:
    """A case that is not finished."""

    case: MeasurableCase
    rounds: list[Round]
    unmeasured: dict[int, UnmeasuredError] = field(default_factory=dict)
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
        return [
            tuple(values[index + 1] / values[index] for values in rounds)
            for index in range(len(rounds[0]) - 1)
        ]


class RoundsOfCases:
    """The cases of one measurement, open and finished."""

    def __init__(
        self,
        cases: Sequence[MeasurableCase],
        sides: int,
        sampling: Sampling,
        keep: KeepCase,
        kept: Mapping[str, Sequence[Round]],
    ) -> None:
        """Begin with the rounds that an earlier start kept.

        Args:
            cases: the cases to measure.
            sides: number of versions.
            sampling: how many rounds.
            keep: called with each case that is finished.
            kept: maps a case to its rounds.
        """
        self.open = {case: _OpenCase(case, list(kept.get(case.name, ()))) for case in cases}
        self._sides = sides
        self._fewest_sides = sides if sampling.all_sides else min(2, sides)
        self._sampling = sampling
        self._keep = keep
        self._spreads: dict[MeasurableCase, float] = {}
        self.results: list[Comparison] = []

    def active(self, case: MeasurableCase) -> list[int]:
        """Return the indices of the sides on which a case is still measured."""
        unmeasured = self.open[case].unmeasured
        return [side for side in range(self._sides) if side not in unmeasured]

    def add(self, case: MeasurableCase, numbers: Round) -> str:
        """Add a round of a case and return its ratio, or else its value, in words.

        A case that times nothing is closed if more rounds would not change its answer.
        """
        opened = self.open[case]
        opened.rounds.append(numbers)
        values = [number.value for number in numbers if number]
        if not case.is_timed:
            values_by_round = [
                [n.value for n in round_numbers if n] for round_numbers in opened.rounds
            ]
            repeats = (
                case.measures == "value" and values_by_round == [values] * _ROUNDS_TO_CALL_EXACT
            )
            is_exact = case.measures == "count" or repeats
            has_ratio = min(map(min, values_by_round)) > 0
            if is_exact or (not has_ratio and len(values_by_round) >= _ROUNDS_TO_CALL_EXACT):
                self._close(case, exact=is_exact)
                shown = ", ".join(quantities.quantity(value, case.unit) for value in values)
                return "same" if len(values) > len(set(values)) == 1 else shown
            if not has_ratio:
                return "zero or below"
        kind = metric_of(case.unit)
        changes = [quantities.change(ratios[-1], kind) for ratios in opened.ratios()]
        return ", ".join(changes) or quantities.quantity(values[0], case.unit)

    def leave_out(self, case: MeasurableCase, side: int, reason: UnmeasuredError) -> None:
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
        ready = {
            case: opened
            for case, opened in self.open.items()
            if len(opened.rounds) >= self._fewest_rounds(case)
        }
        ratios = {case: opened.ratios() for case, opened in ready.items()}
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
        """Tell whether half an interval's width suffices for a difference (both logarithms)."""
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
        """Tell whether a ratio may be less precise because the machine is busy."""
        return self._sampling.change_if_busy > 0 and is_disturbed(opened.case, opened.rounds)

    def _fewest_rounds(self, case: MeasurableCase) -> int:
        """Return the fewest rounds of a case; for a single version its suite says how many."""
        return case.rounds if self._sides == 1 else self._sampling.fewest_rounds

    def rounds_left(self) -> dict[MeasurableCase, int]:
        """Estimate how many rounds the open cases will take."""
        return {case: self._rounds_left(opened) for case, opened in self.open.items()}

    def _rounds_left(self, opened: _OpenCase) -> int:
        sampling, rounds = self._sampling, len(opened.rounds)
        needed = max(rounds, self._fewest_rounds(opened.case))
        if rounds < _ROUNDS_TO_ESTIMATE:
            return needed - rounds
        if opened.repeated_until:
            return max(0, opened.repeated_until - rounds)
        is_busy = self._is_busy(opened)
        for pair in filter(None, opened.ratios()):
            spread, difference = spread_of_rounds(pair), abs(math.log(statistics.median(pair)))
            while needed < sampling.most_rounds:
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
            skipped={side: e.reason for side, e in reasons if isinstance(e, CaseSkippedError)},
            failed={
                side: str(e) if self._sides > 1 else e.reason
                for side, e in reasons
                if isinstance(e, CaseFailedError)
            },
            late=tuple(side for side, e in reasons if isinstance(e, CaseTimedOutError)),
            clock=clock_of(case, opened.rounds),
            cases=case.sides,
            benchmark_version=case.version,
            one_setup=any(n.one_setup for numbers in opened.rounds for n in numbers if n),
        )
        self.results.append(result)
        self._keep(result)


def _column(rounds: Sequence[Round], name: str) -> Rounds:
    return tuple(
        tuple(None if number is None else getattr(number, name) for number in numbers)
        for numbers in rounds
    )


def _other_clock(rounds: Sequence[Round], name: str) -> Rounds:
    """Return the numbers of another clock; empty if they are those of the case's own."""
    values, other = _column(rounds, "value"), _column(rounds, name)
    pairs = zip(itertools.chain(*values), itertools.chain(*other), strict=True)
    known = [(value, seconds) for value, seconds in pairs if value and seconds is not None]
    return other if any(abs(s / value - 1) > _SAME_CLOCK for value, s in known) else ()


def measure_cases(
    sides: Sequence[Side],
    cases: Sequence[MeasurableCase],
    keep: KeepCase = lambda result: None,
    sampling: Sampling = DEFAULT,
    kept: Mapping[str, Sequence[Round]] = {},
    keep_round: KeepRound = lambda case, numbers: None,
    budget: Budget | None = None,
    later: int = 0,
) -> list[Comparison]:
    """Measure cases of all sides, those that time something first, one suite after the other.

    Args:
        sides: the versions; each is compared with the next.
        cases: what to measure.
        keep: called with each case that is finished. An interrupt first finishes the cases
            that have rounds enough.
        sampling: how many rounds each case gets.
        kept: rounds of an earlier start, by case.
        keep_round: called with each round.
        budget: time limit that these cases share with others; the time left is no longer.
        later: how many rounds other cases will take afterwards, for the estimate of the time left.

    Returns:
        The cases in the order in which they were finished.

    Raises:
        MachineError: the machine is to blame for a failure, such as for a full disk; the finished
            cases are kept.
    """
    timed = _suite_by_suite([case for case in cases if case.is_timed])
    others = [case for case in cases if not case.is_timed]
    others.sort(key=lambda case: case.process)
    few = min(sampling.fewest_rounds, _FEWEST_ROUNDS_OF_VALUES)
    sampling_of_others = dataclasses.replace(sampling, fewest_rounds=few)
    results = []
    later += sum(other.rounds if len(sides) == 1 else few for other in others)
    for group, limits, left in ((timed, sampling, later), (others, sampling_of_others, 0)):
        if group:
            rounds = RoundsOfCases(group, len(sides), limits, keep, kept)
            results += _measure_group(sides, rounds, keep_round, budget, left)
    return results


def _suite_by_suite(cases: Sequence[MeasurableCase]) -> list[MeasurableCase]:
    """Put cases of one suite side by side; a side imports a suite again after another one.

    Suites come in the order of their first cases, and so do the classes of a suite.
    """
    first: dict[str, int] = {}
    keys = []
    for index, case in enumerate(cases):
        names = itertools.accumulate(case.identity.split(".")[:-1], "{}.{}".format)
        keys.append((case.process, [*(first.setdefault(name, index) for name in names), index]))
    return [cases[indices[-1]] for _, indices in sorted(keys)]


def _measure_group(
    sides: Sequence[Side],
    measured: RoundsOfCases,
    keep_round: KeepRound,
    budget: Budget | None,
    later: int,
) -> list[Comparison]:
    started, count = time.monotonic(), 0
    took_s: dict[MeasurableCase, float] = {}
    begun = max(len(opened.rounds) for opened in measured.open.values())
    measured.close_known()
    with (
        tempfile.TemporaryDirectory(prefix="asv-watch-") as folder,
        measured.keeping(),
        Display() as display,
    ):
        folders = [Path(folder, chr(ord("a") + index)) for index in range(len(sides))]
        shared: Sequence[str] = ()
        for number in itertools.count(begun):
            if not measured.open:
                break
            cases = list(measured.open)
            for path in folders:
                if not cases[0].is_timed:  # else a value of `setup_cache` would seem exact
                    shutil.rmtree(path, ignore_errors=True)
                path.mkdir(exist_ok=True)
            preload = sides[0].environment.declared.preloaded_for(case.name for case in cases)
            with contextlib.ExitStack() as stack:
                servers = [
                    stack.enter_context(
                        SideProcess(side, path, number + 1, len(sides), preload, shared)
                    )
                    for side, path in zip(sides, folders, strict=True)
                ]
                for index, case in enumerate(cases, start=1):
                    began = time.monotonic()
                    message = _measure(measured, servers, case, number, keep_round)
                    count, took_s[case] = count + 1, time.monotonic() - began
                    left, mean_s = measured.rounds_left(), statistics.fmean(took_s.values())
                    left_s = later * mean_s
                    left_s += sum(left[other] * took_s.get(other, mean_s) for other in left)
                    words = f", {human_time(left_s)} left" if left_s else ""
                    if budget is not None and budget.left_s < left_s:
                        words = f", {time_left(budget)}"
                    display.step(
                        f"round {number + 1} [{index:{len(str(len(cases)))}}/{len(cases)}] "
                        f"{case.name}  {message}{words}",
                        done=count,
                        total=count + sum(left.values()) + later,
                    )
            if number == begun:
                shared = imported_by_all(servers)
            elif any(None in server.imported for server in servers):
                shared = ()
            measured.close_known()
        display.say(f"  done in {human_time(time.monotonic() - started)}")
    return measured.results


def _measure(
    measured: RoundsOfCases,
    servers: Sequence[SideProcess],
    case: MeasurableCase,
    number: int,
    keep_round: KeepRound,
) -> str:
    """Measure a round of a case and return its ratios in words.

    If a side is skipped or fails, the others are measured without it, if at least two are left.

    Raises:
        MachineError: the machine is to blame for a failure.
    """
    message = ""
    while case in measured.open:
        active = measured.active(case)
        try:
            numbers = measure_round([servers[index] for index in active], case, number=number)
        except UnmeasuredError as reason:
            side = next(index for index in active if servers[index] is reason.server)
            measured.leave_out(case, side, reason)
            word = "skipped" if isinstance(reason, CaseSkippedError) else "failed"
            message = f"{word}: {reason}"
        except MachineError as error:
            raise MachineError(f"{case.name} on {error}") from error
        else:
            by_side = dict(zip(active, numbers, strict=True))
            round_numbers: Round = tuple(by_side.get(index) for index in range(len(servers)))
            keep_round(case, round_numbers)
            return measured.add(case, round_numbers)
    return message
