"""Who gets how many rounds, and what comparisons of made-up processes come to."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from torchspeed.errors import TorchspeedError
from torchspeed.watch.analysis.rule import Verdict
from torchspeed.watch.asv.settings import Pair
from torchspeed.watch.turns import rounds as side_by_side
from torchspeed.watch.turns.compare import judge
from torchspeed.watch.turns.processes import Case, CaseFailedError, CaseSkippedError
from torchspeed.watch.turns.rounds import (
    FEWEST_ROUNDS,
    MOST_ROUNDS,
    Measured,
    measure_side_by_side,
)
from torchspeed.watch.turns.sides import Side

SIDES = (
    Side("A", Path(), Pair("", "", "", Path())),
    Side("B", Path(), Pair("", "", "", Path())),
)
Play = Callable[[tuple[Side, Side], Path, Case, int], Any]


def _measure(monkeypatch: pytest.MonkeyPatch, play: Play, cases: Sequence[str]) -> Measured:
    monkeypatch.setattr(side_by_side, "play_round", play)
    chosen = [Case(name, name, 1.0) for name in cases]
    return measure_side_by_side(SIDES, Path(), chosen, io.StringIO())


def _processes(spreads: dict[str, float], ratio: float, rng: np.random.Generator) -> Play:
    """Processes that differ by a spread each, with tails, on a machine that wanders."""

    def play(sides: tuple[Side, Side], suites: Path, case: Case, first: int) -> Any:
        weather = np.exp(np.cumsum(rng.normal(0.0, 0.01, 16)))
        levels = 1 + spreads[case.name] / 2 * rng.standard_t(5, len(sides)) * np.sqrt(3 / 5)
        samples = levels[:, None] * weather * rng.lognormal(0.0, 0.01, (len(sides), 16))
        samples[1] *= ratio
        return tuple(map(tuple, samples.tolist()))

    return play


def test_a_quiet_case_has_few_rounds_and_a_wild_one_all(monkeypatch: pytest.MonkeyPatch) -> None:
    spreads = {"quiet": 0.001, "wild": 0.5}
    play = _processes(spreads, 1.0, np.random.default_rng(1))
    measured = _measure(monkeypatch, play, list(spreads))
    rounds = {case.name: len(kept) for case, kept in measured.rounds.items()}
    assert rounds == {"quiet": FEWEST_ROUNDS, "wild": MOST_ROUNDS}


def test_how_many_rounds_does_not_depend_on_what_the_ratio_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def rounds(ratio: float) -> list[int]:
        spreads = {str(number): 0.02 for number in range(40)}
        play = _processes(spreads, ratio, np.random.default_rng(5))
        return [len(kept) for kept in _measure(monkeypatch, play, list(spreads)).rounds.values()]

    assert rounds(1.0) == rounds(1.05) == rounds(3.0)
    assert len(set(rounds(1.0))) > 2


def test_another_side_begins_each_round(monkeypatch: pytest.MonkeyPatch) -> None:
    began = []

    def play(sides: tuple[Side, Side], suites: Path, case: Case, first: int) -> Any:
        began.append(first)
        return ((1.0, 1.0), (1.0, 1.0))

    _measure(monkeypatch, play, ["x"])
    assert began == [0, 1, 0, 1, 0]


def test_what_is_skipped_or_fails_once_has_no_ratio_and_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []

    def play(sides: tuple[Side, Side], suites: Path, case: Case, first: int) -> Any:
        tried.append(case.name)
        if case.name == "skipped":
            raise CaseSkippedError("nobody has it")
        if case.name == "late" and tried.count("late") == 3:
            raise CaseFailedError("B: out of cheese")
        if case.name == "still":
            return ((0.0, 0.0), (1.0, 1.0))
        return ((1.0, 1.0), (1.0, 1.0))

    measured = _measure(monkeypatch, play, ["skipped", "late", "still", "works"])
    assert measured.skipped == {"skipped": "nobody has it"}
    assert measured.failed["late"] == "B: out of cheese"
    assert "clock that stood still" in measured.failed["still"]
    assert [case.name for case in measured.rounds] == ["works"]
    assert {name: tried.count(name) for name in tried} == {
        "skipped": 1,
        "late": 3,
        "still": 1,
        "works": FEWEST_ROUNDS,
    }
    with pytest.raises(TorchspeedError, match=r"no case ran on both sides \(B: out of cheese\)"):
        judge(Measured(failed={"late": "B: out of cheese"}))


def test_each_line_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    play = _processes({"x": 0.5}, 1.0, np.random.default_rng(1))
    monkeypatch.setattr(side_by_side, "play_round", play)
    out = io.StringIO()
    measure_side_by_side(SIDES, Path(), [Case("x", "x", 1.0)], out)
    lines = out.getvalue().splitlines()
    assert re.fullmatch(r"round 1 \[1/1\] x  [+-]\d+\.\d%, \d+ s left", lines[0])
    assert lines[FEWEST_ROUNDS - 1].endswith("0 s left, then cases that are not sure")
    assert lines[MOST_ROUNDS - 1].endswith("s left")
    assert lines[-1].startswith("  done in ")


def test_nothing_is_seldom_called_a_difference_and_five_per_cent_nearly_always(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whole comparisons: as many rounds as each case gets, spreads as they are measured."""
    rng = np.random.default_rng(3)
    spreads = {str(at): spread for at, spread in enumerate(np.geomspace(0.003, 0.03, 34))}

    def verdicts(ratio: float) -> list[Verdict]:
        found = []
        for _ in range(15):
            play = _processes(spreads, ratio, rng)
            measured = _measure(monkeypatch, play, list(spreads))
            found += [one.ratio.verdict for one in judge(measured)]
        return found

    alike, slower = verdicts(1.0), verdicts(1.05)
    assert alike.count(Verdict.SAME) / len(alike) >= 0.99
    assert slower.count(Verdict.WORSE) / len(slower) >= 0.97
