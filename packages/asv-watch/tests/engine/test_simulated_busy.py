"""Comparisons of one case on a busy machine, many times: how often what is claimed of it is true.

Each process has a level of its own, and one in thirty is slower by up to a half, as other work on
the same core makes it. That work also adds to the CPU time of each sample, and keeps the processes
waiting for five times as long as they compute. The engine itself decides how many samples a round
takes, which of them count, and after how many rounds a case is known.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.comparison import Comparison
from asv_watch.engine import processes
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.processes import Round, SideResult, measure_round
from asv_watch.engine.rounds import CHANGE_IF_BUSY, DEFAULT, RoundsOfCases, Sampling
from asv_watch.engine.workplace import Side
from asv_watch.statistics.graph import Estimate
from asv_watch.statistics.rule import Verdict, verdict

CASE = MeasurableCase("s.time_it", "s.time_it-0", 1.0)
BETWEEN = 0.005
"""Standard deviation of what a ratio is off in a sitting."""
_SIDE = Side("A", Path(), EnvironmentSpec({}, "", Path()), Path())
_CALL_S = 0.014  # CPU time of an undisturbed sample
_READY_S = 1.1  # CPU time of both sides until they are ready
_SPREAD = 0.025  # standard deviation of the level of a process, as a logarithm
_DISTURBED = 0.13  # mean share of its CPU time that a sample takes longer
_WAITING = 5.0  # waiting time per CPU time


class Clock:
    """A clock that goes on when it is told to."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


class _BusyMachine(Clock):
    """Draws processes; `monotonic` is the time on its clock."""

    def __init__(self, ratio: float) -> None:
        self._random = np.random.default_rng(1)
        self._ratio = ratio

    def round(self, number: int) -> Round:
        levels = _CALL_S * np.exp(self._random.normal(0.0, _SPREAD, 2))
        levels *= np.where(self._random.random(2) < 1 / 30, self._random.uniform(1.0, 1.5, 2), 1.0)
        levels[1] *= self._ratio
        ready_s = _READY_S / 2 * (1 + _WAITING)
        servers: Any = [
            BusyProcess(self, self._samples(level), ready_s) for level in levels.tolist()
        ]
        return measure_round(servers, CASE, number=number)

    def _samples(self, level: float) -> Iterator[SideResult]:
        cpu = level * (1 + self._random.exponential(_DISTURBED, 64))
        wall = cpu * (1 + self._random.gamma(4.0, _WAITING / 4.0, 64))
        for wall_s, cpu_s in zip(wall.tolist(), cpu.tolist(), strict=True):
            self.now += wall_s
            yield SideResult(wall_s, wall_s, cpu_s, computes=True)


@dataclass
class BusyProcess:
    """A process of a side that takes given samples, for so many seconds of a clock to be ready."""

    clock: Clock
    samples: Iterator[SideResult]
    ready_s: float
    one_thread: bool = False
    computes: bool = True
    side = _SIDE

    def needs_process(self, case: MeasurableCase) -> bool:
        return False

    def start(self, *request: object) -> None:
        self.clock.now += self.ready_s

    def wait_until_ready(self) -> dict[str, Any]:
        clock = {"one_thread": self.one_thread, "computes": self.computes, "clock": ""}
        return {"pid": 0, "calls": 1, "setup_costs": False} | clock

    def sample(self, *, same_setup: bool = False) -> SideResult:
        return next(self.samples)

    def ask_to_end(self) -> None:
        """Do nothing, because there is no process."""

    wait_until_ended = check_unchanged = ask_to_end


def compared(rounds: Iterator[Round], sampling: Sampling, usual_spread: float) -> Estimate:
    """Compare two sides by as many of the rounds as the engine wants."""
    finished: list[Comparison] = []
    case = RoundsOfCases([CASE], 2, sampling, finished.append, {})
    while case.open:
        case.add(CASE, next(rounds))
        case.close_known()
    star = finished[0].star(usual_spread)
    assert star is not None
    return star.estimate(0, 1, BETWEEN)


def _simulate(pairs: int, ratio: float, sampling: Sampling) -> tuple[int, int, float]:
    """Compare so many pairs of versions whose true ratio is known.

    Returns: How many intervals hold it, how many pairs are called a change, and the wall time.
    """
    machine, holding, called = _BusyMachine(ratio), 0, 0
    with mock.patch.object(processes, "time", machine):
        for _ in range(pairs):
            rounds = map(machine.round, itertools.count())
            answer = compared(rounds, sampling, usual_spread=0.0)
            low, high = answer.interval
            holding += low <= ratio <= high
            called += verdict(answer.ratio, answer.interval) is not Verdict.SAME
    return holding, called, machine.now


ANSWERING = Sampling(change_if_busy=CHANGE_IF_BUSY)


def test_versions_that_do_not_differ_are_seldom_called_a_change() -> None:
    holding, called, _ = _simulate(600, 1.0, ANSWERING)
    assert called <= 6
    assert holding >= 0.985 * 600


def test_a_change_of_10_percent_is_found_in_three_fifths_of_the_time() -> None:
    _, called, seconds = _simulate(100, 1.1, ANSWERING)
    assert called >= 99
    assert seconds < 0.6 * _simulate(100, 1.1, DEFAULT)[-1]
