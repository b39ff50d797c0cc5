"""The data of a case's page: its source, what else was measured of it, and its samples."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

import pytest

from asv_watch.records.records import Benchmark
from asv_watch.site.data_files import SAMPLES, description, measure_command
from tests.asv_watch.generator import Plan
from tests.asv_watch.site.conftest import (
    Project,
    case_of,
    labels_of,
    make_project,
    metric_of,
    registered,
)

CASE = "time_series.TimeSeries.time_forward('darnn', 'cpu')"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A history that stores forty samples of each timing."""
    plan = Plan(commits=14, machines=("ci-2core",), samples=40, unmeasured_commits=0.0)
    project = make_project(tmp_path_factory.mktemp("samples") / "it", plan)
    project.publish()
    return project


@pytest.fixture(scope="module")
def index(project: Project) -> Any:
    return json.loads((project.html / "index.json").read_text())


def test_the_samples_are_those_of_the_result_file(project: Project, index: Any) -> None:
    name = CASE.partition("(")[0]
    _, data = registered(project.html / "data" / "n" / f"{name}.js")
    (series,) = [
        entry
        for entry in data["series"]
        if case_of(index, index["series"][entry["s"]]) == CASE
        and "2.15.0" in index["environments"][index["series"][entry["s"]]["e"]]["label"]
    ]
    at, distances, count = series["runs"][-1]
    commit = index["commits"][at][0]
    (path,) = project.results.glob(f"*/{commit[:8]}-*2.15.0*.json")
    content = json.loads(path.read_text())
    row = dict(zip(content["result_columns"], content["results"][name], strict=False))
    stored = sorted(row["samples"][0])
    value = min(stored)
    assert count == len(stored) == 40
    assert len(distances) == SAMPLES
    published = [value * (1 + distance / 10_000) for distance in distances]
    assert published[0] == pytest.approx(stored[0], rel=1e-4)
    assert published[-1] == pytest.approx(stored[-1], rel=1e-4)
    for sample in published:
        assert min(abs(sample / entry - 1) for entry in stored) < 1e-4


def test_related_measurements_are_of_the_same_work_in_the_same_place(
    project: Project, index: Any
) -> None:
    _, data = registered(project.html / "data/c/time_series.TimeSeries.time_forward.js")
    seen = set()
    for own, others in data["related"].items():
        mine = index["series"][int(own)]
        for other in others:
            theirs = index["series"][other]
            assert (theirs["m"], theirs["e"]) == (mine["m"], mine["e"])
            for key in ("model", "device", "pass"):
                assert labels_of(index, theirs)[key] == labels_of(index, mine)[key]
            seen.add(metric_of(index, theirs)["label"])
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
