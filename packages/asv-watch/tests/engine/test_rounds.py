"""How many rounds a case gets, by which clock, and what then names the clock."""

import dataclasses
import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import pytest

from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.compare.report import differences_of, report
from asv_watch.comparison import Comparison, Outcome, Ratio
from asv_watch.engine import measuring, processes
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.measuring import Compared, Unfinished, measure_cases
from asv_watch.engine.processes import SideResult, UnmeasuredError
from asv_watch.engine.rounds import CHANGE_IF_BUSY, DEFAULT, RoundsOfCases, Sampling, clock_of
from asv_watch.engine.workplace import Side
from asv_watch.errors import MachineError
from asv_watch.gate.result import judged_ratios
from asv_watch.judge.changes import analyse
from asv_watch.judge.graph import MachineGraphs
from asv_watch.machine.budget import Budget
from asv_watch.site.change_data import change_data
from asv_watch.site.contents import contents_of, in_order
from asv_watch.site.data_files import commit_pairs
from asv_watch.statistics.rule import Verdict
from tests.judge.test_changes import comparison, history_of, noisy

SIDES = tuple(Side(name, Path(), EnvironmentSpec({}, "", Path()), Path()) for name in "AB")
FEWEST_ROUNDS, MOST_ROUNDS = 5, 16
Play = Callable[..., Any]


def _measure(
    play: Play, names: Sequence[str], sides: Sequence[Side] = SIDES, **options: Any
) -> list[Comparison]:
    cases = [MeasurableCase(name, name, 1.0) for name in names]
    with mock.patch.object(processes, "measure_round", play):
        return measure_cases(sides, cases, **options)


def _round(*values: float) -> tuple[SideResult, ...]:
    return tuple(map(SideResult, values))


def _ratios(results: Sequence[Comparison]) -> list[Ratio]:
    return [ratio for result in results if (ratio := result.ratio(0, 1)) is not None]


def _alternating(ratio: float, spread: float, wall: float = 1.0) -> Play:
    """Rounds that lie above and below a ratio in turn, and take so much wall time per CPU time."""

    def play(servers: Any, case: MeasurableCase, *, number: int) -> Any:
        cpu = 1.0, ratio * math.exp(spread * (-1) ** number)
        return tuple(SideResult(wall * s, wall * s, s, computes=True) for s in cpu)

    return play


@pytest.mark.parametrize(
    ("spread", "ratio", "rounds"),
    [
        *((0.006, ratio, FEWEST_ROUNDS) for ratio in (1.0, 1.005, 1.04, 3.0)),
        *((0.006, ratio, 2 * FEWEST_ROUNDS) for ratio in (0.98, 1.02)),
        *((0.06, ratio, MOST_ROUNDS) for ratio in (1.0, 1.02)),
        (0.06, 1.045, 2 * MOST_ROUNDS),
    ],
)
def test_a_quiet_case_has_few_rounds_a_noisy_one_all_and_a_doubtful_one_as_many_again(
    spread: float, ratio: float, rounds: int
) -> None:
    (result,) = _ratios(_measure(_alternating(ratio, spread), ["x"]))
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
    ratio: float, spread: float, rounds_idle: int, rounds_busy: int
) -> None:
    def rounds(wall: float, sampling: Sampling = DEFAULT) -> int:
        play = _alternating(ratio, spread, wall)
        [measured] = _measure(play, ["x"], sampling=sampling)
        return len(measured.rounds)

    answering = Sampling(change_if_busy=CHANGE_IF_BUSY)
    assert rounds(1.0, answering) == rounds(4.0) == rounds_idle
    assert rounds(4.0, answering) == rounds_busy
    of_a_noisy_machine = dataclasses.replace(answering, usual_spread=0.1)
    assert rounds(4.0, of_a_noisy_machine) > rounds_busy, "a few are alike by luck"


def test_a_fault_of_the_machine_ends_the_comparison_and_is_blamed_on_no_case() -> None:
    def play(servers: Any, case: MeasurableCase, *, number: int) -> Any:
        if number >= FEWEST_ROUNDS:
            raise MachineError("B: No space left on device")
        return _round(1.0, 1.0 if case.name == "quiet" else 1.0 + number % 2 / 9)

    kept: list[Comparison] = []
    with pytest.raises(MachineError, match=r"^quiet on B: No space"):
        _measure(play, ["quiet", "noisy"], keep=kept.append)
    assert [ratio.case for ratio in _ratios(kept)] == ["quiet", "noisy"]


