"""The rule that takes a case's ratios of CPU time, and what then names the clock."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from asv_watch.answers import measured_difference
from asv_watch.compare.report import differences_of, report
from asv_watch.comparison import Comparison, Sitting
from asv_watch.engine import processes
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.measuring import Compared, measure_cases
from asv_watch.engine.processes import SideResult
from asv_watch.engine.rounds import clock_of
from asv_watch.gate.result import judged_ratios
from asv_watch.judge.changes import analyse
from asv_watch.judge.graph import MachineGraphs
from asv_watch.records.store import SittingWriter, read_record
from asv_watch.site.change_data import change_data
from asv_watch.site.contents import contents_of, in_order
from asv_watch.site.data_files import commit_pairs
from asv_watch.versions.version import Version
from tests.engine.test_rounds import SIDES
from tests.judge.test_changes import comparison, history_of, noisy
from tests.making import MACHINE

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


def _measured(monkeypatch: pytest.MonkeyPatch, *, computes: bool = True) -> Comparison:
    """A case that is 5 % slower, on a machine that interrupts it for longer than it takes."""
    walls = iter([0.3, 0.2, 0.5, 0.7] * 40)

    def play(servers: Any, case: MeasurableCase, *, number: int) -> Any:
        noise = 1.001 if number % 2 else 1.0
        sides = [(next(walls), 0.1), (next(walls), 0.105 * noise)]
        return tuple(SideResult(wall, wall, cpu, computes=computes) for wall, cpu in sides)

    monkeypatch.setattr(processes, "measure_round", play)
    [measured] = measure_cases(SIDES, [CASE])
    return measured


def test_a_busy_machine_costs_no_rounds_and_the_ratio_is_that_of_the_cpu_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured = _measured(monkeypatch)
    ratio = measured.ratio(0, 1)
    assert ratio is not None
    assert (ratio.clock, ratio.rounds) == ("process", 5)
    assert ratio.ratio == pytest.approx(1.05, rel=0.002)
    assert (ratio.before, ratio.after) == pytest.approx((0.1, 0.105), rel=0.002)
    assert measured.value(0) == pytest.approx(0.3), "a run keeps the case's own clock"
    by_wall = _measured(monkeypatch, computes=False).ratio(0, 1)
    assert by_wall is not None
    assert (by_wall.clock, by_wall.rounds) == ("", 16)


def test_the_clock_is_named_in_the_record_the_table_and_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = _measured(monkeypatch)
    versions = (Version("a" * 40, {}, "3.11"), Version("b" * 40, {}, "3.11"))
    sitting = Sitting(kind="compare", at=1_790_000_000, machine="m", versions=versions)
    writer = SittingWriter(tmp_path, sitting)
    writer.add(measured)
    assert json.loads(writer.path.read_text().splitlines()[1])["clock"] == "process"
    [stored], _ = read_record(tmp_path)
    assert stored.ratio(0, 1) == measured.ratio(0, 1)
    graph = MachineGraphs([stored]).commits(CASE.name)
    assert graph is not None
    pair = graph.ratio(*graph.nodes)
    assert pair is not None
    assert pair.clock == measured_difference(pair).clock == "process"
    compared = Compared((measured,), 0, 1, None)
    table = report(compared, differences_of(compared, "m"), "a", "b")
    assert "%, CPU time |" in table
    assert "CPU time replaces wall time" in table


def test_the_page_names_the_clock_of_a_measured_change() -> None:
    compared = comparison(12, 13, 1.03)
    [stored] = compared[MACHINE]
    stored = msgspec.structs.replace(stored, clock="process")
    history = in_order(history_of(noisy({}), comparisons={MACHINE: (stored,)}))
    contents = contents_of(history, analyse(history))
    [change] = change_data(contents, "")[0]
    assert change.interval_text.endswith(" %, CPU time")
    pairs = [
        pair
        for series in contents.findings.compared
        for pair in commit_pairs(contents, contents.series[series])
    ]
    assert [pair.cpu_time for pair in pairs] == [1], "Compare names it too"


def test_the_rounds_of_a_gate_have_one_clock_though_the_machine_was_busy_in_a_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    busy = _measured(monkeypatch)
    quiet = Comparison(CASE.name, busy.at, rounds=((0.1, 0.105), (0.1, 0.106)) * 3)
    for measured in ((busy, quiet), (quiet, busy)):
        pooled, *_ = judged_ratios(measured, MachineGraphs(()))
        assert pooled.clock == "process"
        assert pooled.rounds == 11
        assert pooled.ratio == pytest.approx(1.05, abs=0.01)
