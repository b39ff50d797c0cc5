"""Commits measured side by side by real asv: a round of each in turn, all of it kept."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import commit, git
from tests.driver.torchless import CONFIGURATION
from torchspeed.driver import machine
from torchspeed.driver.configuration import read_configuration
from torchspeed.driver.progress import Progress
from torchspeed.driver.scratch import ScratchProject

SUITE = """
class Suite:
    rounds = 3
    repeat = 4
    number = 1
    warmup_time = 0

    def time_it(self):
        sum(range(20000))
"""


def _configuration(installs: Path) -> str:
    note = f"import sys; open({str(installs)!r}, 'a').write(sys.argv[1])"
    return json.dumps(CONFIGURATION | {"install_command": [f'python -c "{note}" "{{commit}} "']})


def test_several_commits_are_measured_a_round_of_each_in_turn(
    make_repository: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    machine.register("m")
    installs = tmp_path / "installs"
    root = make_repository(
        {
            "asv.conf.json": _configuration(installs),
            "benchmarks/__init__.py": "",
            "benchmarks/suite.py": SUITE,
            ".gitignore": ".asv/\n",
        }
    )
    commits = [git(root, "rev-parse", "HEAD"), commit(root, {"x": "1"}, "Two")]
    [pair] = read_configuration(root).pairs
    quick, turns = (ScratchProject(tmp_path / name, root) for name in ("quick", "turns"))

    quick.measure(commits[:1], pair, "m", ("suite",), Progress({}, io.StringIO()), quick=True)
    [series] = quick.history((commits[0],)).series
    assert len(series.runs[commits[0]].point.samples) == 1

    installs.unlink()
    said = io.StringIO()
    progress = Progress({}, said, again=2 * 3 - 1)
    turns.measure(commits, pair, "m", ("suite",), progress)
    [series] = turns.history(tuple(commits)).series
    assert {at: len(run.point.samples) for at, run in series.runs.items()} == dict.fromkeys(
        commits, 3 * 4
    )
    # Forwards, backwards, forwards; what is installed already is not installed again.
    first, second = commits
    order = installs.read_text().split()
    assert order in ([second, first, second], [first, second, first, second])
    assert len(re.findall(r"^\[1/1\] suite\.Suite\.time_it  ok", said.getvalue(), re.M)) == 6
    assert progress.seconds_left() == 0
