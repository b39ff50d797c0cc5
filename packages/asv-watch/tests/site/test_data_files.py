"""The data files say what the results and their structs say, as docs/answers.md lays down."""

import json
import math
import re
import shlex
from pathlib import Path
from typing import Any

import msgspec
import pytest

from asv_watch.comparison import Outcome
from asv_watch.records.history import History
from asv_watch.records.loading import load_history
from asv_watch.records.records import Benchmark, Environment
from asv_watch.site import data_files, names
from asv_watch.site.contents import order_of_release
from asv_watch.site.data_files import (
    BenchmarkFile,
    BenchmarkSource,
    PairRow,
    description,
    measure_command,
)
from asv_watch.site.index import Index
from asv_watch.site.names import slug
from asv_watch.site.release_data import ReleaseHistoryData
from asv_watch.versions.git import read_commits
from tests.generator import Plan
from tests.planted_comparisons import (
    compared_cases,
    compared_releases,
    explained_releases,
    write_explanations,
)
from tests.site.conftest import Project, case_of, make_project, registered

CASE = "time_series.TimeSeries.time_forward('darnn', 'cpu')"


@pytest.fixture(scope="module")
def index(published: Project) -> Any:
    return published.index


@pytest.fixture(scope="module")
def history(published: Project) -> History:
    commits = read_commits(published.root / "repository")
    return load_history(published.results, commits, layout=published.layout)


def test_the_files_of_the_benchmarks_hold_every_value(
    published: Project, index: Any, history: History
) -> None:
    id_of = {
        name: names.environment_id(environment)
        for name, environment in history.environments.items()
    }
    wanted = {
        (entry.machine, id_of[entry.environment], entry.case.name, commit): run
        for entry in history.series
        for commit, run in entry.runs.items()
        if run.outcome is not Outcome.NEVER_RUN
    }
    seen = 0
    for benchmark in index["benchmarks"]:
        data = published.data(f"s/{benchmark['slug']}")
        assert data["benchmark"] == benchmark["name"]
        for row in data["series"]:
            series = index["series"][row["s"]]
            machine = index["machines"][series["m"]]["name"]
            environment = index["environments"][series["e"]]["id"]
            case = case_of(index, series)
            if last := series["last"]:
                assert row["v"][last["c"] - row["from"]] == last["v"]
            for offset, value in enumerate(row["v"]):
                if value is None:
                    continue
                commit = index["commits"][row["from"] + offset][0]
                run = wanted[machine, environment, case, commit]
                assert math.isclose(value, run.value, rel_tol=5e-5)
                seen += 1
            for at, outcome, reason in row.get("other", []):
                run = wanted[machine, environment, case, index["commits"][at][0]]
                assert run.outcome.value == outcome
                assert run.reason == row["reasons"][reason]
                seen += 1
    assert seen == len(wanted)


def test_what_never_ran_somewhere_is_no_series_there(index: Any, history: History) -> None:
    ran = sum(bool(series.columns) for series in history.series)
    never = [series for series in index["series"] if series["status"] == "never run"]
    assert len(index["series"]) == ran + len(never)
    cases = [series["c"] for series in index["series"]]
    assert all(cases.count(series["c"]) == 1 for series in never)
    assert set(cases) == set(range(len(index["cases"])))


def test_a_level_moves_only_where_a_change_was_measured(index: Any) -> None:
    moved = {change["s"] for change in index["changes"] if change["state"] == "measured"}
    far = {number for number, series in enumerate(index["series"]) if series["moved"]}
    assert far
    assert far <= moved


def test_runs_of_a_stretch_lie_around_its_level(published: Project, index: Any) -> None:
    for benchmark in index["benchmarks"]:
        data = published.data(f"s/{benchmark['slug']}")
        for row in data["series"]:
            cut = row.get("stretches", [])
            for number, (first, level, scale) in enumerate(cut):
                last = cut[number + 1][0] if number + 1 < len(cut) else math.inf
                values = [
                    value * scale
                    for at, value in enumerate(row["v"], row["from"])
                    if value is not None and first <= at < last
                ]
                if values:
                    assert min(values) * 0.999 <= level <= max(values) * 1.001
            assert not cut or cut[-1][1] == 1


def test_names_of_files_are_safe_and_told_apart() -> None:
    assert slug("time_series.TimeSeries.time_forward") == "time_series.TimeSeries.time_forward"
    odd = ["a/b", "a b", "a\\b", "..", "", "x" * 300, "x" * 301, "é"]
    slugs = [slug(name) for name in odd]
    assert len(set(slugs)) == len(odd)
    assert all(len(entry) < 120 and "/" not in entry for entry in slugs)


def test_environments_are_listed_by_release_and_labelled_by_what_differs() -> None:
    def environment(torch: str, **others: str) -> Environment:
        return Environment(
            f"{torch}-{others}",
            "3.11",
            {"torch": torch, "torchvision": "0.29", "scikit-learn": "1.9.1"},
            {"OMP_NUM_THREADS": "1", **others},
        )

    alike = sorted([environment("2.15.0"), environment("2.9.1")], key=order_of_release)
    assert list(names.environment_labels(alike).values()) == [
        "torch 2.9.1",
        "torch 2.15.0",
    ]
    apart = [environment("2.15.0"), environment("2.15.0", OMP_NUM_THREADS="2")]
    assert list(names.environment_labels(apart).values()) == [
        "torch 2.15.0 · OMP_NUM_THREADS 1",
        "torch 2.15.0 · OMP_NUM_THREADS 2",
    ]
    bare = Environment("existing-py", "", {}, {})
    assert names.environment_labels([bare]) == {"existing-py": "existing-py"}


