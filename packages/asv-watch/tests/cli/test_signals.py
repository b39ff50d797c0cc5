"""SIGTERM and SIGHUP end every command as Ctrl-C does: with a line, and a status of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, git

SLOW = """
import sys, time
from unittest.mock import patch
from asv_watch.cli import main

def wait(*_):
    print("begun", flush=True)
    time.sleep(60)

with patch("asv_watch.asv.settings.load_settings", wait):
    sys.exit(main.main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["report"], "SIGINT"),
        (["results", "check"], "SIGTERM"),
        (["results", "check"], "SIGHUP"),
    ],
)
def test_a_command_that_a_signal_ends_says_so(
    command: list[str], name: str, tmp_path: Path
) -> None:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "Begin")
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, *command],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    number = signal.Signals[name]
    process.send_signal(number)
    _, errors = process.communicate()
    how = "interrupted" if name == "SIGINT" else f"ended by {name}"
    assert errors == f"asv-watch: {how}\n"
    assert process.returncode == 128 + number
