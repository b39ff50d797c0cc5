"""Reading what asv has stored. The files are written by asv's own code where that is the point."""

import datetime
import json
import math
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from asv.results import Results, get_filename
from asv.runner import BenchmarkResult

from asv_watch.comparison import Comparison, Outcome
from asv_watch.errors import WatchError
from asv_watch.judge.changes import analyse
from asv_watch.records.history import History
from asv_watch.records.loading import load_history
from asv_watch.records.records import Run
from asv_watch.site.about_data import about_data
from asv_watch.site.contents import contents_of
from asv_watch.site.release_data import FailedRelease, release_data
from asv_watch.versions.git import read_commits
from asv_watch.versions.version import Commit, Release
from tests import planted_comparisons
from tests.generator import generate, plan_of_size, write_json
from tests.stored import store_run

HASHES = [(f"{number:08x}" * 5) for number in range(0xA0000000, 0xA0000000 + 4)]
COMMITS = [
    Commit(full_hash, 1_760_000_000 + index, f"Commit {index}", (), index)
    for index, full_hash in enumerate(HASHES)
]
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
def results_dir(tmp_path: Path) -> Any:
    results = tmp_path / "results"
    write_json(results / "benchmarks.json", {NAME: BENCHMARK, "version": 2})
    write_json(
        results / "ci-2core" / "machine.json", {"machine": "ci-2core", "cpu": "any", "version": 1}
    )
    return results


def measured(result: Any, samples: Any = SAMPLES) -> Any:
    numbers = [None if taken is None else 1 for taken in samples]
    return BenchmarkResult(list(result), list(samples), numbers, 0, "", None)


def save(
    results_dir: Path,
    commit: int = 0,
    result: Any = None,
    benchmark: dict[str, Any] = BENCHMARK,
) -> Any:
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
    results.add_result(
        benchmark,
        result or measured(MEDIANS),
        started_at=STARTED,
        duration=3.5,
        record_samples=True,
    )
    results.save(str(results_dir))
    return results_dir / get_filename("ci-2core", HASHES[commit], ENVIRONMENT)


def edit(path: Path, change: Any) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def case_of(history: History, model: str, batch: str) -> Any:
    [series] = [
        s
        for s in history.series
        if (s.case.benchmark, s.case.params) == (NAME, (f"'{model}'", batch))
    ]
    return series


def run_of(history: History, model: str = "darnn", batch: str = "5", commit: int = 0) -> Any:
    return case_of(history, model, batch).runs[HASHES[commit]]


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
    assert history.facts["ci-2core", ENVIRONMENT][HASHES[0]] == {
        "os": "Linux 6.1",
        "python": "3.11",
        "requirement torch": "2.15.0",
        "variable OMP_NUM_THREADS": "1",
    }
    benchmark = history.benchmarks[NAME]
    assert (benchmark.type, benchmark.unit, benchmark.timeout) == ("time", "seconds", 60.0)

    for index, (model, batch) in enumerate(
        [("darnn", "5"), ("darnn", "10"), ("dsanet", "5"), ("dsanet", "10")]
    ):
        run = run_of(history, model, batch)
        assert run == Run(Outcome.OK, MEDIANS[index], recipe="rounds=2")


def record(results_dir: Path, *cases: Comparison, commit: int = 0, **described: Any) -> Path:
    """Store a run in the record; return its file."""
    described = {"of_machine": "ci-2core", "environment": ENVIRONMENT} | described
    return store_run(results_dir, *cases, commit=HASHES[commit], **described)


def _case(params: str, version: str = "", at: int = 8, **measured: Any) -> Comparison:
    return Comparison(f"{NAME}({params})", at, benchmark_version=version, **measured)


NUMBERS = ((1.5,), (1.7,), (1.6,))


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
        found = {run.outcome for run in case_of(history, *case).runs.values()}
        assert found <= {Outcome.NEVER_RUN}, "lines of other code do not count"
    assert history.environments[ENVIRONMENT].release == Release("torch", "2.15.0")
    assert history.facts["ci-2core", ENVIRONMENT][HASHES[0]]["variable OMP_NUM_THREADS"] == "1"
    assert history.problems == ()


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
    path = record(results_dir, _case("'dsanet', 10", at=9, rounds=((1.0, 2.0),)), commit=1)
    history = load_history(results_dir, COMMITS)
    timed_out = run_of(history, "darnn", "5")
    assert (timed_out.outcome, timed_out.reason) == (Outcome.TIMED_OUT, "after 60 s")
    skipped = run_of(history, "darnn", "10")
    assert (skipped.outcome, skipped.reason) == (Outcome.SKIPPED, "no CUDA")
    fine = run_of(history, "dsanet", "5")
    assert (fine.outcome, fine.value) == (Outcome.OK, 3.1)
    unexplained = run_of(history, "dsanet", "10")
    assert unexplained.outcome is Outcome.FAILED
    assert "no reason" in unexplained.reason
    assert run_of(history, "darnn", "5", commit=1).outcome is Outcome.NEVER_RUN
    [problem] = history.problems
    assert problem.path == str(path)
    assert problem.message.startswith("line 7 ")


