"""What a release changed, as the view of releases groups it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from asv_watch.comparison import DAY, Comparison
from tests.generator import Plan
from tests.planted_comparisons import (
    compared_releases,
    explained_releases,
    write_explanations,
)
from tests.site.conftest import Project, make_project, registered

SUITE = "time_series.TimeSeries"
TIMES = {
    f"{SUITE}.time_forward('darnn', 'cpu')": 0.8,
    f"{SUITE}.time_backward('darnn', 'cpu')": 1.0,
    f"{SUITE}.time_forward('lstnet', 'cpu')": 1.3,
}
GROWN = {case.replace("time_forward", "peakmem_forward"): 1.25 for case in TIMES if "forw" in case}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    plan = Plan(commits=4, steps=0, machines=("ci-2core",), machines_with_cuda=())
    return make_project(tmp_path / "it", plan)


def history_of(project: Project, memory: Mapping[str, float]) -> dict[str, Any]:
    """Publish a release that changed times and memory."""
    compared = compared_releases("2.14.1", "2.15.0", TIMES)
    if memory:
        compared += compared_releases("2.14.1", "2.15.0", memory, unit="bytes")
    project.build({"ci-2core": tuple(compared)})
    [history] = registered(project.html / "data/releases.js")[1]
    return dict(history)


def test_times_that_differ_are_listed_the_largest_first(project: Project) -> None:
    history = history_of(project, {})
    [step] = history["steps"]
    listed = [history["cases"][found["case"]]["key"] for found in step["differences"]]
    assert listed == sorted((c for c in TIMES if TIMES[c] != 1), key=TIMES.__getitem__)[::-1]
    assert {found["operator"] for found in step["differences"]} == {""}
    assert step["memory_text"] == ""


def test_a_small_difference_is_pale_until_two_days_show_it(project: Project) -> None:
    times = dict(zip(TIMES, (1.04, 1.15), strict=False))
    comparisons: list[Comparison] = []
    for day, days, pale, shades in ((0, "one day", True, "04"), (1, "2 of 2 days", False, "24")):
        at = 1_780_000_000 + day * DAY
        comparisons += compared_releases("2.14.1", "2.15.0", times, half=0.004, at=at)
        project.build({"ci-2core": tuple(comparisons)})
        [history] = registered(project.html / "data/releases.js")[1]
        small, large = history["steps"][0]["ratios"]
        assert [small["days"], large["days"]] == [days, days]
        assert [small["pale"], large["pale"]] == [pale, False]
        page = (project.html / "index.html").read_text()
        assert "".join(re.findall(r"tile worse shade-(\d)", page)) == shades


def test_times_of_one_operator_stand_together_under_its_name(project: Project) -> None:
    slow = f"{SUITE}.time_forward('lstnet', 'cpu')"
    explained = explained_releases("2.14.1", "2.15.0", slow, "aten::max_pool2d_", (1.0, 1.3))
    write_explanations(project.results / "ci-2core", [explained])
    [step] = history_of(project, {})["steps"]
    assert [found["operator"] for found in step["differences"]] == ["aten::max pool2d", ""]


def test_memory_that_moved_alike_is_one_line(project: Project) -> None:
    memory = GROWN | {f"{SUITE}.peakmem_backward('{m}', 'cpu')": 1.25 for m in ("darnn", "lstnet")}
    [step] = history_of(project, memory)["steps"]
    assert step["memory_text"].startswith("Peak memory: +25.0 % in 4 of 4 cases, up by ")
    assert len(step["memory_differences"]) == 4


def test_memory_that_moved_both_ways_is_only_counted(project: Project) -> None:
    cases = [f"{SUITE}.peakmem_backward('{m}', 'cpu')" for m in ("darnn", "lstnet")]
    memory = GROWN | dict.fromkeys(cases, 0.8)
    [step] = history_of(project, memory)["steps"]
    assert step["memory_text"] == "Peak memory: changed in 4 of 4 cases."
