"""How many rounds a case gets, and the results of comparisons of simulated processes."""

import dataclasses
import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.compare.report import differences_of, report
from asv_watch.comparison import Comparison, Outcome, Ratio
from asv_watch.engine import measuring, processes
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.measuring import Compared, Unfinished, measure_cases
from asv_watch.engine.processes import CaseFailedError, CaseSkippedError, SideResult
from asv_watch.engine.rounds import CHANGE_IF_BUSY, DEFAULT, RoundsOfCases, Sampling
from asv_watch.engine.workplace import Side
from asv_watch.errors import MachineError
from asv_watch.machine.budget import Budget
from asv_watch.statistics.rule import Verdict

SIDES = tuple(Side(name, Path(), EnvironmentSpec({}, "", Path()), Path()) for name in "AB")
FEWEST_ROUNDS, MOST_ROUNDS = 5, 16
Play = Callable[..., Any]


def _measure(
    monkeypatch: pytest.MonkeyPatch,
    play: Play,
    names: Sequence[str],
    sides: Sequence[Side] = SIDES,
    **options: Any,
) -> list[Comparison]:
    monkeypatch.setattr(processes, "measure_round", play)
    return measure_cases(sides, [MeasurableCase(name, name, 1.0) for name in names], **options)


def _round(*values: float) -> tuple[SideResult, ...]:
    return tuple(map(SideResult, values))


def _ratios(results: Sequence[Comparison]) -> list[Ratio]:
    return [ratio for result in results if (ratio := result.ratio(0, 1)) is not None]


def _alternating(ratio: float, spread: float) -> Play:
    """Rounds that lie above and below a ratio in turn."""
    signs = itertools.cycle((-1, 1))

    def play(servers: Any, case: MeasurableCase, *, number: int) -> Any:
        return _round(1.0, ratio * math.exp(spread * next(signs)))

    return play


@pytest.mark.parametrize(
    ("spread", "ratio", "rounds"),
    [(0.006, 1.0, FEWEST_ROUNDS), (0.006, 1.005, FEWEST_ROUNDS), (0.006, 1.02, 2 * FEWEST_ROUNDS),
     (0.006, 0.98, 2 * FEWEST_ROUNDS), (0.006, 1.04, FEWEST_ROUNDS), (0.006, 3.0, FEWEST_ROUNDS),
     (0.06, 1.0, MOST_ROUNDS), (0.06, 1.02, MOST_ROUNDS), (0.06, 1.045, 2 * MOST_ROUNDS)],
)  # fmt: skip
def test_a_quiet_case_has_few_rounds_a_noisy_one_all_and_a_doubtful_one_as_many_again(
    monkeypatch: pytest.MonkeyPatch, spread: float, ratio: float, rounds: int
) -> None:
    (result,) = _ratios(_measure(monkeypatch, _alternating(ratio, spread), ["x"]))
    assert result.rounds == rounds
    if rounds >= MOST_ROUNDS:
        assert result.verdict is (Verdict.WORSE if rounds > MOST_ROUNDS else Verdict.SAME)


@pytest.mark.parametrize(
    ("ratio", "spread", "rounds_idle", "rounds_busy"),
    [
        (1.05, 0.025, 16, 10),  # ±2.7 % is certain
        (1.0, 0.035, 16, 8),  # ±4.6 % excludes 5 %
        (1.02, 0.02, 32, 8),  # ±2.6 % contains 1 and excludes 5 %
        (1.05, 0.005, 5, 5),
    ],
)
def test_on_a_busy_machine_a_case_is_measured_until_a_change_of_5_percent_is_certain_or_excluded(
    monkeypatch: pytest.MonkeyPatch,
    ratio: float,
    spread: float,
    rounds_idle: int,
    rounds_busy: int,
) -> None:
    def rounds(wall: float, sampling: Sampling = DEFAULT) -> int:
        signs = itertools.cycle((-1, 1))

        def play(servers: Any, case: MeasurableCase, *, number: int) -> Any:
            cpu = 1.0, ratio * math.exp(spread * next(signs))
            return tuple(SideResult(wall * s, wall * s, s, computes=True) for s in cpu)

        [measured] = _measure(monkeypatch, play, ["x"], sampling=sampling)
        return len(measured.rounds)

    answering = Sampling(change_if_busy=CHANGE_IF_BUSY)
    assert rounds(1.0, answering) == rounds(4.0) == rounds_idle
    assert rounds(4.0, answering) == rounds_busy
    of_a_noisy_machine = dataclasses.replace(answering, usual_spread=0.1)
    assert rounds(4.0, of_a_noisy_machine) > rounds_busy, "a few are alike by luck"