def test_the_newer_commit_of_a_nights_comparison_has_a_run(results_dir: Path) -> None:
    """A failure may be due to the older one, and releases that were compared are no runs."""
    save(results_dir)
    path = record(results_dir, _case("'darnn', 5", at=9, rounds=NUMBERS), commit=1)
    sitting, case = path.read_text().splitlines()
    two = json.loads(sitting)
    two["sitting"]["versions"].insert(0, two["sitting"]["versions"][0] | {"commit": HASHES[0]})
    numbers = json.loads(case) | {"rounds": [[1.0, 2.0], [1.1, 2.2]]}
    failed = numbers | {"case": f"{NAME}('darnn', 10)", "rounds": [], "failed": {"1": "broken"}}
    path.write_text("".join(json.dumps(line) + "\n" for line in (two, numbers, failed)))
    history = load_history(results_dir, COMMITS)
    assert run_of(history, commit=1).value == pytest.approx(2.1)
    assert run_of(history, commit=0).value == 1.2
    assert run_of(history, "darnn", "10", commit=1).outcome is Outcome.NEVER_RUN
    del two["sitting"]["conditions"]
    path.write_text("".join(json.dumps(line) + "\n" for line in (two, numbers)))
    assert HASHES[1] not in case_of(load_history(results_dir, COMMITS), "darnn", "5").runs


def test_results_of_other_code_are_counted_and_not_shown(results_dir: Path) -> None:
    save(results_dir, commit=0, benchmark=BENCHMARK | {"version": "zero"})
    save(results_dir, commit=1, benchmark=BENCHMARK | {"version": "zero"})
    record(results_dir, _case("'darnn', 5", "zero; rounds=3", failed={0: ""}), commit=1)
    save(results_dir, commit=2)
    history = load_history(results_dir, COMMITS)
    [left_out] = history.left_out
    assert (left_out.name, left_out.count) == (NAME, 2)
    assert "other code" in left_out.reason
    assert run_of(history, commit=0).outcome is Outcome.NEVER_RUN
    assert run_of(history, commit=1).outcome is Outcome.NEVER_RUN
    assert run_of(history, commit=2).outcome is Outcome.OK


@pytest.mark.parametrize("measured_privately", [False, True])
def test_peak_memory_of_asv_is_shown_until_the_engine_measures_it(
    results_dir: Path, measured_privately: bool
) -> None:
    """asv counts mapped files, the engine does not."""
    name = "m.peakmem_it"
    memory = {"name": name, "type": "peakmemory", "unit": "bytes", "params": [], "param_names": []}
    benchmark = BENCHMARK | memory
    edit(results_dir / "benchmarks.json", lambda content: content.update({name: benchmark}))
    for commit in range(2):
        result = measured([8e8], [None])
        save(results_dir, commit=commit, result=result, benchmark=benchmark)
    if measured_privately:
        record(results_dir, Comparison(name, 8, "bytes", rounds=((4e8,),)), commit=1)
    history = load_history(results_dir, COMMITS)
    [series] = [series for series in history.series if series.case.name == name]
    assert series.case.labels["metric"] == "peak memory"
    values = series.columns.valued.values.tolist()
    assert values == ([4e8] if measured_privately else [8e8, 8e8])


def test_removed_benchmarks_and_parameters_are_counted_and_not_shown(results_dir: Path) -> None:
    other = BENCHMARK | {"name": "gone.Suite.time_x"}
    save(results_dir, benchmark=other)
    save(
        results_dir,
        commit=1,
        benchmark=BENCHMARK | {"params": [["'darnn'", "'old'"], ["5", "10"]]},
    )
    history = load_history(results_dir, COMMITS)
    assert {(x.name, x.count) for x in history.left_out} == {("gone.Suite.time_x", 1), (NAME, 2)}
    assert run_of(history, "darnn", "10", commit=1).value == 2.2
    assert run_of(history, "dsanet", "5", commit=1).outcome is Outcome.NEVER_RUN


def test_commits_of_other_branches_are_counted_and_not_shown(results_dir: Path) -> None:
    save(results_dir, commit=2)
    history = load_history(results_dir, COMMITS[:2])
    assert history.series == ()
    [left_out] = history.left_out
    assert (left_out.name, left_out.count) == (HASHES[2], 1)
    assert "branch" in left_out.reason


@pytest.mark.parametrize("value", [math.inf, "fast", "NaN", True, [1.0], 10**400], ids=repr)
def test_what_is_no_finite_number_failed_and_is_named(results_dir: Path, value: Any) -> None:
    path = save(results_dir)
    edit(path, lambda content: content["results"][NAME].__setitem__(0, [value, 2, 3.0, 4.0]))
    history = load_history(results_dir, COMMITS)
    run = run_of(history)
    assert run.outcome is Outcome.FAILED
    assert "no finite number" in run.reason
    assert run_of(history, "darnn", "10").value == 2.0
    [problem] = history.problems
    assert problem.path == str(path)
    assert "1 of 4" in problem.message


