"""Nothing that a measured process started outlives its round."""

from __future__ import annotations

import subprocess
import sys
import time

import psutil

from asv_watch.engine.parents import Parent
from asv_watch.machine.children import Child, Lines
from asv_watch.machine.memory import GIB

LEAVES_ONE = """
import subprocess, sys

sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
left = subprocess.Popen(sleep, start_new_session=True, stdout=subprocess.DEVNULL)
print(left.pid, flush=True)
"""


def test_what_a_process_leaves_behind_ends_with_it_also_if_it_ends_in_time() -> None:
    child = Child([sys.executable, "-c", LEAVES_ONE], stdout=subprocess.PIPE)
    assert child.process.stdout is not None
    answers = Lines(child.process.stdout, GIB)
    left = psutil.Process(int(answers.read(time.monotonic() + 60)))
    Parent(child, 1).leave(answers, kill=False)
    assert not left.is_running() or left.status() == psutil.STATUS_ZOMBIE
    assert child.process.returncode == 0
