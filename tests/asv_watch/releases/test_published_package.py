"""A project that depends on a package of the index: its releases are compared and published."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.records.comparisons import read_comparisons
from tests.asv_watch.interruptible import start_driver
from tests.asv_watch.torchless import PUBLISHED

PACKAGE = "sortedcontainers"
SUITE = """
import time

from sortedcontainers import SortedList


class Sorted:
    timer = time.process_time
    sample_time = 0.01
    warmup_time = 0
    timeout = 60

    def time_update(self):
        SortedList(range(1000)).update(range(500, 1500))

    def peakmem_update(self):
        self.time_update()
"""


@pytest.fixture
def project(make_repository: Callable[..., Path]) -> Path:
    index = [sys.executable, "-m", "pip", "index", "versions", PACKAGE]
    if subprocess.run(index, capture_output=True, check=False).returncode:
        pytest.skip("no package index can be reached")
    matrix = PUBLISHED["matrix"] | {"req": {PACKAGE: ["2.4.0"]}}
    settings = PUBLISHED | {"matrix": matrix, "releases": {PACKAGE: ["2.4.0", "2.3.0"]}}
    return make_repository(
        {
            "asv.conf.json": json.dumps(settings),
            "benchmarks/__init__.py": "",
            "benchmarks/suite.py": SUITE,
            "src/package.py": "",
            ".gitignore": ".asv/\nhtml/\n",
        }
    )


def _run(job: str, project: Path, home: Path, *arguments: str) -> str:
    process = start_driver(job, project, home, *arguments)
    printed, errors = process.communicate()
    assert process.returncode == 0, printed + errors
    return str(printed)


def test_its_releases_are_compared_and_published(project: Path, tmp_path: Path) -> None:
    _run("bench", project, tmp_path)
    printed = _run("releases", project, tmp_path, PACKAGE, "measure")
    assert f"**{PACKAGE} 2.4.0** against **{PACKAGE} 2.3.0**" in printed
    [comparison], problems = read_comparisons(project / "results")
    assert problems == ()
    assert comparison.header.requirement == PACKAGE
    assert comparison.header.before.release == f"{PACKAGE} 2.3.0"
    cases = {ratio.case for ratio in comparison.ratios}
    assert cases == {f"import {PACKAGE}", "suite.Sorted.time_update"}
    [memory] = comparison.values
    assert isinstance(memory.before, float)
    assert isinstance(memory.after, float)

    _run("bench", project, tmp_path)  # publishes again; nothing is missing
    site = project / "html"
    shown = (site / "data" / "releases.js").read_text() + (site / "index.html").read_text()
    assert PACKAGE in shown
    assert "2.3.0" in shown
    assert "torch " not in shown.lower()
