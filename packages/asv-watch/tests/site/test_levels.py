"""How fast each subject is at each declared level, as dots on one axis."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest

from asv_watch.errors import WatchError
from asv_watch.site.case_table import case_table
from asv_watch.site.levels import level_charts
from tests.generator import ALL_OK, TIME_AND_MEMORY, Plan, Suite, small_plan
from tests.making import LAYOUT
from tests.site.conftest import Project, make_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    params = {"model": ("darnn", "lenet5"), "device": ("cpu", "cuda"), "mode": ("eager", "fast")}
    suite = Suite("modes.Modes", TIME_AND_MEMORY, params)
    machines = ("ci-2core",)
    plan = Plan(
        commits=3, suites=(suite,), machines=machines, machines_with_cuda=machines, steps=0
    )
    return make_project(tmp_path / "it", plan)


def charts_of(
    project: Project, published: Sequence[Any] = (), **levels: str
) -> dict[str, Any] | None:
    declared = msgspec.structs.replace(LAYOUT, levels=levels)
    contents = replace(project, layout=declared).contents()
    return level_charts(contents, case_table(contents), published)


def test_each_pass_has_a_chart_with_a_line_for_each_device(project: Project) -> None:
    drawn = charts_of(project, eager="'eager'", fast="'fast'")
    assert drawn is not None
    assert [chart["name"] for chart in drawn["charts"]] == ["forward", "backward"]
    for chart in drawn["charts"]:
        assert [row["subject"] for row in chart["rows"]] == ["darnn", "lenet5"]
        for row in chart["rows"]:
            assert [len(line["dots"]) for line in row["lines"]] == [2, 2]
            positions = [dot["x"] for line in row["lines"] for dot in line["dots"]]
            assert all(0 < position < 100 for position in positions)
            assert re.fullmatch(
                r"\w+ \((eager|fast)\) [\d.]+× as fast as \w+ \((eager|fast)\)", row["versus"]
            )


def test_a_dot_stands_further_right_the_longer_its_case_takes(project: Project) -> None:
    drawn = charts_of(project, eager="'eager'", fast="'fast'")
    assert drawn is not None
    dots = []
    for chart in drawn["charts"]:
        for line in (line for row in chart["rows"] for line in row["lines"]):
            for dot in line["dots"]:
                number, unit = dot["tip"].partition(": ")[2].split()[:2]
                dots.append((dot["x"], float(number) * {"µs": 1e-6, "ms": 1e-3}[unit]))
    assert len(dots) == 16
    assert sorted(dots) == sorted(dots, key=lambda dot: dot[1])


def test_a_project_without_levels_has_no_such_chart(project: Project) -> None:
    assert charts_of(project) is None


def test_a_pattern_that_is_none_is_named(project: Project) -> None:
    with pytest.raises(WatchError, match='"fast" of "levels"'):
        charts_of(project, fast="(")


def test_a_gpu_of_another_machine_has_its_line_with_what_others_published(tmp_path: Path) -> None:
    params = {"model": ("darnn",), "device": ("cpu", "cuda")}
    modes = {**params, "mode": ("compiled", "cudagraph")}
    suites = (
        Suite("plain.PlainModels", TIME_AND_MEMORY, params),
        Suite("modes.Modes", TIME_AND_MEMORY, modes),
    )
    plan = Plan(
        commits=2, suites=suites, machines_without_cpu=("gpu-lab",), steps=0,
        unmeasured_commits=0.0, **ALL_OK,
    )  # fmt: skip
    by_others = [
        {"case": f"plain.PlainModels.time_forward('darnn', '{device}')", "value": seconds,
         "unit": "seconds", "source": "somebody", "note": ""}
        for device, seconds in (("cuda", 39.7), ("nowhere", 1.0))
    ]  # fmt: skip
    levels = {"plain": r"^plain\.", "compiled": "'compiled'", "graph": "'cudagraph'"}
    drawn = charts_of(make_project(tmp_path / "it", plan), by_others, **levels)
    assert drawn is not None
    machines = {line["name"]: line["machine"] for line in drawn["lines"]}
    assert machines == {"cpu": "ci-2core", "cuda": "gpu-lab"}
    cpu, cuda = drawn["charts"][0]["rows"][0]["lines"]
    assert [dot["level"] for dot in cuda["dots"]] == [0, 1, 2]
    assert cpu["published"] == []
    [mark] = cuda["published"]
    assert "somebody" in mark["tip"]
    assert mark["x"] > max(dot["x"] for dot in cuda["dots"])


def test_of_several_cases_of_a_level_the_fastest_counts_and_an_empty_level_is_left_out(
    tmp_path: Path,
) -> None:
    params = {"model": ("darnn", "lenet5"), "device": ("cpu",)}
    threads = {**params, "threads": (1, 4, "all")}
    suites = (
        Suite("plain.PlainModels", TIME_AND_MEMORY, params),
        Suite("batches.Batches", TIME_AND_MEMORY, threads),
    )
    project = make_project(tmp_path / "it", small_plan(2, suites=suites, steps=0, **ALL_OK))
    levels = {"plain": r"^plain\.", "compiled": "'compiled'", "threads": r"^batches\."}
    drawn = charts_of(project, **levels)
    assert drawn is not None
    assert drawn["title"] == "How fast each model is: plain → threads"
    assert drawn["levels"] == [{"number": 0, "name": "plain"}, {"number": 2, "name": "threads"}]
    newest = {
        row.series.case.name: row.last[1].value for row in project.contents().series if row.last
    }
    for chart in drawn["charts"]:
        for row in chart["rows"]:
            [line] = row["lines"]
            [best] = [dot["href"] for dot in line["dots"] if dot["level"] == 2]
            start = f"batches.Batches.time_{chart['name']}({row['subject']!r},"
            of_this = [name for name in newest if name.startswith(start)]
            assert len(of_this) == 3
            assert best == f"#/case?{urlencode({'s': min(of_this, key=newest.__getitem__)})}"


def test_a_gpu_is_also_compared_with_the_cpu_of_its_own_machine(tmp_path: Path) -> None:
    params = {"model": ("darnn",), "device": ("cpu", "cuda")}
    suites = (
        Suite("plain.PlainModels", TIME_AND_MEMORY, params),
        Suite("tuned.TunedModels", TIME_AND_MEMORY, params),
    )
    plan = Plan(commits=2, suites=suites, steps=0, unmeasured_commits=0.0, **ALL_OK)
    drawn = charts_of(make_project(tmp_path / "it", plan), plain=r"^plain\.", tuned=r"^tuned\.")
    assert drawn is not None
    machines = {line["name"]: line["machine"] for line in drawn["lines"]}
    assert machines == {"cpu": "ci-2core", "cuda": "gpu-lab"}
    ratio = r"\w+ \(\w+\) [\d.]+× as fast as \w+ \(\w+\)"
    for chart in drawn["charts"]:
        [row] = chart["rows"]
        assert re.fullmatch(f"{ratio}; on gpu-lab alone, {ratio}", row["versus"])
