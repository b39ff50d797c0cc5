"""Commands that other programs run: their limits, and that nothing of them stays."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from asv_watch.asv.commands import run_command
from asv_watch.errors import MachineError, WatchError
from asv_watch.machine.memory import MEMORY_LIMIT
from tests.leftovers import runs, wait_until

_WITH_A_CHILD = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open("child", "w").write(str(child.pid))
"""


def _run_with_a_child(folder: Path, code: str, timeout_s: float) -> None:
    command = [sys.executable, "-c", f"{_WITH_A_CHILD}\n{code}"]
    run_command(command, timeout_s, installs=True, cwd=folder)


def _child_ends(folder: Path) -> bool:
    """Return whether the child, which was started, ends soon: a signal takes a moment."""
    assert (folder / "child").read_text()
    return wait_until(lambda: not _child_runs(folder), 10.0)


def _child_runs(folder: Path) -> bool:
    try:
        return runs(int((folder / "child").read_text()))
    except (FileNotFoundError, ValueError):  # not yet written, or half
        return False


def test_a_command_that_takes_too_long_ends_with_all_that_it_started(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="no answer after 10 s"):
        _run_with_a_child(tmp_path, "time.sleep(60)", 10.0)
    assert _child_ends(tmp_path)


def test_a_command_that_takes_too_much_memory_is_stopped_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MEMORY_LIMIT, "0.2")
    with pytest.raises(WatchError, match=rf"more than 0.2 GiB .* {MEMORY_LIMIT}"):
        _run_with_a_child(tmp_path, "a = b'1' * (1 << 29); time.sleep(60)", 50.0)
    assert _child_ends(tmp_path)
