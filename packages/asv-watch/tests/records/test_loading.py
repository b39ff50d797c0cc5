"""Reading what asv has stored. The files are written by asv's own code where that is the point."""

import datetime
import json
import math
import resource
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from asv.results import Results, get_filename
from asv.runner import BenchmarkResult

from asv_watch.comparison import Comparison, Conditions, Outcome, Run, Sitting
from asv_watch.errors import WatchError
from asv_watch.judge.changes import analyse
from asv_watch.records.history import History, load_history
from asv_watch.records.records import NOT_FORKED, PROCESSES
from asv_watch.records.store import SittingWriter
from asv_watch.site.about_data import about_data
from asv_watch.site.contents import contents_of
from asv_watch.site.release_data import FailedRelease, release_data
from asv_watch.versions.git import read_commits
from asv_watch.versions.version import Release, Version
from tests.generator import generate, plan_of_size, write_json
from tests.making import commit_hash, make_commits
from tests.planted_comparisons import compared_commits, compared_releases, failed_release, store
from tests.stored import store_run

HASHES = [commit_hash(number) for number in range(4)]
COMMITS = make_commits(4)
ENVIRONMENT = "virtualenv-py3.11-torch2.15.0"
NAME = "time_series.TimeSeries.time_forward"
BENCHMARK = {
    "name": NAME,
    "param_names": ["model", "batch"],
    "params": [["'darnn'", "'dsanet'"], ["5", "10"]],
    "type": "time",
    "unit": "seconds",
    "version": "one; rounds=2",
    "timeout": 60.0,
}
SAMPLES = [[n, n + 0.1, n + 0.2, n + 0.2, n + 0.2] * 4 for n in (1.0, 2.0, 3.0, 4.0)]
MEDIANS = (1.2, 2.2, 3.2, 4.2)
STARTED = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)


@pytest.fixture
def results_dir(tmp_path: Path) -> Path:
    results = tmp_path / "results"
    write_json(results / "benchmarks.json", {NAME: BENCHMARK, "version": 2})
    machine = {"machine": "ci-2core", "cpu": "any", "version": 1}
    write_json(results / "ci-2core" / "machine.json", machine)
    return results


def measured(result: Sequence[Any], samples: Sequence[Any] = SAMPLES) -> BenchmarkResult:
    numbers = [None if taken is None else 1 for taken in samples]
    return BenchmarkResult(list(result), list(samples), numbers, 0, "", None)


def save(results_dir: Path, commit: int = 0, result: Any = None, **benchmark: Any) -> Path:
    """Let asv store one benchmark's result; return the file's path."""
    results = Results(
        {"machine": "ci-2core", "os": "Linux 6.1", "python": "3.11", "torch": "2.15.0"},
        {"torch": "2.15.0"},
        HASHES[commit],
        1_760_000_000_000,
        "3.11",
        ENVIRONMENT,
        {"OMP_NUM_THREADS": "1"},
    )
    result = result or measured(MEDIANS)
    results.add_result(BENCHMARK | benchmark, result, STARTED, 3.5, record_samples=True)
    results.save(str(results_dir))
    return Path(results_dir, get_filename("ci-2core", HASHES[commit], ENVIRONMENT))


def record(results_dir: Path, *cases: Comparison, commit: int = 0, **described: Any) -> Path:
    """Store a run in the record; return its file."""
    where = {"of_machine": "ci-2core", "environment": ENVIRONMENT}
    return store_run(results_dir, *cases, commit=HASHES[commit], **(where | described))


def _case(params: str, version: str = "", at: int = 8, **measured: Any) -> Comparison:
    return Comparison(f"{NAME}({params})", at, benchmark_version=version, **measured)


NUMBERS = ((1.5,), (1.7,), (1.6,))


def edit(path: Path, change: Any) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def runs_of(history: History, model: str = "darnn", batch: str = "5") -> dict[str, Run]:
    name = f"{NAME}('{model}', {batch})"
    [series] = [series for series in history.series if series.case.name == name]
    return history.runs(series)


def run_of(history: History, model: str = "darnn", batch: str = "5", commit: int = 0) -> Run:
    return runs_of(history, model, batch)[HASHES[commit]]


