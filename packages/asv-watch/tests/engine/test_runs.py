"""`make bench` to the end: what is stored of one version, whatever happens to the run."""

import itertools
import json
import os
import random
import re
import signal
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from asv_watch.comparison import Comparison
from asv_watch.records.loading import load_history
from asv_watch.records.store import newest_of_runs, read_record
from asv_watch.versions.git import read_commits
from tests.conftest import commit, git, run
from tests.interruptible import run_driver, start_driver
from tests.leftovers import measured_processes, wait_until_none_is_left

SUITE = """
import os, subprocess, sys, time

class Values:
    params = ["fine", "huge", "large", "boolean", "text", "crash", "leave", "other"]
    param_names = ["kind"]

    def track_it(self, kind):
        if kind == "crash":
            os.abort()
        if kind == "leave":
            os._exit(0)
        return {"huge": 10**400, "large": 1e300, "boolean": True, "text": "1.5"}.get(kind, 1.5)

class Slow:
    timeout = 2

    def track_slow(self):
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)  # measure.py"])
        time.sleep(60)
        return 1

class Chatty:
    def track_chatter(self):
        while True:
            print("still here", flush=True)
            time.sleep(0.2)

class Timed:
    params = (["fine", "absent", "brittle"], ["cpu", "cuda"])
    param_names = ["kind", "device"]
    timer = time.process_time
    sample_time, warmup_time, rounds = 0.002, 0, 2

    def setup_cache(self):
        with open("made", "a") as notes:
            notes.write("x")
        return 7

    def setup(self, cache, kind, device):
        assert cache == 7
        if kind == "absent":
            raise NotImplementedError("nobody has it")
        if kind == "brittle":
            raise RuntimeError("out of cheese")

    def time_it(self, cache, kind, device):
        sum(range(2000))

def peakmem_it():
    return bytearray(10_000_000)
"""
TIMED = "suite.Timed.time_it('fine', 'cpu')"


@pytest.fixture
def project(make_project: Callable[..., Path]) -> Path:
    return make_project(SUITE, gpu_cases="'cuda", default_benchmark_timeout=4)


def _result_file(project: Path) -> Path:
    [path] = (project / "results" / "m").glob("*-*.json")
    return path


def _record(project: Path) -> Path:
    [path] = (project / "results" / "m").glob("2*.jsonl")
    return path


def _cases(project: Path) -> dict[str, Comparison]:
    comparisons, problems = read_record(project / "results")
    assert problems == []
    [cases] = newest_of_runs(comparisons).values()
    return cases


def _stored(project: Path, benchmark: str, column: str) -> Any:
    content = json.loads(_result_file(project).read_text())
    row = dict(zip(content["result_columns"], content["results"][benchmark], strict=False))
    return row.get(column)