def test_a_long_history_is_told_over_several_files(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_files, "VALUES", 180)
    project.build()
    index = project.index
    share = index["share"]
    assert share == 180 // len(index["commits"])
    for position, benchmark in enumerate(index["benchmarks"]):
        members = [
            at
            for at, entry in enumerate(index["series"])
            if index["cases"][entry["c"]]["b"] == position
        ]
        messages = []
        for number in range(-(-len(members) // share)):
            suffix = f"~{number}" if number else ""
            data = project.data(f"s/{benchmark['slug']}{suffix}")
            assert len(data["series"]) <= share
            messages += [entry["s"] for entry in data["series"]]
        assert messages == members


ASV = """For parameters: 'b'
Traceback (most recent call last):
  File "/env/lib/python3.11/site-packages/asv_runner/server.py", line 179, in _run_server
    _run(run_args)
  File "/benchmarks/time_series.py", line 12, in setup
    raise RuntimeError("the input has 3 features,\\nthe model 4")
RuntimeError: the input has 3 features,
the model 4
asv: benchmark failed (exit status 1)
"""


@pytest.mark.parametrize(
    ("message", "line"),
    [
        (ASV, "RuntimeError: the input has 3 features,"),
        ('Traceback (most recent call last):\n  File "a", line 1\nKeyError\n', "KeyError"),
        ("ValueError: one\n\nDuring handling of it:\nTypeError: two", "TypeError: two"),
        ("stopped after 600 s", "stopped after 600 s"),
        ("", ""),
        ("ValueError: " + "x" * 999, "ValueError: " + "x" * 187 + "…"),
        ("RuntimeError: RuntimeError: RuntimeError: two", "RuntimeError: two"),
    ],
)
def test_the_exception_is_found(message: str, line: str) -> None:
    assert names.exception_line(message) == line


def test_related_measurements_are_of_the_same_work_in_the_same_place(
    published: Project, index: Any
) -> None:
    data = published.data("c/time_series.TimeSeries.time_forward")
    seen = set()
    for own, others in data["related"].items():
        mine = index["series"][int(own)]
        for other in others:
            theirs = index["series"][other]
            assert (theirs["m"], theirs["e"]) == (mine["m"], mine["e"])
            here, there = (index["cases"][series["c"]] for series in (mine, theirs))
            for key in ("model", "device", "pass"):
                assert there["labels"][key] == here["labels"][key]
            metric = index["metrics"][index["benchmarks"][there["b"]]["metric"]]
            seen.add(metric["label"])
    assert seen == {"instructions", "throughput", "peak memory"}


def test_the_command_selects_its_case_alone() -> None:
    others = [CASE.replace("darnn", "darnn2"), f"x.{CASE}", f"{CASE}x"]
    program, verb, option, pattern = shlex.split(measure_command(CASE))
    assert (program, verb, option) == ("asv-watch", "bench", "--cases")
    assert [entry for entry in [CASE, *others] if re.search(pattern, entry)] == [CASE]
    assert "\\" not in pattern


def test_the_description_is_the_functions_docstring() -> None:
    code = 'class S:\n    """The suite."""\n    def time_x(self):\n        """One pass."""\n'
    assert description(Benchmark("a.S.time_x", "time", "s", code=code)) == "One pass."
    assert description(Benchmark("a.S.time_y", "time", "s", code=code)) == "The suite."
    assert description(Benchmark("a.S.time_x", "time", "s", code="class (")) == ""


FILES = {
    "index.js": Index,
    "s/*.js": BenchmarkFile,
    "c/*.js": BenchmarkSource,
    "releases.js": list[ReleaseHistoryData],
    "release-pairs.js": list[dict[str, list[PairRow]]],
}


def test_what_is_published_has_the_types_of_its_structs(tmp_path: Path) -> None:
    """A site with something of everything."""
    plan = Plan(commits=30, machines=("ci-2core",), machine_steps=1)
    project = make_project(tmp_path / "it", plan)
    released = compared_releases("2.14.1", "2.15.0", {CASE: 1.1})
    stored = project.contents().history.comparisons["ci-2core"]
    explained = explained_releases("2.14.1", "2.15.0", CASE, "aten::mm", (1.0, 1.1))
    write_explanations(project.results / "ci-2core", [explained])
    cases = compared_cases((CASE, CASE), (0.2, 0.1), machine="ci-2core")
    project.build({"ci-2core": (*stored, *released, *cases)})
    for pattern, kind in FILES.items():
        paths = sorted((project.html / "data").glob(pattern))
        assert paths, pattern
        for path in paths:
            _, data = registered(path)
            read: Any = msgspec.convert(data, kind, str_keys=True)
            assert json.loads(msgspec.json.encode(read)) == data, path