def test_what_asv_saves_is_what_is_read(results_dir: Path) -> None:
    save(results_dir)
    history = load_history(results_dir, COMMITS)

    assert history.problems == ()
    assert history.left_out == ()
    assert [commit.hash for commit in history.commits] == [HASHES[0]]
    assert history.machines["ci-2core"].facts == {"cpu": "any"}
    environment = history.environments[ENVIRONMENT]
    assert environment.release == Release("torch", "2.15.0")
    assert environment.variables == {"OMP_NUM_THREADS": "1"}
    assert environment.python == "3.11"
    assert history.setups["ci-2core", ENVIRONMENT][HASHES[0]].facts == {
        "os": "Linux 6.1",
        "python": "3.11",
        "requirement torch": "2.15.0",
        "variable OMP_NUM_THREADS": "1",
    }
    benchmark = history.benchmarks[NAME]
    assert (benchmark.type, benchmark.unit, benchmark.timeout) == ("time", "seconds", 60.0)

    runs = [history.runs(series)[HASHES[0]] for series in history.series]
    assert runs == [Run(Outcome.OK, value, recipe="rounds=2") for value in MEDIANS]


@pytest.mark.parametrize("lacks", ["the file", "the row", "nothing"])
def test_a_value_of_the_record_is_shown_whatever_asv_has(results_dir: Path, lacks: str) -> None:
    if lacks != "the file":
        path = save(results_dir, result=measured([9.9, math.nan, math.nan, 4.1]))
        if lacks == "the row":
            edit(path, lambda content: content["results"].clear())
    record(
        results_dir,
        _case("'darnn', 5", "one; rounds=3", rounds=NUMBERS),
        _case("'darnn', 10", "other", rounds=NUMBERS),
        _case("'dsanet', 5", "other", failed={0: "it is broken"}),
        requirements={"torch": "2.15.0"},
        variables={"OMP_NUM_THREADS": "1"},
    )
    history = load_history(results_dir, COMMITS)
    shown = run_of(history, "darnn", "5")
    assert (shown.outcome, shown.value) == (Outcome.OK, 1.6)
    assert shown.recipe == "rounds=3"
    for case in (("darnn", "10"), ("dsanet", "5")):
        found = {run.outcome for run in runs_of(history, *case).values()}
        assert found <= {Outcome.NEVER_RUN}, "lines of other code do not count"
    assert history.environments[ENVIRONMENT].release == Release("torch", "2.15.0")
    run = history.setups["ci-2core", ENVIRONMENT][HASHES[0]]
    assert run.facts["variable OMP_NUM_THREADS"] == "1"
    assert history.problems == ()


def test_a_run_has_facts_and_the_state_of_its_machine(results_dir: Path) -> None:
    conditions = Conditions(
        environment=ENVIRONMENT,
        machine={"kernel": "6.1"},
        facts={"torch build": "2.15.0"},
        details={"torch.__config__.show()": "PyTorch built with: ..."},
        before={"load_1_5_15_min": [0.5, 1, 2], "gpus": [{"celsius": 41.0}], "cpu_mhz": None},
    )
    version = Version(HASHES[0], {}, "3.11")
    described: dict[str, Any] = {"machine": "ci-2core", "conditions": conditions}
    writer = SittingWriter(
        results_dir, Sitting(kind="run", at=7, versions=(version,), **described)
    )
    writer.add(_case("'darnn', 5", rounds=NUMBERS))
    writer.end({"load_1_5_15_min": [1, 1, 2]})
    history = load_history(results_dir, COMMITS)
    [(_, _, facts)] = about_data(contents_of(history, analyse(history)))["setups"]
    assert facts == {
        "cpu": "any",
        "kernel": "6.1",
        "torch build": "2.15.0",
        PROCESSES: NOT_FORKED,
        "load_1_5_15_min (before)": "0.5, 1, 2",
        "gpus 0 celsius (before)": "41.0",
        "load_1_5_15_min (after)": "1, 1, 2",
    }


def test_every_outcome_is_told_apart(results_dir: Path) -> None:
    save(results_dir, result=measured([None, math.nan, 3.1, None]))
    record(
        results_dir,
        _case("'darnn', 5", at=5, failed={0: "first try"}),
        _case("'darnn', 5", at=7, failed={0: "after 60 s"}, late=(0,)),
        _case("'darnn', 10", at=8, skipped={0: "no CUDA"}),
        _case("'dsanet', 5", at=9, rounds=((3.1,),)),
    )
    save(results_dir, commit=1, result=measured([math.nan, 2.0, 3.0, 4.0]))
    history = load_history(results_dir, COMMITS)
    runs = [history.runs(series)[HASHES[0]] for series in history.series]
    assert [(run.outcome, run.reason) for run in runs] == [
        (Outcome.TIMED_OUT, "after 60 s"),
        (Outcome.SKIPPED, "no CUDA"),
        (Outcome.OK, ""),
        (Outcome.FAILED, "no value was stored, and no reason"),
    ]
    assert runs[2].value == 3.1
    assert run_of(history, commit=1).outcome is Outcome.NEVER_RUN


