"""What is stored stays, whatever happens to a run or to its files."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.asv_watch.asv.project import Project, suite_files
from tests.conftest import git

SUITE = """
import os, subprocess, sys, time

class Values:
    params = ["fine", "huge", "boolean", "crash", "leave", "other"]
    param_names = ["kind"]

    def track_it(self, kind):
        if kind == "crash":
            os.abort()
        if kind == "leave":
            os._exit(0)
        return {{"huge": 10**400, "boolean": True}}.get(kind, 1.5)

class Slow:
    def track_slow(self):
        time.sleep(60)
        return 1

class Leaves:
    def track_child(self):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
        open({child!r}, "w").write(str(child.pid))
        return 1

class Often:
    number, repeat, warmup_time = 1, 2000, 0

    def time_often(self):
        pass

class Hungry:
    def track_memory(self):
        held = bytearray(600 * 2**20)
        held[::4096] = bytes(len(held[::4096]))
        child = subprocess.Popen(
            [sys.executable, "-c", "held = b'1' * (600 * 2**20); import time; time.sleep(60)"]
        )
        child.wait()
        return 1

class Brittle:
    params = ["fine", "brittle"]
    number, repeat, warmup_time = 1, 4, 0

    def setup(self, kind):
        with open({rounds!r} + kind, "a+") as stream:
            print(os.getpid(), file=stream)
            stream.seek(0)
            if kind == "brittle" and len(set(stream)) == 2:
                raise RuntimeError("the second round breaks")

    def time_brittle(self, kind):
        pass

class Chatty:
    timeout = 4

    def track_chatter(self):
        while True:
            print("still here", flush=True)
            time.sleep(0.2)
