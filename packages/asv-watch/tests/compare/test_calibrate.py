"""`asv-watch calibrate` to the end, with real asv in an environment of its own, without torch."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.compare.calibrate import place_in_words
from asv_watch.judge import graph
from asv_watch.records.store import read_record
from asv_watch.text import quantities
from tests.clockwork import CLOCK
from tests.conftest import git
from tests.interruptible import run_driver

SUITE = (
    CLOCK
    + """

class Suite:
    params = ["plain", "broken"]
    param_names = ["kind"]
    timer = Clock.read  # runs while cases work, with a noise of 0.2 %
    rounds = 1
    repeat = 6
    number = 1
    warmup_time = 0

    def time_it(self, kind):
        if kind == "broken":
            raise RuntimeError("out of cheese")
        Clock.now += random.gauss(1e-3, 2e-6)

    def peakmem_it(self, kind):
        raise AssertionError("a calibration times and does nothing else")
"""
)


def test_it_compares_head_with_itself_stores_that_and_prints_the_noise(
    make_project: Callable[..., Path], tmp_path: Path
) -> None:
    project = make_project(SUITE, {"src/package.py": ""})
    arguments = ("--cases", "suite", "--comparisons", "2", "--sides", "3")
    output, _ = run_driver("calibrate", project, tmp_path, *arguments, status=3)
    comparisons, problems = read_record(project / "results")
    assert problems == []
    assert {each.sitting.kind for each in comparisons} == {"null"}
    assert len({each.sitting.key for each in comparisons}) == 2, "a sitting each"
    head = git(project, "rev-parse", "HEAD")
    assert {each.sitting.versions[-1].commit for each in comparisons} == {head}
    case = "suite.Suite.time_it('plain')"
    timed = [each for each in comparisons if not each.failed]
    assert [each.case for each in timed] == [case, case]
    graphs = graph.MachineGraphs(comparisons)
    assert [each.measured_sides for each in timed] == [[0, 1, 2]] * 2
    ratios = graph.ratios_to_first(timed, graphs)
    assert [ratio.ratio for ratio in ratios] == pytest.approx([1] * 4, abs=0.01)
    rows = [re.split(r" *\| *", line) for line in output.splitlines() if f"| `{case}`" in line]
    assert rows[-1][5] == quantities.interval(ratios[-1].interval)
    assert "out of cheese" in output
    noise, place, smallest, failed = output.splitlines()[-4:]
    assert failed == "Failed: suite.Suite.time_it('broken')."
    assert (
        noise
        == f"4 ratios of {head[:8]} to itself differ from 1 by {graph.noise_in_words(ratios)}."
    )
    assert place == place_in_words(timed, graphs, 3)
    assert str(graph.smallest_changes(timed, graphs)) in smallest
    files = {path for path in (project / "results").rglob("*") if path.is_file()}
    assert len(files) == 1, "the record, and nothing else"


WORK = """
import time

class Suite:
    timer = time.process_time
    repeat = 6
    number = 1
    warmup_time = 0

    def time_it(self):
        until = time.process_time() + 0.005
        while time.process_time() < until:
            pass
"""


def test_a_planted_slowdown_is_measured_and_is_no_noise_of_the_machine(
    make_project: Callable[..., Path], tmp_path: Path
) -> None:
    project = make_project(WORK, {"src/package.py": ""})
    arguments = ("--cases", "suite", "--comparisons", "1", "--planted", "50")
    output, _ = run_driver("calibrate", project, tmp_path, *arguments)
    [stored], _ = read_record(project / "results")
    ratio = stored.ratio(0, 1)
    assert ratio is not None
    assert 1.4 < ratio.ratio < 1.6
    assert graph.newest_repeats([stored]) == []
    assert "slowed down by 50 %** against **" in output
    assert "Of 1 case 1 slower, 0 faster, 0 same" in output