def test_the_time_left_is_that_of_the_rounds_that_the_spread_of_each_case_asks_for() -> None:
    cases = [MeasurableCase(name, name, 1.0) for name in ("begun", "narrow", "wide")]
    measured = RoundsOfCases(cases, 2, DEFAULT, lambda result: None, {})
    for number in range(FEWEST_ROUNDS):
        sign = (-1) ** number
        measured.add(cases[1], _round(1.0, 1 + sign * 0.001))
        measured.add(cases[2], _round(1.0, 1 + sign * 0.5))
    measured.add(cases[0], _round(1.0, 1.0))
    left = [FEWEST_ROUNDS - 1, 0, MOST_ROUNDS - FEWEST_ROUNDS]
    assert list(measured.rounds_left().values()) == left
    measured = RoundsOfCases(cases[:1], 2, DEFAULT, lambda result: None, {})
    for change in (0.5, -0.5):
        measured.add(cases[0], _round(1.0, 1 + change))
    assert list(measured.rounds_left().values()) == [MOST_ROUNDS - 2], "known from two rounds on"


def test_a_side_that_fails_is_left_out_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sides = [dataclasses.replace(SIDES[0], name=name) for name in "ABC"]

    def play(servers: Any, case: MeasurableCase, *, number: int) -> Any:
        [failing] = [server for server in servers if server.side.name == "A"] or [None]
        if failing is not None:
            raise CaseSkippedError("not in A", failing)
        return _round(1.0, 1.1)

    [measured] = _measure(monkeypatch, play, ["x"], sides)
    assert measured.ratio(0, 1) is None
    assert measured.why_no_ratio(0, 1) == (Outcome.SKIPPED, "not in A")
    assert [ratio.ratio for ratio in [measured.ratio(1, 2)] if ratio] == pytest.approx([1.1])
    assert measured.value(2) == 1.1


def test_rounds_that_were_kept_are_not_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers: list[int] = []
    kept_now: list[tuple[str, Any]] = []

    def play(servers: Any, case: MeasurableCase, *, number: int) -> Any:
        numbers.append(number)
        return _round(1.0, 1.0)

    def keep(case: MeasurableCase, numbers: Any) -> None:
        kept_now.append((case.name, numbers))

    kept = {"x": [_round(1.0, 1.0)] * 3}
    [measured] = _measure(monkeypatch, play, ["x"], kept=kept, keep_round=keep)
    assert len(measured.rounds) == FEWEST_ROUNDS
    assert numbers == [3, 4], "the fourth round and the fifth"
    assert kept_now == [("x", _round(1.0, 1.0))] * 2


