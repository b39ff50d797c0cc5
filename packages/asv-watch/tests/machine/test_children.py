"""Child processes: nothing of them is left, and what they write and take is limited."""

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from asv_watch.errors import WatchError
from asv_watch.machine.children import (
    GIB,
    MEMORY_LIMIT,
    Child,
    Lines,
    available_memory,
    memory_limit,
)
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


@pytest.mark.parametrize(
    ("own", "files", "gib"),
    [
        ("0::/", {"memory.max": f"{GIB // 2}\n"}, 0.5),
        ("0::/a/b", {"a/memory.max": f"{GIB // 4}\n", "a/b/memory.max": "max\n"}, 0.25),
        ("4:memory:/docker/x", {"memory/memory.limit_in_bytes": f"{GIB // 2}\n"}, 0.5),
        (
            "5:cpu:/x\n4:cpuset,memory:/x",
            {
                "memory/memory.limit_in_bytes": "9223372036854771712\n",
                "memory/x/memory.limit_in_bytes": f"{GIB // 8}\n",
            },
            0.125,
        ),
    ],
)
def test_the_limit_of_a_container_is_read_from_both_versions_of_cgroups(
    tmp_path: Path, own: str, files: dict[str, str], gib: float
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "own").write_text(f"{own}\n")
    assert available_memory(tmp_path, tmp_path / "own") == gib * GIB


def test_without_a_container_it_is_the_memory_of_the_machine(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert available_memory(tmp_path, missing) == psutil.virtual_memory().total


def test_sides_share_the_memory_and_a_person_gives_it_to_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(MEMORY_LIMIT, raising=False)
    assert memory_limit(2) == pytest.approx(memory_limit() / 2)
    monkeypatch.setenv(MEMORY_LIMIT, "1.5")
    assert memory_limit(2) == 1.5 * GIB
    monkeypatch.setenv(MEMORY_LIMIT, "lots")
    with pytest.raises(WatchError, match="is 'lots'; give a number of GiB above 0"):
        memory_limit()