"""


@pytest.fixture
def project(make_repository: Callable[..., Path], tmp_path: Path) -> Project:
    return Project(
        make_repository(
            suite_files(
                SUITE.format(child=str(tmp_path / "child"), rounds=str(tmp_path / "rounds-of-"))
            )
        ),
        tmp_path,
    )


@pytest.mark.fault(
    "hostile benchmark",
    tried="a benchmark returns a text, an infinity or a huge number, crashes or ends its process",
    holds="it is stored as failed with the reason; the other cases are measured",
)
def test_values_that_cannot_be_stored_fail_with_the_reason_and_the_run_goes_on(
    project: Project,
) -> None:
    project.asv(*project.run_arguments("--bench", "Values"), status=2)
    outcomes = {line["case"]: (line["outcome"], line["reason"]) for line in project.lines()}
    assert project.stored("result", "suite.Values.track_it") == [1.5, None, None, None, None, 1.5]
    outcome, reason = outcomes["suite.Values.track_it('huge')"]
    assert (outcome, reason.partition(" returned ")[0]) == ("failed", "the benchmark")
    assert "True, not a number" in outcomes["suite.Values.track_it('boolean')"][1]
    assert outcomes["suite.Values.track_it('crash')"][0] == "failed"
    assert "SIGABRT" in outcomes["suite.Values.track_it('crash')"][1]
    left = outcomes["suite.Values.track_it('leave')"]
    assert left[0] == "failed"
    assert "ended its process before it gave a value" in left[1]


@pytest.mark.fault(
    "memory full",
    tried="a case takes more memory than it may",
    holds="it is stopped and named; the run goes on",
)
def test_a_case_beyond_the_memory_limit_fails_and_the_run_goes_on(project: Project) -> None:
    started = time.monotonic()
    arguments = project.run_arguments("--bench", "memory", "--bench", r"track_it\('fine'")
    project.asv(*arguments, status=2, ASV_WATCH_MEMORY_LIMIT_GIB="1")
    assert time.monotonic() - started < 60
    outcomes = {line["case"]: (line["outcome"], line["reason"]) for line in project.lines()}
    outcome, reason = outcomes["suite.Hungry.track_memory"]
    assert outcome == "failed"
    assert "it used more than 1 GiB of memory and was stopped" in reason
    assert outcomes["suite.Values.track_it('fine')"] == ("ok", "")


@pytest.mark.fault(
    "damaged results",
    tried="a result file is damaged when a run begins",
    holds="it is set aside, named, and measured again",
)
def test_a_damaged_result_file_is_set_aside_and_measured_again(project: Project) -> None:
    arguments = project.run_arguments("--bench", r"track_it\('fine'")
    project.asv(*arguments)
    path = project.result_file()
    path.write_text(path.read_text()[:100])
    output = project.asv(*arguments, ASV_WATCH_RESUME="missing")
    [aside] = project.results.glob("*.damaged-*")
    assert f"{path.name} is damaged" in output
    assert f"it is now {aside.name}" in output
    assert project.stored("result", "suite.Values.track_it")[0] == 1.5


@pytest.mark.fault(
    "disk full",
    tried="a run stores a case",
    holds="what was stored before stays",
)
def test_a_full_disk_keeps_what_was_stored(project: Project) -> None:
    project.asv(*project.run_arguments("--bench", "time_often"))
    before = project.result_file().read_bytes()
    limit = 20_000
    assert len(before) > limit
    program = (
        f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
        "import asv.results, asv.main; asv.main.main()"
    )
    process = project.start(
        *project.run_arguments("--bench", r"track_it\('other'"),
        asv=("-c", program),
        PYTHONDONTWRITEBYTECODE="1",  # modules are larger than the limit
    )
    output, _ = process.communicate()
    assert process.returncode == 1
    assert re.search(r"cannot be written \(File too large\); make room", output), output
    assert project.result_file().read_bytes() == before
    project.asv(*project.run_arguments("--bench", r"track_it\('other'"))
    assert project.stored("result", "suite.Values.track_it")[5] == 1.5


def test_removing_results_removes_what_lies_beside_them(project: Project) -> None:
    project.asv(*project.run_arguments("--bench", "child"))
    project.asv("rm", "-y", f"commit_hash={git(project.folder, 'rev-parse', 'HEAD')}")
    left = {path.name for path in project.results.iterdir()}
    assert left == {"machine.json", "benchmarks.json"}


def test_the_shared_machine_file_is_neither_needed_nor_written(
    project: Project, tmp_path: Path
) -> None:
    shared = tmp_path / ".asv-machine.json"
    project.asv(*project.run_arguments("--bench", r"track_it\('fine'"))
    assert not shared.exists()
    stored = json.loads((project.results / "machine.json").read_text())
    assert stored["machine"] == "m"
    assert stored["cpu"]
    shared.write_text("{")
    project.asv(*project.run_arguments("--bench", r"track_it\('fine'"))
    assert shared.read_text() == "{", "a person's file is left alone"


@pytest.mark.fault(
    "hostile benchmark",
    tried="a benchmark leaves processes behind, or prints for ever",
    holds="they are ended; the time limit holds",
)
def test_what_a_case_leaves_is_ended_and_output_does_not_extend_its_time(
    project: Project, tmp_path: Path
) -> None:
    project.asv(*project.run_arguments("--bench", "child", "--bench", "chatter"), status=2)
    lines = {line["case"]: line for line in project.lines()}
    assert lines["suite.Leaves.track_child"]["outcome"] == "ok"
    assert lines["suite.Chatty.track_chatter"]["reason"] == "stopped after 4 s"
    child = int((tmp_path / "child").read_text())
    # Nobody may have asked for the exit status of a process without a parent.
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE


def test_a_round_that_fails_keeps_the_rounds_before_it(project: Project) -> None:
    arguments = project.run_arguments("--bench", "brittle", rounds=3)
    project.asv(*arguments, status=2)
    fine, brittle = project.stored("samples", "suite.Brittle.time_brittle")
    assert (len(fine), len(brittle)) == (12, 4)

    def of_brittle() -> list[dict[str, Any]]:
        return [line for line in project.lines() if "'brittle'" in line["case"]]

    assert [line["outcome"] for line in of_brittle()] == ["ok", "failed"]
    assert "the second round breaks" in of_brittle()[-1]["reason"]
    # A night does not repeat what failed; `make bench` continues with the second round.
    project.asv(*arguments, ASV_WATCH_RESUME="never-run")
    assert len(of_brittle()) == 2
    project.asv(*arguments, ASV_WATCH_RESUME="missing")
    samples = project.stored("samples", "suite.Brittle.time_brittle")
    assert [len(of_case) for of_case in samples] == [12, 12]
    assert samples[1][:4] == brittle
    assert [line.get("rounds_left", 0) for line in of_brittle()] == [2, 2, 1, 0]


KILLED_AFTER_SAVING = """
import os, signal
import asv.results, asv.main

save = asv.results.Results.save

def save_and_die(self, result_dir):
    save(self, result_dir)
    os.kill(os.getpid(), signal.SIGKILL)

asv.results.Results.save = save_and_die
asv.main.main()
"""


@pytest.mark.fault(
    "kill",
    tried="a run is killed between a value and its outcome",
    holds="the case is measured again",
)
def test_a_kill_between_the_first_value_and_its_outcome_measures_it_again(
    project: Project,
) -> None:
    arguments = project.run_arguments("--bench", "time_brittle..fine", rounds=2)
    process = project.start(*arguments, asv=("-c", KILLED_AFTER_SAVING))
    output, _ = process.communicate()
    assert process.returncode == -signal.SIGKILL, output
    fine, _ = project.stored("samples", "suite.Brittle.time_brittle")
    assert len(fine) == 4
    assert project.side_file("outcomes").read_bytes() == b""
    project.asv(*arguments, ASV_WATCH_RESUME="missing")
    assert len(project.stored("samples", "suite.Brittle.time_brittle")[0]) == 8
    assert [line["rounds_left"] for line in project.lines() if "rounds_left" in line] == [1]


def test_what_asv_stored_without_the_plugin_is_not_measured_again(project: Project) -> None:
    arguments = project.run_arguments("--bench", r"track_it\('fine'")
    project.asv(*arguments)
    project.side_file("outcomes").unlink()
    project.asv(*arguments, ASV_WATCH_RESUME="missing")
    assert not project.side_file("outcomes").exists()
    assert project.stored("result", "suite.Values.track_it")[0] == 1.5
