"""One run at a time; nothing is left of it and its child processes, whose memory is limited."""

import contextlib
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import psutil
import pytest

from asv_watch.cli.main import main
from asv_watch.errors import WatchError
from asv_watch.machine import children
from asv_watch.machine.lock import exclusive_run
from tests.leftovers import DETACHES, runs, wait_until

STARTS_TWO = f"""
import subprocess, sys, time
print(subprocess.Popen(["sleep", "60"]).pid, flush=True)
{DETACHES}
time.sleep(float(sys.argv[1]))
"""


@contextlib.contextmanager
def _started(seconds: int) -> Iterator[tuple[children.Child, list[int]]]:
    """A child, which runs for seconds, and the processes that it started in two sessions."""
    command = [sys.executable, "-c", STARTS_TWO, str(seconds)]
    with children.Child(command, stdout=subprocess.PIPE) as child:
        assert child.process.stdout is not None
        started = [int(child.process.stdout.readline()) for _ in range(2)]
        assert all(map(runs, started))
        yield child, started


@pytest.mark.parametrize("seconds", [0, 60])
def test_a_child_ends_with_all_that_it_started_also_in_other_sessions(seconds: int) -> None:
    with _started(seconds) as (child, started):
        child.end(0.2 if seconds else 30.0)
    assert not any(map(runs, started))


def test_what_an_interrupted_kill_leaves_is_ended_later(monkeypatch: pytest.MonkeyPatch) -> None:
    with _started(60) as (child, started), monkeypatch.context() as patched:
        patched.setattr(child.process, "wait", mock.Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            child.kill()
    assert not any(map(runs, started))


V1 = "memory.limit_in_bytes"


@pytest.mark.parametrize(
    ("own", "files", "gib"),
    [
        ("0::/", {"memory.max": "536870912"}, 0.5),
        ("0::/a/b", {"a/memory.max": "268435456", "a/b/memory.max": "max"}, 0.25),
        ("4:memory:/docker/x", {f"memory/{V1}": "536870912"}, 0.5),
        (
            "5:cpu:/x\n4:cpuset,memory:/x",
            {f"memory/{V1}": "9223372036854771712", f"memory/x/{V1}": "134217728"},
            0.125,
        ),
    ],
)
def test_the_limit_of_a_container_is_read_from_both_versions_of_cgroups(
    tmp_path: Path, own: str, files: dict[str, str], gib: float
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    (tmp_path / "own").write_text(f"{own}\n")
    assert children.available_memory(tmp_path, tmp_path / "own") == gib * children.GIB


def test_sides_share_the_memory_unless_a_person_sets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    no_container = children.available_memory(Path("/nowhere"), Path("/nowhere"))
    assert no_container == psutil.virtual_memory().total
    monkeypatch.delenv(children.MEMORY_LIMIT, raising=False)
    assert children.memory_limit(2) == pytest.approx(children.memory_limit() / 2)
    monkeypatch.setenv(children.MEMORY_LIMIT, "1.5")
    assert children.memory_limit(2) == 1.5 * children.GIB
    monkeypatch.setenv(children.MEMORY_LIMIT, "lots")
    with pytest.raises(WatchError, match="is 'lots'; give a number of GiB above 0"):
        children.memory_limit()


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
        command = [sys.executable, "-c", HOLDER, str(environments), DETACHES]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, start_new_session=True
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


def test_processes_of_others_are_left_alone(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    holder = Holder(other)
    try:
        with exclusive_run(mine, "bench"):
            pass
        assert all(map(runs, holder.children))
        assert holder.folder.exists()
    finally:
        holder.process.kill()
        holder.process.wait()


@pytest.mark.parametrize(
    "command",
    [
        *("bench", "nightly", "compare", "gate", "calibrate", "releases measure"),
        *(f"{name} --cases time_it --before HEAD" for name in ("bisect", "explain")),
    ],
)
def test_a_writer_does_not_start_beside_another(
    make_project: Callable[..., Path],
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = make_project("def time_it():\n    pass\n")
    monkeypatch.chdir(folder)
    (folder / "results/m").mkdir(parents=True)
    (folder / "results/m/machine.json").write_text("{}")
    with exclusive_run(folder / ".asv/env", "nightly"):
        before = {path for path in folder.rglob("*") if ".git" not in path.parts}
        assert main(command.split()) == 1
        printed = capsys.readouterr().err
        assert f"`nightly` (process {os.getpid()} on {platform.node()}, started 20" in printed
        assert printed.count("\n") == 1
        assert {path for path in folder.rglob("*") if ".git" not in path.parts} == before
