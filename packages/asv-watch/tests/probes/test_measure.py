"""The script that measures cases of one side of a comparison, asked as a comparison asks it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

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
    suites.mkdir(parents=True)
    (suites / "__init__.py").touch()
    (suites / "suite.py").write_text(SUITE)
    return [sys.executable, "-P", str(probes.MEASURE), str(suites), SIDE]


def answers(output: str) -> list[dict[str, Any]]:
    """Return the answers about cases; the first one names the process."""
    started, *following = [json.loads(line) for line in output.splitlines()]
    assert started["server"]
    return [answer for answer in following if "modules" not in answer]


def request(case: str) -> str:
    return json.dumps({"case": f"suite.{case}", "process": "fork", "seed": 7, "clock": ""})


def sampled(tmp_path: Path, case: str, samples: int, how: str = "") -> tuple[int, int]:
    """Take samples of a case; return the calls of each and how often it was set up."""
    requests = "\n".join([request(f"Suite.{case}"), *[how] * samples, "end", ""])
    done = run(*start_script(tmp_path), input=requests, cwd=tmp_path)
    of_case = answers(done.stdout)
    assert sum("seconds" in answer for answer in of_case) == samples, done.stderr
    return of_case[1]["calls"], len((tmp_path / "setups").read_text())


def test_a_case_is_set_up_once_a_sample_and_its_setup_shortens_no_sample(tmp_path: Path) -> None:
    calls, setups = sampled(tmp_path, "time_open", 6)
    assert setups == 1 + 6
    assert calls > 100, "a sample lasts 10 ms, of which setup is no part"


def test_a_costly_setup_is_named_and_samples_can_share_it(tmp_path: Path) -> None:
    assert sampled(tmp_path, "time_open", 3, "same setup")[1] == 1
    costly = (
        SUITE
        + """
class Costly:
    def setup(self):
        time.sleep(0.3)

    def time_open(self):
        pass

    def time_fixed(self):
        pass

    time_fixed.number = 1

class Cheap:
    def time_open(self):
        pass
"""
    )
    (tmp_path / "site-packages/suites/suite.py").write_text(costly)
    command = [sys.executable, "-P", str(probes.MEASURE), str(tmp_path / "site-packages/suites")]
    for case, costs in (
        ("Costly.time_open", True),
        ("Costly.time_fixed", False),  # the suite counts on a setup before each call
        ("Cheap.time_open", False),
    ):
        requests = "\n".join([request(case), "end", ""])
        done = run(*command, SIDE, input=requests, cwd=tmp_path)
        assert answers(done.stdout)[1]["setup costs"] is costs, done.stderr


def test_a_suite_that_sets_the_number_of_calls_is_set_up_before_them(tmp_path: Path) -> None:
    calls, setups = sampled(tmp_path, "time_fixed", 2)
    assert calls == 3
    assert setups > 1 + 2 * 2, "before the calls that are not counted, and before those that are"


def test_a_first_call_that_loads_or_compiles_does_not_make_samples_of_one_call(
    tmp_path: Path,
) -> None:
    requests = "\n".join([request("SlowFirstCall.time_warming"), *[""] * 2, "end", ""])
    done = run(*start_script(tmp_path), input=requests, cwd=tmp_path)
    warm, *samples, _ = answers(done.stdout)[1:]
    assert warm["calls"] > 3, done.stderr
    assert all(sample["seconds"] < 0.05 for sample in samples)


def test_a_clock_of_the_suite_says_how_many_calls_make_a_sample(tmp_path: Path) -> None:
    requests = "\n".join([request("Milliseconds.time_computing"), "", "end", ""])
    done = run(*start_script(tmp_path), input=requests, cwd=tmp_path)
    assert answers(done.stdout)[1]["calls"] == 1, done.stderr


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
    done = run(*start_script(tmp_path), input=f"{request(f'track_{case}')}\n", cwd=tmp_path)
    _, answer, end = answers(done.stdout)
    line = SUITE.splitlines().index("        assert size < 1") + 1
    assert answer == {"failed": error.format(line=line)}
    assert end["status"] == 1


def test_peak_memory_is_that_of_the_case_and_not_of_what_started_its_process(
    tmp_path: Path,
) -> None:
    script = start_script(tmp_path)
    start = f"import subprocess; held = bytearray(300_000_000); subprocess.run({script})"
    asked = f"{request('peakmem_little').replace('fork', 'own')}\n"
    done = run(sys.executable, "-c", start, input=asked, cwd=tmp_path)
    assert 10e6 < answers(done.stdout)[1]["value"] < 100e6