def test_a_fault_of_the_machine_ends_the_comparison_and_is_blamed_on_no_case(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def play(servers: Any, case: MeasurableCase, *, number: int) -> Any:
        rounds[case.name] += 1
        if rounds[case.name] > FEWEST_ROUNDS:
            raise MachineError("B: No space left on device")
        return _round(1.0, 1.0 if case.name == "quiet" else 1.0 + number % 2 / 9)

    rounds: Counter[str] = Counter()
    kept: list[Comparison] = []
    with pytest.raises(MachineError, match=r"^quiet on B: No space"):
        _measure(monkeypatch, play, ["quiet", "noisy"], keep=kept.append)
    assert [ratio.case for ratio in _ratios(kept)] == ["quiet", "noisy"]


def test_a_case_that_is_skipped_or_fails_has_no_ratio_and_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tried: list[str] = []

    def play(servers: Any, case: MeasurableCase, *, number: int) -> Any:
        tried.append(case.name)
        if case.name == "skipped":
            raise CaseSkippedError("no such device", servers[1])
        if case.name == "late" and tried.count("late") == 3:
            raise CaseFailedError("out of cheese", servers[1])
        return _round(1.0, 1.0)

    results = _measure(monkeypatch, play, ["skipped", "late", "works"])
    shown = "round 1 [1/3] skipped  skipped: no such device, 0 s left"
    assert capsys.readouterr().out.splitlines()[0] == shown
    outcomes = {result.case: result.outcome(1) for result in results}
    assert outcomes == {
        "skipped": (Outcome.SKIPPED, "no such device"),
        "late": (Outcome.FAILED, "B: out of cheese"),
        "works": (Outcome.OK, ""),
    }
    assert [case.case for case in _ratios(results)] == ["works"]
    assert Counter(tried) == {"skipped": 1, "late": 3, "works": FEWEST_ROUNDS}


def test_a_case_is_no_more_certain_than_the_median_case(monkeypatch: pytest.MonkeyPatch) -> None:
    spreads = {"quiet": 1e-6, "middle": 0.002, "noisy": 0.004}
    played: list[str] = []

    def play(servers: Any, case: MeasurableCase, *, number: int) -> Any:
        played.append(case.name)
        ratio = 1 + spreads[case.name] * (-1) ** played.count(case.name)
        return _round(1.0, ratio)

    results = {case.case: case for case in _ratios(_measure(monkeypatch, play, list(spreads)))}

    def width(name: str) -> float:
        low, high = results[name].interval
        return math.log(high / low)

    assert width("quiet") == pytest.approx(width("middle"))
    assert width("noisy") == pytest.approx(2 * width("middle"), rel=0.01)


@pytest.mark.parametrize(("case_s", "sizes"), [(0.01, [5, 20, 1]), (10.0, [5, 4, 1, 1])])
def test_with_little_time_some_cases_are_finished_before_others_begin(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, case_s: float, sizes: list[int]
) -> None:
    """A group has no more cases than are expected to be finished; the last ones are tried."""
    groups: list[int] = []
    now = [0.0]

    def measure(sides: Any, cases: Sequence[MeasurableCase], *_: Any) -> None:
        groups.append(len(cases))
        now[0] += case_s * len(cases)

    monkeypatch.setattr(measuring, "measure_cases", measure)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    side = dataclasses.replace(SIDES[0], suites=tmp_path)
    cases = [MeasurableCase(str(number), "x", 1.0) for number in range(sum(sizes))]
    budget = Budget(95.0, time.monotonic)
    Unfinished(tmp_path, [side]).measure(cases, list[Comparison]().append, budget=budget)
    assert groups == sizes


def test_two_rounds_of_a_case_are_an_answer_that_is_not_yet_certain(tmp_path: Path) -> None:
    sides = [dataclasses.replace(side, suites=tmp_path) for side in SIDES]
    unfinished = Unfinished(tmp_path, sides)
    for name, ratio in (("begun", 1.5), ("begun", 1.51), ("once", 1.5)):
        unfinished.keep(name, _round(1.0, ratio))
    cases = [MeasurableCase(name, name, 1.0) for name in ("begun", "once", "never")]
    compared = Compared(tuple(unfinished.so_far(cases)), 0, 1, None)
    [found] = differences_of(compared, "m")
    assert (found.case, found.rounds) == ("begun", 2)
    assert (found.verdict, found.differs, found.worse) == ("not yet certain", False, False)
    text = report(compared, [found], "A", "B")
    assert "0 slower, 0 faster, 1 same (1 of these not yet certain)" in text
    assert "`setup`" not in text


def test_an_interrupt_keeps_no_difference_of_few_rounds() -> None:
    kept: list[Comparison] = []
    cases = [MeasurableCase(name, name, 1.0) for name in ("alike", "different")]
    comparison = RoundsOfCases(cases, 2, Sampling(fewest_rounds=3), kept.append, {})
    for _ in range(3):
        comparison.add(cases[0], _round(1.0, 1.0))
        comparison.add(cases[1], _round(1.0, 2.0))
    with pytest.raises(KeyboardInterrupt), comparison.keeping():
        raise KeyboardInterrupt
    assert [result.case for result in kept] == ["alike"]
