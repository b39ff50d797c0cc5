"""The script that measures peak memory and exact counts in a release's environment."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from asv_watch import probes
from tests.conftest import run

SUITE = """
def track_silent():
    def allocate(size):
        assert size < 1
    allocate(7)

def track_loud():
    raise RuntimeError("no kernel")
"""


def test_an_error_without_a_text_names_what_raised_it(tmp_path: Path) -> None:
    suites = tmp_path / "site-packages" / "suites"
    suites.mkdir(parents=True)
    (suites / "__init__.py").touch()
    (suites / "suite.py").write_text(SUITE)
    script = sys.executable, "-P", probes.VALUES, suites
    done = run(*script, "suite.track_silent", "suite.track_loud")
    silent, loud = (json.loads(line)["failed"] for line in done.stdout.splitlines())
    assert silent == "AssertionError: assert size < 1 in allocate of suites/suite.py, line 4"
    assert loud == "RuntimeError: no kernel"


def test_peak_memory_is_that_of_the_case_and_not_of_what_started_its_process(
    tmp_path: Path,
) -> None:
    suites = tmp_path / "suites"
    suites.mkdir()
    (suites / "__init__.py").touch()
    (suites / "suite.py").write_text("def peakmem_little():\n    return bytearray(10_000_000)\n")
    script = [sys.executable, "-P", str(probes.VALUES), str(suites), "suite.peakmem_little"]
    start = f"import subprocess; held = bytearray(300_000_000); subprocess.run({script})"
    done = run(sys.executable, "-c", start)
    assert 10e6 < json.loads(done.stdout)["value"] < 100e6
