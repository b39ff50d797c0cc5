"""Cores are shared by the runs of one machine, and a busy machine is said to be one."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
import pytest
import torch

from torchspeed.cli.main import main
from torchspeed.training import cores
from torchspeed.training.cores import announce_run, load_warning, runs_here, shared_threads

RUN = """
from torchspeed.training import cores
cores._NAME = {name!r}
cores.announce_run()
print(flush=True)
input()
"""


@pytest.fixture
def name(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A name that runs of this test alone have: others on this machine train too."""
    name = f"torchspeed-test-{uuid4()}-"
    monkeypatch.setattr(cores, "_NAME", name)
    announce_run.cache_clear()
    yield name
    announce_run.cache_clear()


def start_run(name: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", RUN.format(name=name)]
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "\n"
    return process


def test_runs_beside_each_other_share_the_cores_until_they_end_or_are_killed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(cores, "cores", lambda: 24)
    announce_run()
    assert runs_here() == 1
    with start_run(name) as ends, start_run(name) as killed:
        assert runs_here() == 3
        assert shared_threads() == 8
        assert shared_threads(ranks=4) == 2
        assert shared_threads(ranks=100) == 1
        killed.kill()
        killed.wait()
        ends.communicate("\n")
    assert runs_here() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert shared_threads() is None


@pytest.mark.parametrize(
    ("busy", "threads", "ranks", "advice"),
    [
        (0.0, 8, 1, None),
        (50.0, 8, 1, "4.0 of 8 cores, and 8 threads .* consider --threads 4"),
        (50.0, 2, 4, "consider --threads 1"),
        (100.0, 2, 1, "8.0 of 8 cores, .* consider --threads 1"),
        (100.0, 1, 1, None),
        (50.0, 4, 1, None),
    ],
)
def test_a_busy_machine_is_a_warning_with_a_number_of_threads(
    busy: float, threads: int, ranks: int, advice: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cores, "cores", lambda: 8)
    monkeypatch.setattr(psutil, "cpu_percent", lambda interval: busy)
    warning = load_warning(threads, ranks)
    if advice is None:
        assert warning is None
    else:
        assert warning is not None
        assert re.search(advice, warning)


def test_a_run_takes_the_threads_that_it_is_given_and_says_how_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(psutil, "cpu_percent", lambda interval: 100.0)
    before = torch.get_num_threads()
    file = tmp_path / "result.json"
    options = ["-e", "1", "--limit-batches", "2", "--json", str(file)]
    try:
        assert main(["train", *options, "--threads", "3"]) == 0
    finally:
        torch.set_num_threads(before)
    result: Any = json.loads(file.read_text())
    assert (result["threads"], result["config"]["threads"]) == (3, 3)
    shown = capsys.readouterr()
    assert "; 3 threads; " in shown.out
    assert "warning: other processes use" in shown.err
