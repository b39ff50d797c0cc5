"""How many rounds a case gets, and the results of comparisons of simulated processes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.engine import rounds as rounds_module
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.processes import CaseFailedError, CaseSkippedError
from asv_watch.engine.rounds import (
    DEFAULT,
    RoundsOfCases,
    Sampling,
    measure_cases,
)
from asv_watch.engine.sides import Side
from asv_watch.errors import MachineError
from asv_watch.records.comparisons import CaseRatio, CaseResult, Unmeasured
from asv_watch.statistics.rule import Verdict, verdict

SIDES = (
    Side("A", Path(), EnvironmentSpec({}, "", Path()), Path()),
    Side("B", Path(), EnvironmentSpec({}, "", Path()), Path()),
)
FEWEST_ROUNDS, MOST_ROUNDS = 5, 16
Play = Callable[[Any, MeasurableCase, int], Any]


def _measure(
    monkeypatch: pytest.MonkeyPatch, play: Play, cases: Sequence[str]
) -> list[CaseResult]:
    monkeypatch.setattr(rounds_module, "measure_round", play)
    chosen = [MeasurableCase(name, name, 1.0) for name in cases]
    return measure_cases(SIDES, chosen)


def _ratios(results: Sequence[CaseResult]) -> list[CaseRatio]:
    return [result for result in results if isinstance(result, CaseRatio)]


def _processes(spreads: dict[str, float], ratio: float, rng: np.random.Generator) -> Play:
    """Processes that differ by a spread each, with tails, on a machine that drifts."""

    def play(servers: Any, case: MeasurableCase, first: int) -> Any:
        weather = np.exp(np.cumsum(rng.normal(0.0, 0.01, 16)))
        levels = 1 + spreads[case.name] / 2 * rng.standard_t(5, 2) * np.sqrt(3 / 5)
        samples = levels[:, None] * weather * rng.lognormal(0.0, 0.01, (2, 16))
        samples[1] *= ratio
        return tuple(map(tuple, samples.tolist()))

    return play


def test_a_quiet_case_has_few_rounds_and_a_noisy_case_all(monkeypatch: pytest.MonkeyPatch) -> None:
    spreads = {"quiet": 0.001, "middle": 0.002, "noisy": 0.5}
    play = _processes(spreads, 1.0, np.random.default_rng(1))
    results = _ratios(_measure(monkeypatch, play, list(spreads)))
    rounds = {result.case: len(result.ratios) for result in results}
    assert rounds == {"quiet": FEWEST_ROUNDS, "middle": FEWEST_ROUNDS, "noisy": MOST_ROUNDS}


@pytest.mark.parametrize(
    ("ratio", "rounds"),
    [(1.0, FEWEST_ROUNDS), (1.005, FEWEST_ROUNDS), (1.02, 2 * FEWEST_ROUNDS),
     (0.98, 2 * FEWEST_ROUNDS), (1.04, FEWEST_ROUNDS), (3.0, FEWEST_ROUNDS)],
)  # fmt: skip
def test_a_case_whose_difference_is_doubtful_has_as_many_rounds_again(
    monkeypatch: pytest.MonkeyPatch, ratio: float, rounds: int
) -> None:
    played = 0

    def play(servers: Any, case: MeasurableCase, first: int) -> Any:
        nonlocal played
        played += 1
        after = ratio * (1 + 0.006 * (-1) ** played)
        return ((1.0, 1.0), (after, after))

    (result,) = _ratios(_measure(monkeypatch, play, ["x"]))
    assert len(result.ratios) == rounds


def test_a_large_difference_needs_a_narrow_interval_only_in_proportion(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def play(servers: Any, case: MeasurableCase, first: int) -> Any:
        after = float(case.name) * (1.03 if first else 1 / 1.03)
        return ((1.0, 1.0), (after, after))

    results = _ratios(_measure(monkeypatch, play, ["1.0", "2.4"]))
    rounds = {result.case: len(result.ratios) for result in results}
    assert rounds == {"2.4": FEWEST_ROUNDS, "1.0": MOST_ROUNDS}


def test_the_other_side_begins_each_round(monkeypatch: pytest.MonkeyPatch) -> None:
    first_sides = []

    def play(servers: Any, case: MeasurableCase, first: int) -> Any:
        first_sides.append(first)
        return ((1.0, 1.0), (1.0, 1.0))

    _measure(monkeypatch, play, ["x"])
    assert first_sides == [0, 1, 0, 1, 0]


def test_the_time_left_is_that_of_every_cases_fewest_rounds() -> None:
    left = rounds_module._time_left(DEFAULT, number=1, left_of_round=2, open_cases=3, mean=10.0)
    assert left == ", 1 min 50 s left"


@pytest.mark.fault(
    "disk full",
    tried="the temporary disk fills up during a comparison",
    holds="it ends with the reason; what was finished is stored, and no case counts as failed",
)
def test_a_fault_of_the_machine_ends_the_comparison_and_is_blamed_on_no_case(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def play(servers: Any, case: MeasurableCase, first: int) -> Any:
        rounds[case.name] += 1
        if rounds[case.name] > FEWEST_ROUNDS:
            raise MachineError("B: No space left on device")
        return ((1.0, 1.0), (1.0, 1.0) if case.name == "quiet" else (1.0 + first / 9,) * 2)

    rounds: Counter[str] = Counter()
    monkeypatch.setattr(rounds_module, "measure_round", play)
    kept: list[CaseResult] = []
    cases = [MeasurableCase(name, name, 1.0) for name in ("quiet", "noisy")]
    with pytest.raises(MachineError, match=r"^quiet on B: No space"):
        measure_cases(SIDES, cases, kept.append)
    assert [(type(case), case.case) for case in kept] == [
        (CaseRatio, "quiet"),
        (CaseRatio, "noisy"),
    ]


def test_a_case_that_is_skipped_or_fails_has_no_ratio_and_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tried: list[str] = []

    def play(servers: Any, case: MeasurableCase, first: int) -> Any:
        tried.append(case.name)
        if case.name == "skipped":
            raise CaseSkippedError("no such device")
        if case.name == "late" and tried.count("late") == 3:
            raise CaseFailedError("B: out of cheese", servers[1])
        if case.name == "still":
            return ((0.0, 0.0), (1.0, 1.0))
        return ((1.0, 1.0), (1.0, 1.0))

    results = _measure(monkeypatch, play, ["skipped", "late", "still", "works"])
    shown = "round 1 [1/4] skipped  skipped: no such device, 0 s left"
    assert capsys.readouterr().out.splitlines()[0] == shown
    skipped, still, late = (case for case in results if isinstance(case, Unmeasured))
    assert (skipped.case, skipped.skipped) == ("skipped", "no such device")
    assert (late.case, late.failed, late.failed_before) == ("late", "B: out of cheese", False)
    assert "the clock stood still" in still.failed
    assert [case.case for case in _ratios(results)] == ["works"]
    assert {name: tried.count(name) for name in tried} == {
        "skipped": 1,
        "late": 3,
        "still": 1,
        "works": FEWEST_ROUNDS,
    }


def test_a_case_is_no_more_certain_than_the_median_case(monkeypatch: pytest.MonkeyPatch) -> None:
    spreads = {"quiet": 1e-6, "middle": 0.002, "noisy": 0.004}
    played: list[str] = []

    def play(servers: Any, case: MeasurableCase, first: int) -> Any:
        played.append(case.name)
        ratio = 1 + spreads[case.name] * (-1) ** played.count(case.name)
        return ((1.0, 1.0), (ratio, ratio))

    results = {case.case: case for case in _ratios(_measure(monkeypatch, play, list(spreads)))}

    def width(name: str) -> float:
        low, high = results[name].interval
        return math.log(high / low)

    assert width("quiet") == pytest.approx(width("middle"))
    assert width("noisy") == pytest.approx(2 * width("middle"), rel=0.01)


def test_an_interrupt_keeps_the_cases_with_enough_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[str] = []

    def play(servers: Any, case: MeasurableCase, first: int) -> Any:
        played.append(case.name)
        if played.count("second") == FEWEST_ROUNDS:
            raise KeyboardInterrupt
        return ((1.0, 1.0), (1.0, 1.0))

    kept: list[CaseResult] = []
    monkeypatch.setattr(rounds_module, "measure_round", play)
    cases = [MeasurableCase(name, name, 1.0) for name in ("first", "second")]
    with pytest.raises(KeyboardInterrupt):
        measure_cases(SIDES, cases, kept.append)
    assert [case.case for case in kept] == ["first"]


def test_an_interrupt_keeps_no_difference_of_few_rounds() -> None:
    kept: list[CaseResult] = []
    cases = [MeasurableCase(name, name, 1.0) for name in ("alike", "different")]
    comparison = RoundsOfCases(cases, Sampling(fewest_rounds=3), kept.append)
    for _ in range(3):
        comparison.add(cases[0], ((1.0,), (1.0,)))
        comparison.add(cases[1], ((1.0,), (2.0,)))
    with pytest.raises(KeyboardInterrupt), comparison.keeping():
        raise KeyboardInterrupt
    assert [result.case for result in kept] == ["alike"]


def test_null_comparisons_are_seldom_differences_and_5_percent_is_nearly_always_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whole comparisons: as many rounds as each case gets, spreads as they are measured."""
    rng = np.random.default_rng(3)
    spreads = {str(at): spread for at, spread in enumerate(np.geomspace(0.003, 0.03, 34))}

    def verdicts(ratio: float) -> list[Verdict]:
        answers = []
        for _ in range(9):
            play = _processes(spreads, ratio, rng)
            results = _measure(monkeypatch, play, list(spreads))
            answers += [verdict(case) for case in _ratios(results)]
        return answers

    null, slower = verdicts(1.0), verdicts(1.05)
    assert null.count(Verdict.SAME) >= len(null) - 1 == 305
    assert slower.count(Verdict.WORSE) / len(slower) >= 0.97
