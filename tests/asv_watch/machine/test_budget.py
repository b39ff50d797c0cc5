"""A night whose time is over in the middle of a case, or of a confirmation."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import psutil

from asv_watch.records.measurements import read_version
from tests.asv_watch.interruptible import start_driver

SUITE = """
import time

class Steps:
    params = ["quick", "slow"]
    param_names = ["how"]

    def track_step(self, how):
        time.sleep({"quick": 0.1, "slow": 300}[how])
        return 1.5
"""


def _processes(project: Path) -> list[str]:
    """Command lines of processes that run something of the project."""
    running = []
    for process in psutil.process_iter(["cmdline", "cwd", "status"]):
        line = " ".join([*(process.info["cmdline"] or ()), process.info["cwd"] or ""])
        if str(project) in line and process.info["status"] != psutil.STATUS_ZOMBIE:
            running.append(line)
    return running


def test_a_case_is_stopped_when_the_budget_is_spent_and_the_night_publishes(
    make_project: Callable[..., Path], tmp_path: Path
) -> None:
    project = make_project(SUITE)
    started = time.monotonic()
    night = start_driver("nightly", project, tmp_path, "--budget", "60s")
    output, errors = night.communicate()
    assert 60 < time.monotonic() - started < 240
    assert night.returncode == 0, output + errors
    assert "track_step('quick')  1.50" in output
    assert "the time budget is spent; the next night continues here" in output
    assert "1 commits and releases: 0 still to be measured, 1 that lack cases" in output
    assert (project / "html/index.html").is_file()
    assert _processes(project) == []
    [path] = (project / "results/m").glob("*-*.measured.jsonl")
    assert list(read_version(path)[0]) == ["suite.Steps.track_step('quick')"]
