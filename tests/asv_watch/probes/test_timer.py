"""The script that times the cases of one side of a comparison, asked as a comparison asks it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from asv_watch import probes
from tests.conftest import run

SUITE = """
import time

class Suite:
    timer = time.process_time

    def setup(self):
        open("setups", "a").write("x")
        until = time.process_time() + 0.05
        while time.process_time() < until:
            pass

    def time_open(self):
        sum(range(1000))

    def time_fixed(self):
        sum(range(1000))

    time_fixed.number = 3
"""


def sampled(tmp_path: Path, case: str, samples: int) -> tuple[int, int]:
    """Take samples of a case; return the calls of each and how often it was set up."""
    suites = tmp_path / "suites"
    suites.mkdir(exist_ok=True)
    (suites / "__init__.py").touch()
    (suites / "suite.py").write_text(SUITE)
    request = json.dumps({"case": f"suite.Suite.{case}", "process": "fork"})
    requests = "\n".join([request, *[""] * samples, "end", ""])
    timer = sys.executable, "-P", probes.TIMER
    done = run(*timer, suites, "0", input=requests, cwd=tmp_path)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sum("seconds" in answer for answer in answers) == samples, done.stderr
    setups = tmp_path / "setups"
    count = len(setups.read_text())
    setups.unlink()
    return answers[1]["calls"], count


def test_a_case_is_set_up_once_a_sample_and_its_setup_shortens_no_sample(tmp_path: Path) -> None:
    calls, setups = sampled(tmp_path, "time_open", 6)
    assert setups == 1 + 6
    assert calls > 100, "a sample lasts 10 ms, of which setup is no part"


def test_a_suite_that_sets_the_number_of_calls_is_set_up_before_them(tmp_path: Path) -> None:
    calls, setups = sampled(tmp_path, "time_fixed", 2)
    assert calls == 3
    assert setups > 1 + 2 * 2, "before the calls that are not counted, and before those that are"
