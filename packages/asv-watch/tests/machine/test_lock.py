"""One run at a time in a checkout; nothing of it is left, whichever way it ends."""

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from asv_watch.cli.main import main
from asv_watch.machine.lock import exclusive_run
from tests.leftovers import DETACHES, runs, wait_until

HOLDER = """
import subprocess, sys, tempfile, time
from pathlib import Path
from asv_watch.machine.children import Child
from asv_watch.machine.lock import exclusive_run

sleep = [sys.executable, "-c", "import time; time.sleep(120)"]
with exclusive_run(Path(sys.argv[1]), "nightly"):
    own = subprocess.Popen(sleep)
    with Child([*sleep[:2], sys.argv[2] + sleep[2]], stdout=subprocess.PIPE) as child:
        detached = int(child.process.stdout.readline())
        print(tempfile.mkdtemp(), own.pid, child.process.pid, detached, flush=True)
        time.sleep(120)
"""


class Holder:
    """A process that holds a checkout and has started others, one of which is hard to find."""

    def __init__(self, environments: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(environments), DETACHES],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        folder, *children = self.process.stdout.readline().split()
        self.folder = Path(folder)
        self.children = [int(child) for child in children]

    def has_gone(self) -> bool:
        return not self.folder.parent.exists() and not any(map(runs, self.children))


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
def test_nothing_is_left_soon_after_a_signal(tmp_path: Path, name: str) -> None:
    holder = Holder(tmp_path)
    holder.process.send_signal(signal.Signals[name])
    assert wait_until(holder.has_gone)
    holder.process.wait(timeout=30)
    with exclusive_run(tmp_path, "bench"):
        pass


def test_what_a_run_left_without_its_guard_is_cleaned_up_by_the_next(tmp_path: Path) -> None:
    holder = Holder(tmp_path)
    for process in psutil.Process(holder.process.pid).children():
        if process.pid not in holder.children:
            process.kill()  # the guard
    holder.process.kill()
    holder.process.wait()
    time.sleep(0.5)
    assert all(map(runs, holder.children)), "this test is about what is left"
    with exclusive_run(tmp_path, "bench"):
        assert holder.has_gone()


def test_processes_of_others_are_left_alone(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    holder = Holder(other)
    try:
        for _ in range(2):
            with exclusive_run(mine, "bench"):
                pass
        assert all(map(runs, holder.children))
        assert holder.folder.exists()
    finally:
        holder.process.kill()
        holder.process.wait()


def test_after_an_interrupt_everything_is_as_before(tmp_path: Path) -> None:
    before = tempfile.gettempdir(), dict(os.environ)
    with pytest.raises(KeyboardInterrupt), exclusive_run(tmp_path, "bench"):
        raise KeyboardInterrupt
    assert before == (tempfile.gettempdir(), dict(os.environ))


SUITE = "def time_it():\n    pass\n"


@pytest.mark.parametrize(
    "command",
    [
        "bench",
        "nightly",
        "compare",
        "gate",
        "bisect --cases time_it --before HEAD",
        "explain --cases time_it --before HEAD",
        "calibrate",
        "releases measure",
    ],
)
def test_a_writer_does_not_start_beside_another(
    make_project: Callable[..., Path],
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = make_project(SUITE)
    monkeypatch.chdir(folder)
    (folder / "results/m").mkdir(parents=True)
    (folder / "results/m/machine.json").write_text("{}")
    lock = folder / ".asv/env/run.lock"
    with lock.open("w") as held:
        held.write('{"job": "nightly", "pid": 1, "host": "desk", "started": "2026-11-24 02:17"}')
        held.flush()
        fcntl.flock(held, fcntl.LOCK_EX)
        before = {path for path in folder.rglob("*") if ".git" not in path.parts}
        assert main(command.split()) == 1
        printed = capsys.readouterr().err
        assert "`nightly` (process 1 on desk" in printed, printed
        assert printed.count("\n") == 1
        assert {path for path in folder.rglob("*") if ".git" not in path.parts} == before
