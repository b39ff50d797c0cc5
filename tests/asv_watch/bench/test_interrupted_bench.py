"""`asv-watch bench` that is ended early: what it printed as done is stored, and it continues."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from tests.asv_watch.interruptible import start_driver
from tests.asv_watch.torchless import PUBLISHED

CASES = 12
SUITE = f"""
import json, os, time

class Steps:
    params = list(range({CASES}))
    param_names = ["step"]

    def track_step(self, step):
        time.sleep(0.3)
        return step

class Meddles:
    def track_meddle(self):
        path = os.path.join(os.environ["ASV_ENV_DIR"], "asv-install-status.json")
        with open(path) as stream:
            status = json.load(stream)
        with open(path, "w") as stream:
            json.dump(status | {{"commit_hash": "f" * 40}}, stream)
        return 1
"""


class Bench:
    """A running `asv-watch bench`."""

    def __init__(self, project: Path, home: Path, pattern: str) -> None:
        self._project = project
        self.process = start_driver("bench", project, home, "--cases", pattern)

    def wait_for_cases(self, count: int) -> set[str]:
        """Wait until so many cases were printed as done; return them."""
        assert self.process.stdout is not None
        cases: set[str] = set()
        for line in self.process.stdout:
            cases |= set(re.findall(r"track_step\(\d+\)(?=  ok)", line))
            if len(cases) == count:
                break
        return cases

    def end(self, number: signal.Signals) -> None:
        """Signal the command alone; nothing of it may run five seconds later."""
        self.process.send_signal(number)
        deadline = time.monotonic() + 5
        while self._runs():
            assert time.monotonic() < deadline, f"{number.name} left something running"
            time.sleep(0.1)

    def _runs(self) -> bool:
        if self.process.poll() is None:
            return True
        for process in psutil.process_iter(["cmdline", "cwd", "status"]):
            where = " ".join([*(process.info["cmdline"] or ()), process.info["cwd"] or ""])
            if str(self._project) in where and process.info["status"] != psutil.STATUS_ZOMBIE:
                return True
        return False


def _result_file(project: Path) -> Path:
    [path] = project.glob("results/m/*-*.json")
    return path


def _stored(project: Path) -> dict[str, Any]:
    content = json.loads(_result_file(project).read_text())
    values = content["results"]["suite.Steps.track_step"][0]
    return {f"track_step({step})": value for step, value in enumerate(values)}


def test_it_ends_within_seconds_continues_and_refuses_another_commit(
    make_project: Callable[..., Path], tmp_path: Path
) -> None:
    files = {"asv.conf.json": json.dumps(PUBLISHED), ".gitignore": ".asv/\nhtml/\n"}
    project = make_project(SUITE, files)
    done: set[str] = set()
    for number in (signal.SIGINT, signal.SIGKILL, signal.SIGTERM):
        bench = Bench(project, tmp_path, "Steps")
        cases = bench.wait_for_cases(2)
        assert len(cases) == 2, bench.process.communicate()
        assert not cases & done, "measured again"
        done |= cases
        bench.end(number)
        stored = _stored(project)
        assert {case: stored[case] for case in done} == {
            case: int(re.sub(r"\D", "", case)) for case in done
        }
    bench = Bench(project, tmp_path, "Steps")
    rest, errors = bench.process.communicate()
    assert bench.process.returncode == 0, rest + errors
    assert _stored(project) == {f"track_step({step})": step for step in range(CASES)}

    second = Bench(project, tmp_path, "Meddles")
    _, errors = second.process.communicate()
    assert second.process.returncode == 1
    assert f"holds commit {'f' * 40}" in errors
    assert "Meddles" not in _result_file(project).read_text()
    assert subprocess.run(
        ["git", "status", "--porcelain"], cwd=project, check=True, capture_output=True, text=True
    ).stdout.splitlines() == ["?? results/"]
