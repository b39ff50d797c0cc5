"""`asv-watch calibrate` to the end, with real asv in an environment of its own, without torch."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from asv_watch.judge.graph import MachineGraphs
from asv_watch.judge.precision import detectable_change, newest_repeats, noise_in_words
from asv_watch.records.measurements import read_comparisons
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
    arguments = ("--cases", "suite", "--comparisons", "2")
    output, _ = run_driver("calibrate", project, tmp_path, *arguments, status=3)
    comparisons, problems = read_comparisons(project / "results")
    assert problems == ()
    assert [stored.header.kind for stored in comparisons] == ["null", "null"]
    head = git(project, "rev-parse", "HEAD")
    assert {stored.header.after.commit for stored in comparisons} == {head}
    ratios = [ratio for stored in comparisons for ratio in stored.times]
    case = "suite.Suite.time_it('plain')"
    assert [ratio.case for ratio in ratios] == [case, case]
    assert all(abs(ratio.ratio - 1) < 0.01 for ratio in ratios)
    graphs = MachineGraphs(comparisons)
    judged = list(map(graphs.single, ratios))
    rows = [re.split(r" *\| *", line) for line in output.splitlines() if f"| `{case}`" in line]
    assert [row[5] for row in rows] == [
        quantities.interval(MachineGraphs(comparisons[: n + 1]).single(ratio).interval)
        for n, ratio in enumerate(ratios)
    ]
    assert "out of cheese" in output
    noise, smallest, failed = output.splitlines()[-3:]
    assert failed == "Failed: suite.Suite.time_it('broken')."
    assert noise == f"2 ratios of {head[:8]} to itself differ from 1 by {noise_in_words(judged)}."
    assert str(detectable_change(ratios, graphs)) in smallest
    files = {path for path in (project / "results").rglob("*") if path.is_file()}
    assert files == {stored.path for stored in comparisons}


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
    [stored], _ = read_comparisons(project / "results")
    [ratio] = stored.times
    assert 1.4 < ratio.ratio < 1.6
    assert newest_repeats([stored]) == []
    assert "slowed down by 50 %** against **" in output
    assert "Of 1 case 1 slower, 0 faster, 0 same" in output
