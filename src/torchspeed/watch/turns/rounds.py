"""Measures cases on two sides, round after round, until the ratios are sure enough.

A round of every case comes before the next round of any, so that a minute or more lies
between two rounds of one case. Every case gets `FEWEST_ROUNDS`; one whose ratios still spread
too far then gets more. That looks at how sure a ratio is, never at what it says.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from torchspeed.watch.progress import human_time
from torchspeed.watch.turns.processes import Case, CaseFailedError, CaseSkippedError, play_round
from torchspeed.watch.turns.ratio import half_width, ratio_of_round, spread_of_rounds
from torchspeed.watch.turns.sides import Side

FEWEST_ROUNDS = 5
MOST_ROUNDS = 12
SURE = 0.015
"""Half of a ratio's interval at which a case needs no further round."""

Rounds = list[tuple[tuple[float, ...], tuple[float, ...]]]
"""For each round the samples before and after, in seconds a call."""


@dataclass
class Measured:
    """What became of every case."""

    rounds: dict[Case, Rounds] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    """Case name to why it cannot run here."""
    failed: dict[str, str] = field(default_factory=dict)
    """Case name to what went wrong; its rounds before that are left out."""

    def ratios(self, case: Case) -> list[float]:
        """After over before in each round of a case."""
        return [ratio_of_round(before, after) for before, after in self.rounds[case]]


def measure_side_by_side(
    sides: tuple[Side, Side],
    suites: Path,
    cases: Sequence[Case],
    stream: TextIO | None = None,
) -> Measured:
    """Measure cases on two sides.

    Args:
        sides: before and after.
        suites: folder of the suites.
        cases: what to measure.
        stream: where to print a line for each case and round; standard output by default.
    """
    out = stream or sys.stdout
    measured = Measured()
    open_cases = list(cases)
    started, played, seconds = time.monotonic(), 0, 0.0
    for number in range(MOST_ROUNDS):
        for place, case in enumerate(open_cases, start=1):
            began = time.monotonic()
            said = _play(measured, sides, suites, case, number % 2)
            played, seconds = played + 1, seconds + time.monotonic() - began
            print(
                f"round {number + 1} [{place:{len(str(len(open_cases)))}}/{len(open_cases)}] "
                f"{case.name}  {said}{_left(number, place, open_cases, seconds / played)}",
                file=out,
                flush=True,
            )
        open_cases = [case for case in open_cases if case in measured.rounds]
        if number + 1 >= FEWEST_ROUNDS:
            open_cases = [case for case in open_cases if not _is_sure(measured.ratios(case))]
        if not open_cases:
            break
    print(f"  done in {human_time(time.monotonic() - started)}", file=out, flush=True)
    return measured


def _play(
    measured: Measured, sides: tuple[Side, Side], suites: Path, case: Case, first: int
) -> str:
    """Play a round of a case and keep it; say how it went."""
    try:
        samples = play_round(sides, suites, case, first)
        ratio = ratio_of_round(*samples)
    except CaseSkippedError as reason:
        measured.skipped[case.name] = str(reason)
        return f"skipped: {reason}"
    except (CaseFailedError, ValueError) as reason:
        measured.failed[case.name] = str(reason)
        measured.rounds.pop(case, None)
        return f"failed: {reason}"
    measured.rounds.setdefault(case, []).append(samples)
    return f"{ratio - 1:+.1%}"


def _left(number: int, place: int, open_cases: Sequence[Case], mean: float) -> str:
    """Time until every case has its fewest rounds; which ones need more is not known yet."""
    rounds = max(0, FEWEST_ROUNDS - number - 1)
    left = rounds * len(open_cases) + len(open_cases) - place
    more = "" if rounds else ", then cases that are not sure" if number < MOST_ROUNDS - 1 else ""
    return f", {human_time(left * mean)} left{more}"


def _is_sure(ratios: Sequence[float]) -> bool:
    """Whether the ratio is known closely enough."""
    return half_width(spread_of_rounds(ratios), len(ratios)) <= SURE
