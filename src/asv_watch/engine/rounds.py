"""Measures cases on two sides, round after round, until each ratio is known closely enough.

A round of every case comes before the next round of any, so that minutes lie between two rounds
of one case. Each round has processes of its own on both sides, because the layout of memory, and
with it the speed, differs from process to process. Every case gets the fewest rounds of the
`Sampling`; a case whose interval is still too wide gets more. Sampling stops when the interval is
narrow enough, unless the ratio is doubtful: then the case gets as many rounds again, once, and all
of them count. A difference rests on five rounds at least. A large difference needs a narrow
interval only in proportion: ten half-widths from 1, no chance makes it one.

A round of a case that times nothing is one value of each side, so peak memory gets a ratio with
its interval as times do. Three rounds suffice for such a case if it does not differ. A tracked
value that each side repeats is compared by equality, as are exact counts.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from asv_watch import quantities
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.processes import (
    CaseFailedError,
    CaseSkippedError,
    Server,
    measure_round,
)
from asv_watch.engine.sides import Side
from asv_watch.errors import MachineError
from asv_watch.progress import human_time
from asv_watch.records.comparisons import CaseRatio, CaseResult, CaseValues, Unmeasured
from asv_watch.statistics.ratio import estimate_ratio, ratio_of_round, spread_of_rounds
from asv_watch.statistics.rule import MINIMUM_EFFECT, Verdict, verdict


@dataclass(frozen=True, slots=True)
class Sampling:
    """How many rounds a case gets."""

    fewest_rounds: int = 5
    most_rounds: int = 16
    half_width: float = 0.015
    """Half of a ratio's interval at which a case needs no further round (0.015 is 1.5 %)."""
    doubtful_from: float = 0.01
    """A ratio is doubtful that differs from 1 by this or more but by less than its whole interval,
    if the interval is at most twice as wide as wanted. The case gets as many rounds again."""
    share_of_difference: float = 0.1
    """Half of an interval that is no more than this share of the ratio's distance from 1 suffices
    as well: 2.4 times as long is known closely enough to ±9 %."""


DEFAULT = Sampling()
PRECISE = Sampling(most_rounds=24, half_width=MINIMUM_EFFECT / 2)
"""Tells a difference that counts from none, also in noisy cases."""

_FEWEST_ROUNDS_OF_VALUES = 3
_ALIKE = 2
"""Rounds in which each side repeats its value, after which a tracked value counts as exact."""

Round = tuple[tuple[float, ...], tuple[float, ...]]
"""The samples before and after, in seconds a call, or one value each."""
Keep = Callable[[CaseResult], None]


def ratio_of_case(
    name: str, rounds: Sequence[Round], least_spread: float = 0.0, unit: str = "seconds"
) -> CaseRatio:
    """Return a case's ratio from its rounds; their spread counts as no less than the least."""
    ratios = tuple(ratio_of_round(before, after) for before, after in rounds)
    ratio, interval = estimate_ratio(ratios, least_spread)
    before, after = (
        statistics.median(itertools.chain.from_iterable(side))
        for side in zip(*rounds, strict=True)
    )
    return CaseRatio(name, int(time.time()), ratios, ratio, interval, before, after, unit)


class RoundsOfCases:
    """The cases of one comparison, open and finished."""

    def __init__(self, cases: Sequence[MeasurableCase], sampling: Sampling, keep: Keep) -> None:
        """Begin with no round of any case.

        Args:
            cases: what is measured.
            sampling: how many rounds.
            keep: called with each case that is finished.
        """
        self.open: dict[MeasurableCase, list[Round]] = {case: [] for case in cases}
        self._sampling = sampling
        self._keep = keep
        self._spreads: dict[MeasurableCase, float] = {}
        self._repeated_until: dict[MeasurableCase, int] = {}
        self.results: list[CaseResult] = []

    def add(self, case: MeasurableCase, samples: Round) -> str:
        """Add a round of a case and return its ratio in words.

        A case that times nothing is closed where more rounds would tell nothing.

        Raises:
            ValueError: the samples of a time have no ratio.
        """
        rounds = self.open[case]
        rounds.append(samples)
        if not case.is_timed:
            before, after = (value for [value] in samples)
            repeats = case.measures == "value" and rounds == [samples] * _ALIKE
            is_exact = case.measures == "count" or repeats
            has_ratio = all(min(*before, *after) > 0 for before, after in rounds)
            if is_exact or (not has_ratio and len(rounds) >= _ALIKE):
                self.close(
                    case,
                    CaseValues(case.name, int(time.time()), case.unit, is_exact, before, after),
                )
                return "same" if before == after else "differs"
            if not has_ratio:
                return "zero or below"
        ratio = ratio_of_round(*samples)
        return quantities.change(ratio, "time" if case.unit == "seconds" else "memory")

    def close_known(self, *, all_of_them: bool = False) -> None:
        """Close the cases with rounds enough whose ratio is known closely enough, or all.

        The spread of a case counts as no less than that of the middle case.
        """
        fewest = self._sampling.fewest_rounds
        ready = {case: rounds for case, rounds in self.open.items() if len(rounds) >= fewest}
        self._spreads |= {
            case: spread_of_rounds([ratio_of_round(*samples) for samples in rounds])
            for case, rounds in ready.items()
        }
        least_spread = statistics.median(self._spreads.values()) if ready else 0.0
        for case, rounds in ready.items():
            result = ratio_of_case(case.name, rounds, least_spread, case.unit)
            differs = verdict(result) is not Verdict.SAME
            if differs and len(rounds) < DEFAULT.fewest_rounds:
                continue  # a difference needs more rounds
            if all_of_them or self._is_known(case, result):
                self.close(case, result)

    def _is_known(self, case: MeasurableCase, result: CaseRatio) -> bool:
        """Tell whether a case needs no more rounds, and note a doubtful one for as many again."""
        rounds, width = len(result.ratios), math.log(result.interval[1] / result.interval[0])
        if case in self._repeated_until:
            return rounds >= self._repeated_until[case]
        difference = abs(math.log(result.ratio))
        wanted = max(self._sampling.half_width, self._sampling.share_of_difference * difference)
        if width / 2 > wanted and rounds < self._sampling.most_rounds:
            return False
        most = 4 * self._sampling.half_width  # more rounds would not decide a wider interval
        if not self._sampling.doubtful_from <= difference <= width <= most:
            return True
        self._repeated_until[case] = 2 * rounds
        return False

    @contextlib.contextmanager
    def keeping(self) -> Iterator[None]:
        """Close the cases with rounds enough at an interrupt, or the end of a time budget."""
        try:
            yield
        except BaseException:
            self.close_known(all_of_them=True)
            raise

    def close(self, case: MeasurableCase, result: CaseResult) -> None:
        """Finish a case."""
        del self.open[case]
        self.results.append(result)
        self._keep(result)


