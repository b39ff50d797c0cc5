"""Measures cases on two sides, round after round, until each ratio is known closely enough.

A round of every case comes before the next round of any, so that minutes lie between two rounds
of one case. Each round has processes of its own on both sides, because the layout of memory, and
with it the speed, differs from process to process. Every case gets the fewest rounds of the
`Sampling`; a case whose interval is still too wide gets more. Sampling stops when the interval is
narrow enough; the ratio itself is never looked at.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from torchspeed.watch.analysis.ratio import (
    estimate_ratio,
    half_width,
    ratio_of_round,
    spread_of_rounds,
)
from torchspeed.watch.analysis.rule import MINIMUM_EFFECT
from torchspeed.watch.history.comparisons import CaseRatio, CaseResult, Unmeasured
from torchspeed.watch.progress import human_time
from torchspeed.watch.turns.processes import (
    Case,
    CaseFailedError,
    CaseSkippedError,
    Server,
    measure_round,
)
from torchspeed.watch.turns.sides import Side


@dataclass(frozen=True, slots=True)
class Sampling:
    """How many rounds a case gets."""

    fewest_rounds: int = 5
    most_rounds: int = 12
    half_width: float = 0.015
    """Half of a ratio's interval at which a case needs no further round (0.015 is 1.5 %)."""


DEFAULT = Sampling()
PRECISE = Sampling(most_rounds=24, half_width=MINIMUM_EFFECT / 2)
"""Tells a difference that counts from none, also in noisy cases."""

Round = tuple[tuple[float, ...], tuple[float, ...]]
"""The samples before and after, in seconds a call."""
Keep = Callable[[CaseResult], None]


class _Comparison:
    """The cases of one comparison, open and finished."""

    def __init__(self, cases: Sequence[Case], sampling: Sampling, keep: Keep) -> None:
        self.open: dict[Case, list[Round]] = {case: [] for case in cases}
        self._sampling = sampling
        self._keep = keep
        self._spreads: dict[Case, float] = {}
        self.results: list[CaseResult] = []

    def add(self, case: Case, samples: Round) -> float:
        """Keep a round of a case; return its ratio."""
        ratio = ratio_of_round(*samples)
        self.open[case].append(samples)
        return ratio

    def give_up(self, result: Unmeasured, case: Case) -> None:
        """Close a case that was skipped or failed; its rounds before that are left out."""
        del self.open[case]
        self._finish(result)

    def close_known(self, *, all_of_them: bool = False) -> None:
        """Close the cases with rounds enough whose ratio is known closely enough, or all."""
        fewest, half = self._sampling.fewest_rounds, self._sampling.half_width
        ready = [case for case, rounds in self.open.items() if len(rounds) >= fewest]
        ratios = {case: _ratios(self.open[case]) for case in ready}
        self._spreads |= {case: spread_of_rounds(ratios[case]) for case in ready}
        for case in ready:
            if all_of_them or half_width(self._spreads[case], len(ratios[case])) <= half:
                self._finish(self._result(case, ratios[case]))
                del self.open[case]

    def _result(self, case: Case, ratios: Sequence[float]) -> CaseRatio:
        """A case's ratio, no surer of itself than the middle case's spread allows."""
        ratio, interval = estimate_ratio(ratios, statistics.median(self._spreads.values()))
        before, after = (
            statistics.median(itertools.chain.from_iterable(side))
            for side in zip(*self.open[case], strict=True)
        )
        return CaseRatio(
            case.name, int(time.time()), tuple(ratios), ratio, interval, before, after
        )

    def _finish(self, result: CaseResult) -> None:
        self.results.append(result)
        self._keep(result)


def measure_interleaved(
    sides: tuple[Side, Side],
    suites: Path,
    cases: Sequence[Case],
    keep: Keep = lambda result: None,
    sampling: Sampling = DEFAULT,
    stream: TextIO | None = None,
) -> list[CaseResult]:
    """Measure cases on two sides.

    Args:
        sides: before and after.
        suites: folder of the suites.
        cases: what to measure.
        keep: called with each case that is finished. An interrupt first finishes the cases
            that have rounds enough.
        sampling: how many rounds.
        stream: where to print a line for each case and round; standard output by default.

    Returns:
        The cases in the order in which they were finished.
    """
    out = stream or sys.stdout
    comparison = _Comparison(cases, sampling, keep)
    started, measured = time.monotonic(), 0
    try:
        for number in range(sampling.most_rounds):
            count = len(comparison.open)
            with Server(sides[0], suites) as before, Server(sides[1], suites) as after:
                for place, case in enumerate(list(comparison.open), start=1):
                    message = _measure_round(comparison, (before, after), case, number % 2)
                    measured += 1
                    mean = (time.monotonic() - started) / measured
                    left = _time_left(sampling, number, count - place, len(comparison.open), mean)
                    print(
                        f"round {number + 1} [{place:{len(str(count))}}/{count}] {case.name}  "
                        f"{message}{left}",
                        file=out,
                        flush=True,
                    )
            comparison.close_known(all_of_them=number + 1 == sampling.most_rounds)
            if not comparison.open:
                break
    except BaseException:  # an interrupt, or the end of a time budget
        comparison.close_known(all_of_them=True)
        raise
    print(f"  done in {human_time(time.monotonic() - started)}", file=out, flush=True)
    return comparison.results


def _measure_round(
    comparison: _Comparison, servers: tuple[Server, Server], case: Case, first: int
) -> str:
    """Measure a round of a case and keep it; return what to print of it."""
    try:
        ratio = comparison.add(case, measure_round(servers, case, first))
    except CaseSkippedError as reason:
        skipped = Unmeasured(case.name, int(time.time()), skipped=str(reason))
        comparison.give_up(skipped, case)
        return f"skipped: {reason}"
    except (CaseFailedError, ValueError) as reason:
        failed = Unmeasured(case.name, int(time.time()), failed=str(reason))
        comparison.give_up(failed, case)
        return f"failed: {reason}"
    return f"{ratio - 1:+.1%}"


def _time_left(
    sampling: Sampling, number: int, left_of_round: int, open_cases: int, mean: float
) -> str:
    """Time until every case has its fewest rounds; which ones need more is not known yet."""
    rounds = max(0, sampling.fewest_rounds - number - 1)
    left = rounds * open_cases + left_of_round
    more = "" if rounds else ", then uncertain cases" if number < sampling.most_rounds - 1 else ""
    return f", {human_time(left * mean)} left{more}"


def _ratios(rounds: Sequence[Round]) -> list[float]:
    return [ratio_of_round(before, after) for before, after in rounds]
