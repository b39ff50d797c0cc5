"""Child processes: nothing of them is left, and what they write and take is limited."""

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from asv_watch.errors import WatchError
from asv_watch.machine import children
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


@contextlib.contextmanager
def _three_started(folder: Path, how: str) -> Iterator[tuple[children.Child, list[int]]]:
    command = [sys.executable, "-c", STARTS_THREE, how]
    with children.Child(command, cwd=folder, stderr=subprocess.DEVNULL) as child:
        assert wait_until((folder / "started").exists)
        yield child, [int(pid) for pid in (folder / "started").read_text().split()]


@pytest.mark.parametrize("how", ["stays", "ends before what it started"])
def test_a_child_ends_with_all_that_it_started_also_in_other_sessions(
    tmp_path: Path, how: str
) -> None:
    with _three_started(tmp_path, how) as (child, started):
        child.end(0.2 if how == "stays" else 30.0)
        # The inner child ended what has a session of its own when it was over.
        assert sum(map(runs, started)) == (0 if how == "stays" else 1)
    assert not any(map(runs, started))


def test_what_an_interrupted_kill_leaves_is_ended_after_the_body(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with _three_started(tmp_path, "stays") as (child, started), monkeypatch.context() as patched:
        patched.setattr(child.process, "wait", interrupt)
        with pytest.raises(KeyboardInterrupt):
            child.kill()
    assert not any(map(runs, started))


def _lines(child: children.Child) -> children.Lines:
    assert child.process.stdout is not None
    return children.Lines(child.process.stdout, 0.2 * children.GIB, child.process.pid)


def test_a_line_is_waited_for_until_the_deadline_and_the_end_is_none() -> None:
    code = "print('\\none', flush=True); input(); print('two\\nhalf', end='')"
    command = [sys.executable, "-c", code]
    with children.Child(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.process.stdin is not None
        lines, deadline = _lines(child), time.monotonic() + 30
        assert [lines.read(deadline), lines.read(deadline)] == [b"\n", b"one\n"]
        with pytest.raises(TimeoutError):
            lines.read(time.monotonic() + 0.1)
        child.process.stdin.write(b"\n")
        child.process.stdin.flush()
        assert [lines.read(deadline), lines.read(deadline)] == [b"two\n", b""]


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


def test_without_a_container_it_is_the_memory_of_the_machine(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert children.available_memory(tmp_path, missing) == psutil.virtual_memory().total


def test_sides_share_the_memory_and_a_person_gives_it_to_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(children.MEMORY_LIMIT, raising=False)
    assert children.memory_limit(2) == pytest.approx(children.memory_limit() / 2)
    monkeypatch.setenv(children.MEMORY_LIMIT, "1.5")
    assert children.memory_limit(2) == 1.5 * children.GIB
    monkeypatch.setenv(children.MEMORY_LIMIT, "lots")
    with pytest.raises(WatchError, match="is 'lots'; give a number of GiB above 0"):
        children.memory_limit()
