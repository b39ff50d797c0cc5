"""`make bench` to the end: what is stored of one version, whatever happens to the run."""

import itertools
import json
import os
import re
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from asv_watch import bench
from asv_watch.comparison import Comparison
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.runs import Outcomes, newest_first
from asv_watch.records.store import newest_of_runs
from tests.conftest import commit, git, run
from tests.interruptible import run_driver
from tests.leftovers import measured_processes
from tests.stored import record_file, result_file, stored_comparisons

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

def track_slow():
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)  # measure.py"])
    time.sleep(60)

class Timed:
    params = (["fine", "absent", "brittle"], ["cpu", "cuda"])
    param_names = ["kind", "device"]
    timer = time.process_time
    sample_time, warmup_time, rounds = 0.002, 0, 2

    def setup_cache(self):
        return 7

    def setup(self, cache, kind, device):
        assert cache == 7
        if kind == "absent":
            raise NotImplementedError("nobody has it")
        if kind == "brittle":
            raise RuntimeError("out of\\ncheese")

    def time_it(self, cache, kind, device):
        sum(range(2000))

def peakmem_it():
    return bytearray(10_000_000)
"""
TIMED = "suite.Timed.time_it('fine', 'cpu')"


@pytest.fixture
def project(make_project: Callable[..., Path]) -> Path:
    return make_project(SUITE, gpu_cases="'cuda", default_benchmark_timeout=4)


def _cases(project: Path) -> dict[str, Comparison]:
    [cases] = newest_of_runs(stored_comparisons(project)).values()
    return cases


def _stored(project: Path, benchmark: str, column: str) -> Any:
    content = json.loads(result_file(project).read_text())
    row = dict(zip(content["result_columns"], content["results"][benchmark], strict=False))
    return row.get(column)


def test_every_outcome_is_stored_and_failures_are_tried_again(
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
        "track_slow": "timed out",
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
        "Values.track_it('large')": "its value is 1e+300, which is too large or not finite",
        "Values.track_it('crash')": "SIGABRT",
        "Values.track_it('leave')": "ended before it gave a value",
        "track_slow": "did not answer in 4 s",
    }.items():
        assert reason in outcomes[f"suite.{case}"][1]
    value, *_ = _stored(project, "suite.Timed.time_it", "result")
    rounds, *_ = _stored(project, "suite.Timed.time_it", "samples")
    assert value == statistics.median(rounds)
    assert cases[TIMED].rounds == tuple((number,) for number in rounds)
    first, *_, last = map(json.loads, record_file(project).read_text().splitlines())
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
    assert "suite.track_slow timed out" in errors

    before = result_file(project).read_bytes()
    again, _ = run_driver("bench", project, tmp_path, "--cases", "fine|other", status=0)
    assert "nothing was missing" in again
    assert result_file(project).read_bytes() == before, "what is stored is not measured again"
    retried, _ = run_driver("bench", project, tmp_path, "--cases", "track_it.*text", status=3)
    assert "1 failed" in retried


def test_a_damaged_result_file_is_written_from_the_record(project: Path, tmp_path: Path) -> None:
    run_driver("bench", project, tmp_path, "--cases", "fine|peakmem")
    path, record = result_file(project), record_file(project).read_bytes()
    columns = "result", "samples"
    benchmarks = "suite.Values.track_it", "suite.Timed.time_it", "suite.peakmem_it"
    before = [_stored(project, *cell) for cell in itertools.product(benchmarks, columns)]
    path.write_bytes(path.read_bytes()[:-40])
    output, _ = run_driver("bench", project, tmp_path, "--cases", r"track_it\('fine'")
    assert re.search(r"is damaged; it is now \S+\.damaged-\d{8}T\d{6}, and written again", output)
    assert "nothing was missing" in output
    assert [_stored(project, *cell) for cell in itertools.product(benchmarks, columns)] == before
    assert record_file(project).read_bytes() == record
    earlier, version, newest = record.rpartition(b'"benchmark_version":"')
    record_file(project).write_bytes(earlier + version + b"other " + newest)
    path.unlink()
    output, _ = run_driver("bench", project, tmp_path, "--cases", "fine|peakmem")
    assert "1 ok" in output, "a record of other code of the benchmark does not count"


def test_what_cannot_be_stored_ends_the_run(project: Path, tmp_path: Path) -> None:
    run_driver("bench", project, tmp_path, "--cases", r"track_it\('fine'")
    before = record_file(project).read_bytes()
    limit = max(len(before), result_file(project).stat().st_size)
    program = (
        f"import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
        "from asv_watch.cli.main import main; sys.exit(main())"
    )
    command = sys.executable, "-c", program, "bench", "--machine", "m", "--cases", "track_it"
    quiet = {"HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}  # modules are larger
    done = run(*command, cwd=project, env=os.environ | quiet, status=None)
    assert done.returncode not in (0, 3)
    assert "File too large" in done.stderr
    assert record_file(project).read_bytes().startswith(before)
    assert _cases(project)


def test_what_asv_run_has_stored_is_not_measured_again(project: Path, tmp_path: Path) -> None:
    run_driver("bench", project, tmp_path, "--cases", r"track_it\('fine'")
    before = _stored(project, "suite.Values.track_it", "result")
    record_file(project).unlink()  # what is left is what `asv run` stores
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
    comparisons = stored_comparisons(project)
    [compared] = [each for each in comparisons if len(each.sitting.versions) == 2]
    runs = {key.commit: cases for key, cases in newest_of_runs(comparisons).items()}
    case = runs[newest]["suite.time_it"]
    assert case.rounds == tuple((numbers[1],) for numbers in compared.rounds)
    row = json.loads(path.read_text())["results"]["suite.time_it"]
    assert row[0] == [case.value(0)]


def test_suites_that_changed_last_come_first(make_repository: Callable[..., Path]) -> None:
    files = ("a.py", "b.py", "c/d.py")
    root = make_repository({f"benchmarks/{file}": "" for file in files})
    for file in ("c/d.py", "b.py"):
        commit(root, {f"benchmarks/{file}": "# Changed."}, f"Change {file}")
    (root / "benchmarks/e.py").touch()
    names = ("a.time_x", "b.time_x", "c.d.time_x", "b.time_y", "e.time_x")
    cases = [MeasurableCase(name, name, 30.0) for name in names]
    ordered = [case.name for case in newest_first(root / "benchmarks", cases)]
    assert ordered == ["e.time_x", "b.time_x", "b.time_y", "c.d.time_x", "a.time_x"]


def test_a_run_publishes_before_its_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    now, published = [0.0], list[float]()

    def measure(*_: object, after_each: Callable[[], None], **__: object) -> Outcomes:
        for seconds in (200, 301, 400, 900):
            now[0] = seconds
            after_each()
        return {}

    configuration = SimpleNamespace(repository=tmp_path)
    workplace = SimpleNamespace(configuration=configuration, environments=[None])
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(bench, "open_workplace", lambda *_, **__: nullcontext(workplace))
    monkeypatch.setattr(bench, "measure_commit", measure)
    monkeypatch.setattr(bench, "publish", lambda: published.append(now[0]))
    assert bench.bench() == 0
    assert published == [301, 900]