def test_the_results_of_one_machine_are_read_alone_whatever_its_name(results_dir: Path) -> None:
    path = save(results_dir)
    other = results_dir / "lab [1]"
    shutil.copytree(path.parent, other)
    for name in ("machine.json", path.name):
        text = (other / name).read_text()
        (other / name).write_text(text.replace("ci-2core", other.name))
    for machine in ("ci-2core", other.name):
        history = load_history(results_dir, COMMITS, machine)
        assert history.problems == ()
        assert list(history.machines) == [machine]
        assert {series.machine for series in history.series} == {machine}
    assert len(load_history(results_dir, COMMITS).machines) == 2


DAMAGE: dict[str, Any] = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-50]),
    "deep": lambda path: path.write_text("[" * 100_000),
    "no commit": lambda path: edit(path, lambda content: content.pop("commit_hash")),
    "other machine": lambda path: edit(
        path, lambda content: content["params"].update(machine="other")
    ),
    "ends too few": lambda path: edit(
        path, lambda content: content["results"][NAME].__setitem__(5, [0.5])
    ),
    "values too few": lambda path: edit(
        path, lambda content: content["results"][NAME].__setitem__(0, [1.0])
    ),
    "params without end": lambda path: edit(
        path, lambda content: content["results"][NAME].__setitem__(1, [["1"] * 1000] * 3)
    ),
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
    series = case_of(history, "darnn", "5")
    assert series.runs[HASHES[1]].outcome is Outcome.OK
    assert len(series.columns.valued) == 1


def test_two_files_of_one_commit_and_environment(results_dir: Path) -> None:
    path = save(results_dir)
    copy = path.with_name(path.name.replace("a0000000", "b0000000"))
    copy.write_bytes(path.read_bytes())
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
def test_without_a_list_of_benchmarks_there_is_one_clear_error(
    results_dir: Path, content: Any
) -> None:
    path = results_dir / "benchmarks.json"
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(WatchError) as error:
        load_history(results_dir, COMMITS)
    assert str(path) in str(error.value)
    assert "asv run --bench just-discover" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "entry",
    [7, {}, {"params": [["1"]]}],
    ids=repr,
)
def test_a_damaged_benchmark_is_named_and_the_others_load(results_dir: Path, entry: Any) -> None:
    save(results_dir)
    edit(
        results_dir / "benchmarks.json",
        lambda content: content.update({"suite.time_x": entry}),
    )
    history = load_history(results_dir, COMMITS)
    assert run_of(history).outcome is Outcome.OK
    if entry:
        assert "suite.time_x" in history.problems[0].message


def test_a_long_history_loads_in_time(tmp_path: Path) -> None:
    """1,000 commits of 200 series took 1.0 s of CPU where this was written; 4 s are allowed."""
    made = generate(tmp_path, plan_of_size(1000, 200))
    commits = read_commits(made.repository)
    start = time.process_time()
    history = load_history(made.results, commits)
    assert time.process_time() - start < 4
    assert sum(bool(series.columns) for series in history.series) == 200
    assert len(history.commits) == 1000
    assert sum(len(series.columns.valued) for series in history.series) > 190_000


def test_a_machine_that_only_compared_releases_is_a_machine_too(results_dir: Path) -> None:
    compared = planted_comparisons.compared_releases("2.8.0", "2.9.1", {NAME: 0.9}, machine="lab")
    planted_comparisons.store(results_dir, compared)
    failed = planted_comparisons.failed_release("2.9.1", "2.10.0", "no wheel", machine="lab")
    planted_comparisons.store(results_dir, failed)
    history = load_history(results_dir, COMMITS)
    assert history.problems == ()
    assert set(history.machines) == set(history.comparisons) | {"ci-2core"} == {"ci-2core", "lab"}
    contents = contents_of(history, analyse(history))
    [releases] = release_data(contents)
    assert (releases.machine, releases.cpu) == ("lab", "")
    assert releases.versions == ("2.8.0", "2.9.1")
    assert releases.failed == [FailedRelease("torch 2.10.0", "no wheel")]


def test_comparisons_in_a_folder_of_another_name_have_a_machine(results_dir: Path) -> None:
    compared = planted_comparisons.compared_releases("2.8.0", "2.9.1", {NAME: 0.9}, machine="lab")
    planted_comparisons.store(results_dir, compared)
    (results_dir / "lab").rename(results_dir / "moved")
    history = load_history(results_dir, COMMITS)
    assert set(history.comparisons) == {"lab"}
    contents = contents_of(history, analyse(history))
    lines = about_data(contents)["machines"]
    assert [line["name"] for line in lines if line["newest"] is None] == ["lab"]