def test_the_newer_commit_of_a_nights_comparison_has_a_run(results_dir: Path) -> None:
    """A failure may be due to the older one, and releases that were compared are no runs."""
    save(results_dir)
    rounds = (1.0, 2.0), (1.1, 2.2)
    cases = _case("'darnn', 5", rounds=rounds), _case("'darnn', 10", failed={1: "broken"})
    record(results_dir, *cases, commit=1, against=HASHES[0])
    compared = compared_commits((HASHES[0], HASHES[2]), {f"{NAME}('darnn', 5)": 1.1})
    store(results_dir, compared)
    history = load_history(results_dir, COMMITS)
    assert run_of(history, commit=1).value == pytest.approx(2.1)
    assert run_of(history, commit=0).value == 1.2
    assert run_of(history, "darnn", "10", commit=1).outcome is Outcome.NEVER_RUN
    assert HASHES[2] not in runs_of(history)


def test_results_of_other_suites_or_branches_are_counted_and_not_shown(results_dir: Path) -> None:
    save(results_dir, commit=0, version="zero")
    record(results_dir, _case("'darnn', 5", "zero; rounds=3", failed={0: ""}))
    save(results_dir, commit=1, name="gone.Suite.time_x")
    save(results_dir, commit=2, params=[["'darnn'", "'old'"], ["5", "10"]])
    save(results_dir, commit=3)
    history = load_history(results_dir, COMMITS[:3])
    assert {(each.name, each.reason): each.count for each in history.left_out} == {
        (NAME, "measured with other code of the benchmark"): 1,
        ("gone.Suite.time_x", "no suite has this benchmark any more"): 1,
        (NAME, "no suite has this combination of parameters"): 2,
        (HASHES[3], "the commit is not on the branch"): 1,
    }
    assert list(runs_of(history)) == HASHES[:3]
    assert run_of(history, commit=0).outcome is Outcome.NEVER_RUN
    assert run_of(history, "darnn", "10", commit=2).value == 2.2
    assert run_of(history, "dsanet", "5", commit=2).outcome is Outcome.NEVER_RUN


def test_what_the_record_alone_has_is_in_its_order(results_dir: Path) -> None:
    for number in range(4):
        record(results_dir, _case("'darnn', 5", rounds=NUMBERS), commit=number, at=number)
    assert [each.name for each in load_history(results_dir, ()).left_out] == HASHES


@pytest.mark.parametrize("is_private", [False, True])
def test_peak_memory_of_asv_gives_way_to_the_engines(results_dir: Path, is_private: bool) -> None:
    """asv counts mapped files, the engine does not."""
    name = "m.peakmem_it"
    memory = {"name": name, "type": "peakmemory", "unit": "bytes", "params": [], "param_names": []}
    write_json(results_dir / "benchmarks.json", {name: BENCHMARK | memory, "version": 2})
    for commit in range(2):
        save(results_dir, commit, measured([8e8], [None]), **memory)
    if is_private:
        record(results_dir, Comparison(name, 8, "bytes", rounds=((4e8,),)), commit=1)
    [series] = load_history(results_dir, COMMITS).series
    assert series.case.labels["metric"] == "peak memory"
    assert series.valued.values.tolist() == ([4e8] if is_private else [8e8, 8e8])


def test_the_results_of_one_machine_are_read_alone_whatever_its_name(results_dir: Path) -> None:
    path = save(results_dir)
    record(results_dir, _case("'darnn', 5", rounds=NUMBERS))
    other = results_dir / "lab [1]"
    shutil.copytree(path.parent, other)
    for file in other.iterdir():
        file.write_text(file.read_text().replace("ci-2core", other.name))
    for machine in ("ci-2core", other.name):
        history = load_history(results_dir, COMMITS, machine)
        assert history.problems == ()
        assert list(history.machines) == [machine]
        assert {series.machine for series in history.series} == {machine}
        assert run_of(history).value == 1.6, "from the record"
    assert len(load_history(results_dir, COMMITS).machines) == 2


def in_row(column: int, value: Any) -> Callable[[Any], Any]:
    return lambda content: content["results"][NAME].__setitem__(column, value)


