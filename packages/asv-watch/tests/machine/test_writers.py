"""Every command that writes results or environments refuses to start beside another run."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.cli.main import main

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
