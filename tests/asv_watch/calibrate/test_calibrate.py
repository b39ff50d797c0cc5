"""`make calibrate` to the end, with real asv in an environment of its own, without torch."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.calibrate.report import conclusion, report
from asv_watch.records.calibrations import FILE_NAME, read_calibrations
from asv_watch.records.comparisons import read_comparisons
from tests.asv_watch.calibrations import calibration
from tests.asv_watch.clockwork import CLOCK
from tests.asv_watch.interruptible import start_driver
from tests.conftest import git

SUITE = (
    CLOCK
    + """

class Suite:
    params = (["plain", "broken"], ["cpu", "cuda"])
    param_names = ("model", "device")
    timer = Clock.read  # runs while cases work, with a noise of 0.2 %
    rounds = 1
    repeat = 6
    number = 1
    warmup_time = 0

    def time_it(self, model, device):
        if model == "broken":
            raise RuntimeError("out of cheese")
        Clock.now += random.gauss(1e-3, 2e-6)

    def peakmem_it(self, model, device):
        raise AssertionError("a calibration times and does nothing else")
"""
)


@pytest.fixture
def project(make_project: Callable[..., Path]) -> Path:
    return make_project(SUITE, {"src/package.py": ""})


def _start(project: Path, home: Path, *arguments: str) -> subprocess.Popen[str]:
    return start_driver("calibrate", project, home, "--cases", "suite", *arguments)


def test_it_measures_runs_says_how_noisy_and_keeps_that(project: Path, tmp_path: Path) -> None:
    process = _start(project, tmp_path, "--runs", "2", "--comparisons", "2")
    output, wrong = process.communicate()
    assert process.returncode == 0, output + wrong
    assert "run 2 of 2" in output
    assert re.search(r"^\[\d/2\] suite\.Suite\.time_it\('broken', 'cpu'\).* left$", output, re.M)
    path = project / "results" / "m" / FILE_NAME
    [kept], problems = read_calibrations(path)
    assert problems == ()
    assert kept.runs == 2
    assert kept.commit == git(project, "rev-parse", "HEAD")
    [case] = kept.cases
    assert case.case == "suite.Suite.time_it('plain', 'cpu')"
    assert len(case.values) == 2
    assert case.samples == 6
    assert kept.interleaved is not None
    assert kept.interleaved.repeats == 2
    [turns] = kept.interleaved.cases
    assert turns.case == case.case
    assert 5 <= turns.rounds <= 12
    assert kept.interleaved.ratios == 2
    assert kept.without_value == ("suite.Suite.time_it('broken', 'cpu')",)
    assert {finding.what for finding in kept.findings} >= {
        "other load",
        "stolen time",
        "threads",
        "swap",
    }
    assert report(kept, "m") in output
    comparisons, problems = read_comparisons(project / "results")
    assert [comparison.header.kind for comparison in comparisons] == ["null", "null"]
    assert problems == ()
    assert {path for path in (project / "results").rglob("*") if path.is_file()} == {
        path,
        *(comparison.path for comparison in comparisons),
    }, "nothing is added to the tracked results but its own files"

    # Interrupted in the third run, two whole ones count; the environment is there by now.
    process = _start(project, tmp_path, "--runs", "30")
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("run 3 of 30"):
            break
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)
    output, wrong = process.communicate()
    assert "interrupted: 2 whole runs count" in output, output + wrong
    kept, cut = read_calibrations(path)[0]
    assert (cut.runs, cut.interleaved) == (2, None)

    # Interrupted while sides take turns, the runs count.
    process = _start(project, tmp_path, "--runs", "2", "--comparisons", "2")
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("round 1"):
            break
    os.killpg(process.pid, signal.SIGINT)
    output, wrong = process.communicate()
    assert "interrupted: the runs count, the comparisons do not" in output, output + wrong
    last = read_calibrations(path)[0][-1]
    assert (last.runs, last.interleaved) == (2, None)


def test_interrupted_too_early_it_keeps_nothing_and_says_so(project: Path, tmp_path: Path) -> None:
    process = _start(project, tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("run 1 of 3")
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)
    _, wrong = process.communicate()
    assert process.returncode == 130
    assert (
        wrong == "asv-watch: interrupted; nothing was stored: a calibration needs two whole runs\n"
    )
    assert not (project / "results" / "m" / FILE_NAME).exists()


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (("--runs", "1"), "--runs '1': give a number of at least 2"),
        (("--comparisons", "-1"), "--comparisons '-1': give a number of at least 0"),
        (("--cases", "("), "is no regular expression"),
    ],
)
def test_what_cannot_be_calibrated_is_refused_before_measuring(
    project: Path, tmp_path: Path, arguments: tuple[str, ...], output: str
) -> None:
    process = _start(project, tmp_path, *arguments)
    _, wrong = process.communicate()
    assert process.returncode in {1, 2}
    assert wrong.count("\n") == 1
    assert output in wrong
    assert [path.name for path in (project / ".asv").iterdir()] == ["env"]


def test_the_report_tells_everything_and_the_noisiest_first() -> None:
    text = report(calibration(), "desk")
    assert text.startswith("**desk, 2025-10-09 08:53 UTC**: commit 01234567, torch 2.15.0")
    rows = [line for line in text.splitlines() if line.startswith("| `a.A.")]
    assert [re.split(r" *\| *", row)[1:-1] for row in rows[:2]] == [
        ["`a.A.time_y('m', 'cpu')`", "1.01e+03 ms", "6", "0.80%", "2.10%", "above 100%"],
        ["`a.A.time_x('m', 'cpu')`", "101 ms", "20", "0.40%", "1.00%", "2.5%"],
    ]
    assert len({len(row) for row in rows[:2]}) == len({len(row) for row in rows[2:]}) == 1
    turns = [re.split(r" *\| *", row)[1:-1] for row in rows[2:]]
    assert turns == [
        ["`a.A.time_w('m', 'cpu')`", "9", "0.50%", "1.20%", "3.1%"],
        ["`a.A.time_x('m', 'cpu')`", "5", "0.30%", "0.80%", "1.6%"],
    ]
    assert "Interleaved: 2 comparisons of the commit with itself in 1 min 30 s." in text
    assert "a.A.time_z('m', 'cpu')" in text
    assert "sudo <cpupower>" in text
    assert "swap: none" in text
    assert text.splitlines()[-1] == conclusion(calibration())


def test_the_verdict_names_the_targets_that_count() -> None:
    assert conclusion(calibration()) == (
        "Separate runs, steady: noise 0.60%, worst 2.1% of 2 cases (wanted: at most 1% and 3% "
        "on an idle machine); 0 false alarms in 6 comparisons. Interleaved, steady: noise "
        "0.41%, worst 1.2% of 2 cases; 0 false alarms in 4 ratios."
    )
    loaded = conclusion(calibration(others=0.8, worst=0.07))
    assert loaded.startswith("Separate runs, too noisy: ")
    assert "Interleaved" not in conclusion(calibration(interleaved=None))
    assert "worst at most 6% on a loaded machine" in loaded