def measure_cases(
    sides: tuple[Side, Side],
    cases: Sequence[MeasurableCase],
    keep: Keep = lambda result: None,
    sampling: Sampling = DEFAULT,
) -> list[CaseResult]:
    """Measure cases on two sides, those that time something first.

    Args:
        sides: before and after.
        cases: what to measure.
        keep: called with each case that is finished. An interrupt first finishes the cases
            that have rounds enough.
        sampling: how many rounds.

    Returns:
        The cases in the order in which they were finished.

    Raises:
        MachineError: the machine is to blame for a failure, such as for a full disk; the finished
            cases are kept.
    """
    timed = [case for case in cases if case.is_timed]
    others = [case for case in cases if not case.is_timed]
    others.sort(key=lambda case: case.process)
    of_others = dataclasses.replace(sampling, fewest_rounds=_FEWEST_ROUNDS_OF_VALUES)
    results = _measure_alike(sides, timed, keep, sampling) if timed else []
    return results + (_measure_alike(sides, others, keep, of_others) if others else [])


def _measure_alike(
    sides: tuple[Side, Side],
    cases: Sequence[MeasurableCase],
    keep: Keep,
    sampling: Sampling,
) -> list[CaseResult]:
    """Measure cases that all time something, or all time nothing."""
    comparison = RoundsOfCases(cases, sampling, keep)
    started, measured = time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix="asv-watch-") as folder, comparison.keeping():
        folders = Path(folder, "a"), Path(folder, "b")  # names of one length
        for number in itertools.count():
            for path in folders:
                if not cases[0].is_timed:  # else a value of `setup_cache` would seem exact
                    shutil.rmtree(path, ignore_errors=True)
                path.mkdir(exist_ok=True)
            count = len(comparison.open)
            with (
                Server(sides[0], folders[0]) as before,
                Server(sides[1], folders[1]) as after,
            ):
                for position, case in enumerate(list(comparison.open), start=1):
                    message = _measure(comparison, (before, after), case, number % 2)
                    measured += 1
                    mean = (time.monotonic() - started) / measured
                    left = _time_left(
                        sampling, number, count - position, len(comparison.open), mean
                    )
                    print(
                        f"round {number + 1} [{position:{len(str(count))}}/{count}] {case.name}  "
                        f"{message}{left}",
                        flush=True,
                    )
            comparison.close_known()
            if not comparison.open:
                break
    print(f"  done in {human_time(time.monotonic() - started)}", flush=True)
    return comparison.results


def _measure(
    comparison: RoundsOfCases,
    servers: tuple[Server, Server],
    case: MeasurableCase,
    first: int,
) -> str:
    """Measure a round of a case and return its ratio in words.

    A case that is skipped or fails is closed, without the rounds before that.

    Raises:
        MachineError: the machine is to blame for a failure.
    """
    try:
        return comparison.add(case, measure_round(servers, case, first))
    except CaseSkippedError as reason:
        comparison.close(case, Unmeasured(case.name, int(time.time()), skipped=str(reason)))
        return f"skipped: {reason}"
    except MachineError as error:
        raise MachineError(f"{case.name} on {error}") from error
    except (CaseFailedError, ValueError) as reason:
        on_before = isinstance(reason, CaseFailedError) and reason.server is servers[0]
        failed = Unmeasured(
            case.name, int(time.time()), failed=str(reason), failed_before=on_before
        )
        comparison.close(case, failed)
        return f"failed: {reason}"


def _time_left(
    sampling: Sampling, number: int, left_of_round: int, open_cases: int, mean: float
) -> str:
    """Say how long it takes until every case has its fewest rounds, and that some need more."""
    rounds = max(0, sampling.fewest_rounds - number - 1)
    left = rounds * open_cases + left_of_round
    if not left:
        return ", then more rounds where the interval is too wide"
    return f", {human_time(left * mean)} left"
