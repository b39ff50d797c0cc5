"""A benchmark that ends its own process, or whose process is ended."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.asv_watch.asv.project import Project, suite_files

SUITE = """
import os
import signal

def time_leave():
    os._exit(0)

def time_exit():
    raise SystemExit

def track_kill():
    os.kill(os.getpid(), signal.SIGKILL)

def track_disk():
    open("/dev/full", "w").write("x" * 99999)

def track_sound():
    return 1
"""


@pytest.mark.fault(
    "hostile benchmark",
    tried="a benchmark ends its process, or the kernel does, as when memory runs out",
    holds="its reason says so; the other cases are measured",
)
def test_a_benchmark_that_ends_its_process_is_named(
    make_repository: Callable[..., Path], tmp_path: Path
) -> None:
    project = Project(make_repository(suite_files(SUITE)), tmp_path)
    project.asv(*project.run_arguments("--bench", "leave|exit|kill|sound"), status=2)
    reasons = {line["case"]: line.get("reason", "") for line in project.lines()}
    for name in ("time_leave", "time_exit"):
        assert "ended its process before it gave a value" in reasons[f"suite.{name}"]
    assert reasons["suite.track_kill"].endswith("SIGKILL, perhaps because memory ran out")
    assert reasons["suite.track_sound"] == ""
    output = project.asv(*project.run_arguments("--bench", "disk"), status=1)
    assert "No space left on device; make room on the disk, and run the same again" in output
    assert len(project.lines()) == len(reasons), "the machine is to blame, not the case"
