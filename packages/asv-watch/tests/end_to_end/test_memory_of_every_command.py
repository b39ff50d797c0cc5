"""A case that wants 60 GB, in a container of 1 GiB: it fails alone, under every command."""

import contextlib
import os
import re
import subprocess
import sys
import textwrap
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import commit

LIMIT = 1024**3
GREEDY = """
def work():
    kept = []
    for _ in range(600):
        kept.append(b"x" * 100_000_000)
"""
SUITE = f"""
try:
    from package import work
except ImportError:  # `bench` installs no package here
{textwrap.indent(GREEDY, "    ")}

def time_all():
    work()

def time_small():
    sum(range(100_000))

time_all.number = time_small.number = 1
time_all.repeat = time_small.repeat = 2
time_all.warmup_time = time_small.warmup_time = 0
"""
MODEST = "def work():\n    pass\n"


@pytest.fixture(scope="module")
def container() -> Iterator[Path]:
    """The file of processes of a cgroup whose memory is limited."""
    root = Path("/sys/fs/cgroup")
    if (root / "memory").is_dir():  # version 1
        folder, limit = root / "memory" / f"asv-watch-{uuid.uuid4().hex}", "memory.limit_in_bytes"
    else:
        folder, limit = root / f"asv-watch-{uuid.uuid4().hex}", "memory.max"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no cgroup can be made: {error.strerror}")
    try:
        try:
            (folder / limit).write_text(str(LIMIT))
        except OSError as error:
            pytest.skip(f"the memory of a cgroup cannot be limited: {error.strerror}")
        yield folder / "cgroup.procs"
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("command", "greedy"),
    [
        (("bench",), "after"),
        (("calibrate", "--comparisons", "1"), "after"),
        (("compare", "--before", "HEAD~1"), "before"),
        (("gate", "--base", "HEAD~1", "--limit", "10min", "--cases", "time_"), "after"),
        (("nightly", "--budget", "10min"), "after"),
        (("bisect", "--cases", "time_all", "--before", "HEAD~1"), "before"),
    ],
    ids=lambda parameter: parameter if isinstance(parameter, str) else parameter[0],
)
def test_a_case_that_wants_all_memory_fails_alone(
    make_project: Callable[..., Path],
    tmp_path: Path,
    container: Path,
    command: tuple[str, ...],
    greedy: str,
) -> None:
    texts = {"before": (GREEDY, MODEST), "after": (MODEST, GREEDY)}[greedy]
    files = {"src/package.py": texts[0]}
    root = make_project(SUITE, files, measured_paths=[])
    commit(root, {"src/package.py": texts[1]}, "Change")
    machine = ("--machine", "m")
    enter = f'echo $$ > {container} && exec "$@"'
    done = subprocess.run(
        ["sh", "-c", enter, "sh", sys.executable, "-m", "asv_watch.cli", *command, *machine],
        cwd=root,
        env=os.environ | {"HOME": str(tmp_path), "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    printed = done.stdout + done.stderr
    assert done.returncode in {0, 1, 3, 4, 5}, printed
    assert "Traceback" not in printed
    reason = r"used more than [\d.]+ GiB of memory|ended by SIGKILL, perhaps because memory"
    assert re.search(reason, printed), printed
    assert "time_small" in printed or command[0] == "bisect", "it is asked for one case"
