"""The script that measures cases of one side of a comparison, asked as a comparison asks it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any

import pytest

from asv_watch import probes
from asv_watch.probes.measure import _spin
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

class Costly:
    def setup(self):
        time.sleep(0.3)

    def time_open(self):
        pass

    def time_fixed(self):
        pass

    time_fixed.number = 1

class Milliseconds:
    timer = staticmethod(lambda: time.perf_counter() * 1000)

    def time_computing(self):
        sum(range(10_000))

class SlowFirstCall:
    warm = False

    def time_warming(self):
        time.sleep(0.001 if self.warm else 0.15)
        SlowFirstCall.warm = True

def track_silent():
    def allocate(size):
        assert size < 1
    allocate(7)

def track_loud():
    raise RuntimeError("no kernel")

def track_endless():
    return float("inf")

def peakmem_little():
    return bytearray(10_000_000)
"""

SIDE = json.dumps([{"files": [0, 1, 2], "folder": ".", "source": "", "planted": 0.0}])


def start_script(folder: Path) -> list[str]:
    """Write the suites; return the command of the script."""
    suites = folder / "site-packages" / "suites"
    suites.mkdir(parents=True, exist_ok=True)
    (suites / "__init__.py").touch()
    (suites / "suite.py").write_text(SUITE)
    return [sys.executable, "-P", str(probes.MEASURE), str(suites), SIDE]


def request(case: str, process: str = "fork") -> str:
    asked = {"case": f"suite.{case}", "process": process, "seed": 7, "clock": ""}
    return f"{json.dumps(asked)}\n"


def answers(output: str) -> list[dict[str, Any]]:
    """Return the answers about a case; the first one names the process."""
    started, *following = [json.loads(line) for line in output.splitlines()]
    assert started["server"]
    return [answer for answer in following if "modules" not in answer]


def asked(folder: Path, case: str, *samples: str) -> list[dict[str, Any]]:
    """Ask for a case and samples of it; return the answers after its import."""
    requests = request(case) + "".join(f"{sample}\n" for sample in (*samples, "end"))
    done = run(*start_script(folder), input=requests, cwd=folder)
    imported, *following = answers(done.stdout)
    assert imported == {"imported": True}, done.stderr
    return following


def sampled(tmp_path: Path, case: str, *samples: str) -> tuple[int, int]:
    """Take samples of a case; return the calls of each and how often it was set up."""
    ready, *of_samples, _ = asked(tmp_path, f"Suite.{case}", *samples)
    assert len(of_samples) == len(samples)
    return ready["calls"], len((tmp_path / "setups").read_text())


def test_a_case_is_set_up_once_a_sample_and_its_setup_shortens_no_sample(tmp_path: Path) -> None:
    calls, setups = sampled(tmp_path, "time_open", *[""] * 6)
    assert setups == 1 + 6
    assert calls > 100, "a sample lasts 10 ms, of which setup is no part"


def test_a_costly_setup_is_named_and_samples_can_share_it(tmp_path: Path) -> None:
    assert sampled(tmp_path, "time_open", *["same setup"] * 3)[1] == 1
    for case, costs in (
        ("Costly.time_open", True),
        ("Costly.time_fixed", False),  # the suite counts on a setup before each call
        ("SlowFirstCall.time_warming", False),
    ):
        assert asked(tmp_path, case)[0]["setup costs"] is costs


def test_a_suite_that_sets_the_number_of_calls_is_set_up_before_them(tmp_path: Path) -> None:
    calls, setups = sampled(tmp_path, "time_fixed", *[""] * 2)
    assert calls == 3
    assert setups > 1 + 2 * 2, "before the calls that are not counted, and before those that are"


def test_a_first_call_that_loads_or_compiles_does_not_make_samples_of_one_call(
    tmp_path: Path,
) -> None:
    ready, *samples, _ = asked(tmp_path, "SlowFirstCall.time_warming", "", "")
    assert ready["calls"] > 3
    assert all(sample["seconds"] < 0.05 for sample in samples)


def test_a_clock_of_the_suite_says_how_many_calls_make_a_sample(tmp_path: Path) -> None:
    assert asked(tmp_path, "Milliseconds.time_computing", "")[0]["calls"] == 1


@pytest.mark.parametrize(
    ("case", "error"),
    [
        ("silent", "AssertionError: assert size < 1 in allocate of suites/suite.py, line {line}"),
        ("loud", "RuntimeError: no kernel"),
        ("endless", "ValueError: its value is inf, which is too large or not finite"),
    ],
)
def test_a_case_without_a_value_says_why_or_where_that_was_raised(
    tmp_path: Path, case: str, error: str
) -> None:
    answer, end = asked(tmp_path, f"track_{case}")
    line = SUITE.splitlines().index("        assert size < 1") + 1
    assert answer == {"failed": error.format(line=line)}
    assert end["status"] == 1


def test_peak_memory_is_that_of_the_case_and_not_of_what_started_its_process(
    tmp_path: Path,
) -> None:
    script = start_script(tmp_path)
    start = f"import subprocess; held = bytearray(300_000_000); subprocess.run({script})"
    memory = request("peakmem_little", "own")
    done = run(sys.executable, "-c", start, input=memory, cwd=tmp_path)
    assert 10e6 < answers(done.stdout)[1]["value"] < 100e6


def test_what_is_planted_is_as_long_in_cpu_time_beside_other_work() -> None:
    busy = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(busy) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        spins = [_spin(thread_time, 0.005, perf_counter) for _ in range(60)]
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert all(0.005 <= cpu_s < 0.007 for _, cpu_s in spins)
    assert sum(wall_s for wall_s, _ in spins) > 0.4, "other work was there"
