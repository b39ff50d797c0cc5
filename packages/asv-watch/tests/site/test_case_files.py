"""The data of a case's page: its source, and what else was measured of it."""

import json
import re
import shlex
from typing import Any

import pytest

from asv_watch.records.records import Benchmark
from asv_watch.site.data_files import description, measure_command
from tests.generator import Plan
from tests.site.conftest import (
    Project,
    labels_of,
    make_project,
    metric_of,
    registered,
)

CASE = "time_series.TimeSeries.time_forward('darnn', 'cpu')"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    plan = Plan(commits=14, machines=("ci-2core",), unmeasured_commits=0.0)
    project = make_project(tmp_path_factory.mktemp("case-files") / "it", plan)
    project.build()
    return project


@pytest.fixture(scope="module")
def index(project: Project) -> Any:
    return json.loads((project.html / "index.json").read_text())


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
