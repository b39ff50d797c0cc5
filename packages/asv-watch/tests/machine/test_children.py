"""Child processes: nothing of them is left, and what they write is read within limits."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from asv_watch.machine.children import Child, Lines
from asv_watch.machine.memory import GIB
from tests.leftovers import runs, wait_until

SLEEP = "import time; time.sleep(60)"
STARTS_THREE = f"""
import subprocess, sys
from pathlib import Path
from asv_watch.machine.children import Child

sleep = [sys.executable, "-c", {SLEEP!r}]
started = [subprocess.Popen(sleep), subprocess.Popen(sleep, start_new_session=True)]
with Child(sleep) as child:
    started.append(child.process)
    Path("started.new").write_text(" ".join(str(process.pid) for process in started))
    Path("started.new").rename("started")
    child.process.wait(60 if sys.argv[1] == "stays" else 0.5)
"""


@pytest.mark.parametrize("how", ["stays", "ends before what it started"])
def test_a_child_ends_with_all_that_it_started_also_in_other_sessions(
    tmp_path: Path, how: str
) -> None:
    with Child(
        [sys.executable, "-c", STARTS_THREE, how], cwd=tmp_path, stderr=subprocess.DEVNULL
    ) as child:
        assert wait_until((tmp_path / "started").exists)
        started = [int(pid) for pid in (tmp_path / "started").read_text().split()]
        child.end(0.2 if how == "stays" else 30.0)
        # The inner child ended what has a session of its own when it was over.
        assert sum(map(runs, started)) == (0 if how == "stays" else 1)
    assert not any(map(runs, started))


def test_what_an_interrupted_kill_leaves_is_ended_after_the_body(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with Child(
        [sys.executable, "-c", STARTS_THREE, "stays"], cwd=tmp_path, stderr=subprocess.DEVNULL
    ) as child:
        assert wait_until((tmp_path / "started").exists)
        started = [int(pid) for pid in (tmp_path / "started").read_text().split()]
        with monkeypatch.context() as patched:
            patched.setattr(child.process, "wait", interrupt)
            with pytest.raises(KeyboardInterrupt):
                child.kill()
    assert not any(map(runs, started))


def _lines(child: Child) -> Lines:
    assert child.process.stdout is not None
    return Lines(child.process.stdout, 0.2 * GIB, child.process.pid)


def test_a_line_is_waited_for_until_the_deadline_and_the_end_is_none() -> None:
    code = "print('\\none', flush=True); input(); print('two\\nhalf', end='')"
    command = [sys.executable, "-c", code]
    with Child(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.process.stdin is not None
        lines, deadline = _lines(child), time.monotonic() + 30
        assert [lines.read(deadline), lines.read(deadline)] == [b"\n", b"one\n"]
        with pytest.raises(TimeoutError):
            lines.read(time.monotonic() + 0.1)
        child.process.stdin.write(b"\n")
        child.process.stdin.flush()
        assert [lines.read(deadline), lines.read(deadline)] == [b"two\n", b""]