def test_every_case_is_stored_with_its_outcome_and_what_failed_is_tried_again(
    project: Path, tmp_path: Path
) -> None:
    output, errors = run_driver("bench", project, tmp_path, status=3)
    cases = _cases(project)
    outcomes = {name: case.outcome(0) for name, case in cases.items()}
    failing = "huge", "large", "boolean", "text", "crash", "leave"
    assert {name.partition(".")[2]: outcome.value for name, (outcome, _) in outcomes.items()} == {
        "Values.track_it('fine')": "ok",
        **{f"Values.track_it('{kind}')": "failed" for kind in failing},
        "Values.track_it('other')": "ok",
        "Slow.track_slow": "timed out",
        "Chatty.track_chatter": "timed out",
        "Timed.time_it('fine', 'cpu')": "ok",
        "Timed.time_it('absent', 'cpu')": "skipped",
        "Timed.time_it('brittle', 'cpu')": "failed",
        **{
            f"Timed.time_it('{kind}', 'cuda')": "skipped" for kind in ("fine", "absent", "brittle")
        },
        "peakmem_it": "ok",
    }
    assert len(cases[TIMED].rounds) == 2
    for case, reason in {
        "Timed.time_it('fine', 'cuda')": "no GPU",
        "Timed.time_it('absent', 'cpu')": "nobody has it",
        "Timed.time_it('brittle', 'cpu')": "RuntimeError: out of cheese",
        "Values.track_it('crash')": "SIGABRT",
        "Values.track_it('leave')": "ended before it gave a value",
        "Slow.track_slow": "did not answer in 2 s",
    }.items():
        assert reason in outcomes[f"suite.{case}"][1]
    value, *_ = _stored(project, "suite.Timed.time_it", "result")
    rounds, *_ = _stored(project, "suite.Timed.time_it", "samples")
    assert value == statistics.median(rounds)
    history = load_history(project / "results", read_commits(project))
    [series] = [entry for entry in history.series if entry.case.name == TIMED]
    assert [run.value for run in series.runs.values()] == [value]
    assert cases[TIMED].rounds == tuple((number,) for number in rounds)
    first, *_, last = map(json.loads, _record(project).read_text().splitlines())
    sitting = first["sitting"]
    [version] = sitting["versions"]
    assert (sitting["kind"], version["commit"]) == ("run", git(project, "rev-parse", "HEAD"))
    assert sitting["conditions"]["facts"]["interpreter"]
    assert "load_1_5_15_min" in sitting["conditions"]["before"]
    assert "load_1_5_15_min" in last["end"]["after"]
    [peak] = _stored(project, "suite.peakmem_it", "result")
    assert 10e6 < peak < 100e6
    assert not measured_processes(project)
    assert "4 ok" in output
    assert "suite.Slow.track_slow timed out" in errors

    before = _result_file(project).read_bytes()
    again, _ = run_driver("bench", project, tmp_path, "--cases", "fine|other", status=0)
    assert "nothing was missing" in again
    assert _result_file(project).read_bytes() == before, "what is stored is not measured again"
    retried, _ = run_driver("bench", project, tmp_path, "--cases", "track_it.*text", status=3)
    assert "1 failed" in retried


def test_a_damaged_result_file_is_set_aside_and_written_again_from_the_record(
    project: Path, tmp_path: Path
) -> None:
    run_driver("bench", project, tmp_path, "--cases", "fine|peakmem")
    path, record = _result_file(project), _record(project).read_bytes()
    columns = "result", "samples"
    benchmarks = "suite.Values.track_it", "suite.Timed.time_it", "suite.peakmem_it"
    before = [_stored(project, *cell) for cell in itertools.product(benchmarks, columns)]
    path.write_bytes(path.read_bytes()[:-40])
    output, _ = run_driver("bench", project, tmp_path, "--cases", r"track_it\('fine'")
    assert re.search(r"is damaged; it is now \S+\.damaged-\d{8}T\d{6}, and written again", output)
    assert "nothing was missing" in output
    assert [_stored(project, *cell) for cell in itertools.product(benchmarks, columns)] == before
    assert _record(project).read_bytes() == record


