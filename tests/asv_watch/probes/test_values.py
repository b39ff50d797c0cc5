"""The script that measures peak memory and exact counts in a release's environment."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from asv_watch import probes

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
    script = [sys.executable, "-P", str(probes.VALUES), str(suites)]
    cases = ["suite.track_silent", "suite.track_loud"]
    done = subprocess.run([*script, *cases], capture_output=True, text=True, check=True)
    silent, loud = (json.loads(line)["failed"] for line in done.stdout.splitlines())
    assert silent == "AssertionError: assert size < 1 in allocate of suites/suite.py, line 4"
    assert loud == "RuntimeError: no kernel"
