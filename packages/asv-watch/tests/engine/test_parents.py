"""Nothing that a measured process started outlives its round."""

import io
import subprocess
import sys
import time

from asv_watch.engine.processes import Connection, Parent
from asv_watch.machine.children import GIB, Child, Lines
from tests.leftovers import DETACHES, runs


def test_what_a_process_leaves_behind_ends_with_it_also_if_it_ends_in_time() -> None:
    child = Child([sys.executable, "-c", DETACHES], stdout=subprocess.PIPE)
    assert child.process.stdout is not None
    answers = Lines(child.process.stdout, GIB)
    left = int(answers.read(time.monotonic() + 60))
    assert runs(left)
    parent = Parent(child, 1)
    parent.leave(Connection(parent, io.BytesIO(), answers), kill=False)
    assert not runs(left)
    assert child.process.returncode == 0