def test_what_cannot_be_stored_ends_the_run(project: Path, tmp_path: Path) -> None:
    run_driver("bench", project, tmp_path, "--cases", r"track_it\('fine'")
    before = _record(project).read_bytes()
    limit = max(len(before), _result_file(project).stat().st_size)
    program = (
        f"import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
        "from asv_watch.cli.main import main; sys.exit(main())"
    )
    command = sys.executable, "-c", program, "bench", "--machine", "m", "--cases", "track_it"
    quiet = {"HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}  # modules are larger
    done = run(*command, cwd=project, env=os.environ | quiet, status=None)
    assert done.returncode not in (0, 3)
    assert "File too large" in done.stderr
    assert _record(project).read_bytes().startswith(before)
    assert _cases(project)


def test_a_case_that_only_the_record_has_is_stored_in_the_file_of_asv(
    project: Path, tmp_path: Path
) -> None:
    run_driver("bench", project, tmp_path, "--cases", r"track_it\('fine'")
    before = _result_file(project).read_bytes()
    run_driver("bench", project, tmp_path, "--cases", "fine")
    measured = _stored(project, "suite.Timed.time_it", "samples")
    record = _record(project).read_bytes()
    _result_file(project).write_bytes(before)
    output, _ = run_driver("bench", project, tmp_path, "--cases", "fine")
    assert "nothing was missing" in output
    assert _stored(project, "suite.Timed.time_it", "samples") == measured
    assert _record(project).read_bytes() == record
    earlier, version, newest = record.rpartition(b'"benchmark_version":"')
    _record(project).write_bytes(earlier + version + b"other " + newest)
    _result_file(project).write_bytes(before)
    output, _ = run_driver("bench", project, tmp_path, "--cases", "fine")
    assert "1 ok" in output, "a record of other code of the benchmark does not count"
    assert _stored(project, "suite.Timed.time_it", "samples") != measured


def test_what_asv_run_has_stored_is_not_measured_again_and_stays(
    project: Path, tmp_path: Path
) -> None:
    run_driver("bench", project, tmp_path, "--cases", r"track_it\('fine'")
    before = _stored(project, "suite.Values.track_it", "result")
    _record(project).unlink()  # what is left is what `asv run` stores
    output, _ = run_driver("bench", project, tmp_path, "--cases", r"track_it\('(fine|other)'")
    assert "1 ok" in output
    after = _stored(project, "suite.Values.track_it", "result")
    assert (before[0], after[0], after[-1]) == (1.5, 1.5, 1.5)
    assert list(_cases(project)) == ["suite.Values.track_it('other')"]


def test_a_night_stores_what_its_comparison_measured_of_the_newest_commit(
    make_project: Callable[..., Path], tmp_path: Path
) -> None:
    suite = "def time_it():\n    sum(range(20_000))\n"
    project = make_project(suite, {"src/package.py": ""})
    run_driver("bench", project, tmp_path)
    newest = commit(project, {"benchmarks/other.txt": "x"}, "Two")
    run_driver("nightly", project, tmp_path)
    [path] = (project / "results" / "m").glob(f"{newest[:8]}-*.json")
    comparisons, _ = read_record(project / "results")
    [compared] = [each for each in comparisons if len(each.sitting.versions) == 2]
    [case] = [
        case
        for key, cases in newest_of_runs(comparisons).items()
        for case in cases.values()
        if key.commit == newest
    ]
    assert case.rounds == tuple((numbers[1],) for numbers in compared.rounds)
    row = json.loads(path.read_text())["results"]["suite.time_it"]
    assert row[0] == [case.value(0)]


STRIKES = 5
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
MANY = """
class Suite:
    params = list(range(12))
    param_names = ["case"]
    number, warmup_time, rounds = 1, 0, 2

    def time_it(self, case):
        pass
"""


@pytest.mark.timeout(1800)
def test_strikes_at_random_moments_lose_nothing(
    make_project: Callable[..., Path], tmp_path: Path
) -> None:
    project = make_project(MANY)
    moments = random.Random(12)  # noqa: S311 - a test repeats itself
    before: dict[str, Comparison] = {}
    for strike in range(STRIKES):
        process = start_driver("bench", project, tmp_path)
        if strike:  # the first one may come before anything is measured
            unfinished = project / ".asv" / "unfinished"
            deadline = time.monotonic() + 60
            while not list(unfinished.glob("*")) and process.poll() is None:
                assert time.monotonic() < deadline
                time.sleep(0.05)
        time.sleep(moments.uniform(0, 2))
        process.send_signal(SIGNALS[strike % len(SIGNALS)])
        process.wait()
        wait_until_none_is_left(project)
        # A run that is killed before it finishes a case has no record.
        is_any_finished = any((project / "results").glob("m/2*.jsonl"))
        after = _cases(project) if is_any_finished else {}
        assert before.items() <= after.items(), "what was stored is lost or another"
        before = after
    run_driver("bench", project, tmp_path)
    values = _stored(project, "suite.Suite.time_it", "result")
    assert len(values) == 12
    assert all(value > 0 for value in values)
    lines = _record(project).read_text().splitlines()
    assert sum('"case"' in line for line in lines) == 12, "no case was measured twice"
    assert {len(case.rounds) for case in _cases(project).values()} == {2}
    assert not list((project / ".asv" / "unfinished").glob("*"))