def test_a_side_that_is_skipped_or_fails_is_left_out_and_not_tried_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The others go on if there are two."""
    sides = [dataclasses.replace(SIDES[0], name=name) for name in "ABC"]
    tried: list[str] = []

    def play(servers: Any, case: MeasurableCase, *, number: int) -> Any:
        tried.append(case.name)
        if case.name == "partly" and len(servers) == 3:
            raise UnmeasuredError(Outcome.SKIPPED, "not in A", servers[0])
        if case.name == "late" and tried.count("late") > 2:
            outcome = Outcome.FAILED if len(servers) == 3 else Outcome.SKIPPED
            raise UnmeasuredError(outcome, "out of cheese", servers[1])
        return _round(*(1.0, 1.0, 1.1)[-len(servers) :])

    late, *others = _measure(play, ["partly", "late", "works"], sides)
    assert [result.case for result in others] == ["partly", "works"]
    partly = others[0]
    assert partly.why_no_ratio(0, 1) == (Outcome.SKIPPED, "not in A")
    assert [partly.value(side) for side in (1, 2)] == [1.0, 1.1]
    assert [late.outcome(side) for side in (1, 2)] == [
        (Outcome.FAILED, "B: out of cheese"),
        (Outcome.SKIPPED, "out of cheese"),
    ]
    assert not _ratios([late, partly])
    assert Counter(tried) == {"partly": FEWEST_ROUNDS + 1, "late": 4, "works": FEWEST_ROUNDS}
    shown = "round 3 [2/3] late  skipped: out of cheese, "
    assert any(line.startswith(shown) for line in capsys.readouterr().out.splitlines())


def test_a_case_is_no_more_certain_than_the_median_case() -> None:
    spreads = {"quiet": 1e-6, "middle": 0.002, "noisy": 0.004}

    def play(servers: Any, case: MeasurableCase, *, number: int) -> Any:
        return _round(1.0, 1 + spreads[case.name] * (-1) ** number)

    results = {case.case: case for case in _ratios(_measure(play, list(spreads)))}

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


CASE = MeasurableCase("s.time_it", "s.time_it-0", 1.0)
INTERRUPTED = SideResult(0.5, 0.5, 0.1, computes=True)
UNDISTURBED = SideResult(0.1, 0.1, 0.1, computes=True)
WAITED = SideResult(0.5, 0.5, 0.1)


@pytest.mark.parametrize(
    ("rounds", "clock"),
    [
        ([(INTERRUPTED, UNDISTURBED), (UNDISTURBED, UNDISTURBED)], "process"),
        ([(UNDISTURBED, INTERRUPTED), (None, INTERRUPTED)], "process"),
        ([(UNDISTURBED, UNDISTURBED)] * 2, ""),
        ([(INTERRUPTED, INTERRUPTED), (INTERRUPTED, WAITED)], "process"),
        ([(INTERRUPTED, WAITED)] * 2, ""),
        ([(SideResult(3.0), SideResult(4.0))], ""),
        ([(dataclasses.replace(WAITED, value=0.1, clock="process"),) * 2], "process"),
    ],
)
def test_one_clock_is_chosen_from_all_sides_and_rounds(rounds: list[Any], clock: str) -> None:
    assert clock_of(CASE, rounds) == clock
    on_a_gpu = dataclasses.replace(CASE, can_fork=False)
    assert clock_of(on_a_gpu, [(INTERRUPTED, INTERRUPTED)]) == ""


def _busy(*, computes: bool = True) -> Comparison:
    """A case that is 5 % slower, on a machine that interrupts it for longer than it takes."""
    walls = iter([0.3, 0.2, 0.5, 0.7] * 40)

    def play(servers: Any, case: MeasurableCase, *, number: int) -> Any:
        noise = 1.001 if number % 2 else 1.0
        sides = [(next(walls), 0.1), (next(walls), 0.105 * noise)]
        return tuple(SideResult(wall, wall, cpu, computes=computes) for wall, cpu in sides)

    [measured] = _measure(play, [CASE.name])
    return measured


def test_a_busy_machine_costs_no_rounds_and_the_ratio_is_that_of_the_cpu_times() -> None:
    measured = _busy()
    ratio = measured.ratio(0, 1)
    assert ratio is not None
    assert (ratio.clock, ratio.rounds) == ("process", 5)
    assert ratio.ratio == pytest.approx(1.05, rel=0.002)
    assert (ratio.before, ratio.after) == pytest.approx((0.1, 0.105), rel=0.002)
    assert measured.value(0) == pytest.approx(0.3), "a run keeps the case's own clock"
    by_wall = _busy(computes=False).ratio(0, 1)
    assert by_wall is not None
    assert (by_wall.clock, by_wall.rounds) == ("", 16)
    assert by_wall.ratio < 1, "that of the wall times"


def test_the_clock_is_named_in_the_table_and_json() -> None:
    compared = Compared((_busy(),), 0, 1, None)
    differences = differences_of(compared, "m")
    assert [difference.clock for difference in differences] == ["process"]
    table = report(compared, differences, "a", "b")
    assert "%, CPU time |" in table
    assert "CPU time replaces wall time" in table


def test_the_page_names_the_clock_of_a_measured_change() -> None:
    [stored] = comparison(12, 13, 1.03)
    stored = msgspec.structs.replace(stored, clock="process")
    history = in_order(history_of(noisy({}), [stored]))
    contents = contents_of(history, analyse(history))
    [change] = change_data(contents, "")[0]
    assert change.interval_text.endswith(" %, CPU time")
    [series] = contents.findings.compared
    [pair] = commit_pairs(contents, contents.series[series])
    assert pair.cpu_time, "Compare names it too"


def test_the_rounds_of_a_gate_have_one_clock_though_the_machine_was_busy_in_a_part() -> None:
    busy = _busy()
    quiet = Comparison(CASE.name, busy.at, rounds=((0.1, 0.105), (0.1, 0.106)) * 3)
    for measured in ((busy, quiet), (quiet, busy)):
        pooled, *_ = judged_ratios(measured, MachineGraphs(()))
        assert pooled.clock == "process"
        assert pooled.rounds == 11
        assert pooled.ratio == pytest.approx(1.05, abs=0.01)