DAMAGE: dict[str, Callable[[Path], Any]] = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-50]),
    "deep": lambda path: path.write_text("[" * 100_000),
    "no commit": lambda path: edit(path, lambda content: content.pop("commit_hash")),
    "other machine": lambda path: edit(
        path, lambda content: content["params"].update(machine="x")
    ),
    "ends too few": lambda path: edit(path, in_row(5, [0.5])),
    "infinite": lambda path: edit(path, in_row(0, [math.inf, 2, 3.0, 4.0])),
    "true": lambda path: edit(path, in_row(0, [True, 2, 3.0, 4.0])),
    "a text": lambda path: edit(path, in_row(0, ["1.0", 2, 3.0, 4.0])),
    "too large": lambda path: edit(path, in_row(0, [10**400, 2, 3.0, 4.0])),
    "values too few": lambda path: edit(path, in_row(0, [1.0])),
    "params without end": lambda path: edit(path, in_row(1, [["1"] * 1000] * 3)),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_is_named_and_the_rest_loads(results_dir: Path, kind: str) -> None:
    path = save(results_dir, commit=0)
    save(results_dir, commit=1)
    DAMAGE[kind](path)
    history = load_history(results_dir, COMMITS)
    [problem] = history.problems
    assert problem.path == str(path)
    assert problem.message
    assert run_of(history, commit=1).outcome is Outcome.OK
    assert sum(run.outcome is Outcome.OK for run in runs_of(history).values()) == 1


def test_two_files_of_one_commit_and_environment(results_dir: Path) -> None:
    path = save(results_dir)
    copy = Path(shutil.copy(path, path.with_name(f"b{path.name[1:]}")))
    [problem] = load_history(results_dir, COMMITS).problems
    assert problem.path == str(copy)
    assert path.name in problem.message


@pytest.mark.parametrize("content", [None, b"{", b'{"machine": 7}'])
def test_without_a_sound_machine_file_the_results_load(results_dir: Path, content: Any) -> None:
    save(results_dir)
    path = results_dir / "ci-2core" / "machine.json"
    path.unlink() if content is None else path.write_bytes(content)
    history = load_history(results_dir, COMMITS)
    [problem] = history.problems
    assert problem.path == str(path)
    assert run_of(history).outcome is Outcome.OK


@pytest.mark.parametrize(
    "content", [None, b"{", b'{"version": 1}', pytest.param(b"[" * 100_000, id="deep")]
)
def test_without_a_list_there_is_one_clear_error(results_dir: Path, content: Any) -> None:
    path = results_dir / "benchmarks.json"
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(WatchError) as error:
        load_history(results_dir, COMMITS)
    assert str(path) in str(error.value)
    assert str(error.value).endswith("measure with `asv-watch bench` or `asv run`, which write it")
    assert "\n" not in str(error.value)


def test_a_long_history_loads_in_time(tmp_path: Path) -> None:
    """1,000 commits of 200 series took 1.0 s of CPU where this was written; 4 s are allowed."""
    made = generate(tmp_path, plan_of_size(1000, 200))
    commits = read_commits(made.repository)
    start, limits = time.process_time(), resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, limits[1]))  # of 1,000 files
    try:
        history = load_history(made.results, commits)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert time.process_time() - start < 4
    assert sum(bool(series.runs) for series in history.series) == 200
    assert len(history.commits) == 1000
    assert sum(len(series.valued.runs) for series in history.series) > 190_000


def test_a_machine_that_only_compared_releases_is_a_machine_too(results_dir: Path) -> None:
    store(results_dir, compared_releases("2.8.0", "2.9.1", {NAME: 0.9}, machine="lab"))
    store(results_dir, failed_release("2.9.1", "2.10.0", "no wheel", machine="lab"))
    history = load_history(results_dir, COMMITS)
    assert history.problems == ()
    assert set(history.machines) == set(history.comparisons) | {"ci-2core"} == {"ci-2core", "lab"}
    [releases] = release_data(contents_of(history, analyse(history)))
    assert (releases.machine, releases.cpu) == ("lab", "")
    assert releases.versions == ("2.8.0", "2.9.1")
    assert releases.failed == [FailedRelease("torch 2.10.0", "no wheel")]

    (results_dir / "lab").rename(results_dir / "moved")
    history = load_history(results_dir, COMMITS)
    assert set(history.comparisons) == {"lab"}
    lines = about_data(contents_of(history, analyse(history)))["machines"]
    assert [line["name"] for line in lines if line["newest"] is None] == ["lab"]
