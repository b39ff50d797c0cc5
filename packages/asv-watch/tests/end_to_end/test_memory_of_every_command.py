"""A case that wants 60 GB, in a container of 1 GiB: it fails alone, under every command."""

import contextlib
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import commit, run

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
    root, limit = Path("/sys/fs/cgroup"), "memory.max"
    if (root / "memory").is_dir():  # version 1
        root, limit = root / "memory", "memory.limit_in_bytes"
    folder = root / f"asv-watch-{os.getpid()}"
    try:
        folder.mkdir()
        (folder / limit).write_text(str(1024**3))
        yield folder / "cgroup.procs"
    except OSError as error:
        pytest.skip(f"no cgroup can be made, or its memory not limited: {error.strerror}")
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "command",
    [
        "bench",
        "calibrate --comparisons 1",
        "compare --before HEAD~1",
        "gate --base HEAD~1 --limit 10min --cases time_",
        "nightly --budget 10min",
        "bisect --cases time_all --before HEAD~1",
    ],
    ids=lambda command: command.partition(" ")[0],
)
def test_a_case_that_wants_all_memory_fails_alone(
    make_project: Callable[..., Path], tmp_path: Path, container: Path, command: str
) -> None:
    is_greedy_before = command.startswith(("compare", "bisect"))
    texts = (GREEDY, MODEST) if is_greedy_before else (MODEST, GREEDY)
    root = make_project(SUITE, {"src/package.py": texts[0]}, measured_paths=[])
    commit(root, {"src/package.py": texts[1]}, "Change")
    enter = "sh", "-c", f'echo $$ > {container} && exec "$@"', "sh"
    watch = sys.executable, "-m", "asv_watch.cli", *command.split(), "--machine", "m"
    environment = os.environ | {"HOME": str(tmp_path), "CUDA_VISIBLE_DEVICES": ""}
    done = run(*enter, *watch, cwd=root, env=environment, status=None, timeout=600)
    printed = done.stdout + done.stderr
    assert done.returncode in {0, 1, 3, 4, 5}, printed
    assert "Traceback" not in printed
    reason = r"used more than [\d.]+ GiB of memory|ended by SIGKILL, perhaps because memory"
    assert re.search(reason, printed), printed
    assert "time_small" in printed or "bisect" in command, "it is asked for one case"
