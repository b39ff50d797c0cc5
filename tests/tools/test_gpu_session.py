"""A session on a GPU machine, rehearsed on a CPU: prepared, measured by the clock, and stored."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from asv_watch.records.measurements import read_comparisons
from asv_watch.records.records import Outcome
from asv_watch.records.result_files import read_result_file
from asv_watch.records.side_files import read_outcomes, read_records
from tests.conftest import run
from tools.gpu import plan
from tools.gpu.prepare import ROOT, Prepared, prepare
from tools.gpu.session import kill_when_late
from tools.gpu.store import Lines, Store

TIMED = "time_series.TimeSeries.time_forward('lstnet', 'cpu')"
ABSENT = "plain_graphs.PlainGraphs.time_forward('lstnet', 'cuda', 'cudagraph')"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Prepared]:
    folder = tmp_path_factory.mktemp("gpu") / "prepared"
    return folder, prepare(ROOT, folder, ["HEAD~1"])


def test_every_step_has_cases_and_no_case_of_the_cpu_is_among_those_of_a_device(
    prepared: tuple[Path, Prepared],
) -> None:
    cases = prepared[1].cases
    for step in (*plan.FIRST, *plan.SECOND):
        chosen = step.chosen(cases)
        assert bool(chosen) != bool(step.command) or step.name == "today", step.name
        if step.name not in {"host", "batches"}:
            assert all("'cuda" in case.name for case in chosen), step.name


def test_a_rehearsal_is_stored_as_a_run_and_a_comparison(
    prepared: tuple[Path, Prepared], tmp_path: Path
) -> None:
    folder, content = prepared
    out = tmp_path / "out"
    arguments = ["rehearsal", "--prepared", str(folder), "--out", str(out), "--budget", "150"]
    run(sys.executable, "-m", "tools.gpu.session", *arguments, cwd=folder / "project")
    with (out / "gpu.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"kind": "measured", "case": "cut by a ki')
    lines = Lines([out / "gpu.jsonl"])
    assert {line["step"] for line in lines.of_kind("step")} == {
        "machine",
        "pair",
        "parallel",
        "spread",
    }
    assert lines.of_kind("spread")[0]["forward"]["singles_s"]

    Store(tmp_path / "results", content, "h0", lines).store()
    stored = tmp_path / "results" / "h0"
    [comparison], problems = read_comparisons(tmp_path / "results")
    assert not problems
    assert [ratio.case for ratio in comparison.ratios] == [TIMED]
    for commit in content.commits:
        [path] = stored.glob(f"{commit[:8]}-*.json")
        assert read_result_file(path).commit_hash == commit
        reports, damaged = read_outcomes(path.with_suffix(".outcomes.jsonl"))
        assert not damaged
        assert (reports[TIMED].outcome, reports[TIMED].rounds) == (Outcome.OK, 2)
        assert read_records(path.with_suffix(".environment.jsonl"))[0][0].environment[
            "package torch"
        ]
    if "no CUDA" in reports[ABSENT].reason:
        assert reports[ABSENT].outcome is Outcome.SKIPPED
    assert read_records(path.with_suffix(".environment.jsonl"))[0][0].environment["package torch"]


def test_a_step_that_is_late_ends_with_all_that_it_started() -> None:
    hang = "import subprocess, sys, time; subprocess.run(['sleep', '60'])"
    process = subprocess.Popen([sys.executable, "-c", hang], start_new_session=True)
    while not (children := psutil.Process(process.pid).children()):
        time.sleep(0.01)
    assert kill_when_late(process, time.monotonic() + 0.1)
    assert process.poll() is not None
    assert not any(child.is_running() and child.status() != "zombie" for child in children)
