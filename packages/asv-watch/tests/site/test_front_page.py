"""What the first screen says of releases, and how fast its subjects are."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import msgspec
import pytest

from asv_watch.comparison import DAY, Comparison
from asv_watch.errors import WatchError
from asv_watch.site.front_page import Overview, front_page
from asv_watch.site.speeds import PublishedValue, speed_table
from asv_watch.statistics.rule import Verdict
from tests.generator import ALL_OK, TIME_AND_MEMORY, Plan, Suite
from tests.making import LAYOUT
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


def front_of(
    project: Project, comparisons: Mapping[str, tuple[Comparison, ...]]
) -> tuple[Overview, Any]:
    return front_page(project.contents(comparisons))


def history_of(project: Project, memory: Mapping[str, float]) -> dict[str, Any]:
    """Publish a release that changed times and memory."""
    compared = compared_releases("2.14.1", "2.15.0", TIMES)
    if memory:
        compared += compared_releases("2.14.1", "2.15.0", memory, unit="bytes")
    project.build({"ci-2core": tuple(compared)})
    [history] = registered(project.html / "data/releases.js")[1]
    return dict(history)


def test_differences_of_a_release_have_their_operator_where_a_profile_shows_it(
    project: Project,
) -> None:
    slow = f"{SUITE}.time_forward('lstnet', 'cpu')"
    explained = explained_releases("2.14.1", "2.15.0", slow, "aten::max_pool2d_", (1.0, 1.3))
    write_explanations(project.results / "ci-2core", [explained])
    history = history_of(project, GROWN)
    [step] = history["steps"]
    grown = [ratio["verdict"] for ratio in step["ratios"] if ratio["metric"] == "memory"]
    assert grown == ["worse"] * len(GROWN)
    operators = {
        history["cases"][ratio["case"]]["key"]: ratio["cause"]
        for ratio in step["ratios"]
        if ratio["verdict"] != "same" and ratio["metric"] == "time"
    }
    assert operators == {slow: "aten::max pool2d", next(iter(TIMES)): ""}


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


def test_the_first_screen_names_what_lasts_and_not_what_went_away(project: Project) -> None:
    """2.9.1 was slow in one case; 2.10.0 is as fast as 2.8.0 in it, and slow in another."""
    back, lasting, *_ = TIMES
    compared = [
        *compared_releases("2.8.0", "2.9.1", {back: 1.5, lasting: 1.2}),
        *compared_releases("2.9.1", "2.10.0", {back: 1 / 1.5, lasting: 1.0}),
    ]
    overview, grid = front_of(project, {"ci-2core": tuple(compared)})
    [sentence] = overview.lasting
    assert (sentence.size, sentence.verdict) == ("20 % longer", Verdict.WORSE)
    assert sentence.after == " than with torch 2.8.0 on ci-2core."
    assert "+20.0 % by torch 2.9.1" in sentence.why
    assert overview.title == "torch 2.10.0 made 1 of 2 cases faster, on ci-2core."
    [group] = grid["groups"]
    cells = {row["title"]: [c and c["text"] for c in row["cells"]] for row in group["rows"]}
    assert sorted(cells.values()) == [["+20", ""], ["+50", "−33"]]
    totals = {row["title"]: row["total"]["verdict"] for row in group["rows"]}
    assert sorted(totals.values()) == ["same", "worse"]


def test_a_row_of_the_heat_map_is_of_the_machine_that_compared_it_most(tmp_path: Path) -> None:
    plan = Plan(commits=2, steps=0, machines=("once", "often"), machines_with_cuda=())
    project = make_project(tmp_path / "it", plan)
    [case, *_] = TIMES
    often = [
        *compared_releases("2.8.0", "2.9.1", {case: 1.1}, machine="often"),
        *compared_releases("2.9.1", "2.10.0", {case: 1.1}, machine="often"),
    ]
    once = compared_releases("2.9.1", "2.10.0", {case: 1.4}, machine="once")
    _, grid = front_of(project, {"often": tuple(often), "once": tuple(once)})
    [row] = grid["groups"][0]["rows"]
    assert row["machine"] == "often"
    assert [cell["text"] for cell in row["cells"]] == ["+10", "+10"]


def test_speeds_are_of_one_machine_a_device_and_the_fastest_case_of_a_level(
    tmp_path: Path,
) -> None:
    params = {"model": ("darnn",), "device": ("cpu", "cuda")}
    threads = {**params, "threads": (1, 4, "all")}
    suites = (
        Suite("plain.PlainModels", TIME_AND_MEMORY, params),
        Suite("batches.Batches", TIME_AND_MEMORY, threads),
    )
    plan = Plan(
        commits=2, suites=suites, machines_without_cpu=("gpu-lab",), steps=0,
        unmeasured_commits=0.0, **ALL_OK,
    )  # fmt: skip
    project = make_project(tmp_path / "it", plan)
    levels = {"plain": r"^plain\.", "compiled": "'compiled'", "threads": r"^batches\."}
    contents = replace(project, layout=msgspec.structs.replace(LAYOUT, levels=levels)).contents()
    others = [
        PublishedValue(
            "plain.PlainModels.time_forward('darnn', 'cuda')", 39.7, "seconds", "somebody", ""
        )
    ]
    drawn = speed_table(contents, others)
    assert drawn is not None
    columns = {column["name"]: column["where"].split(",")[0] for column in drawn["columns"]}
    assert columns == {
        "cpu plain": "ci-2core", "cpu threads": "ci-2core",
        "cuda plain": "gpu-lab", "cuda threads": "gpu-lab",
    }  # fmt: skip
    release = drawn["columns"][1]["where"].split(", ")[1]
    newest = {
        row.series.case.name: row.last[1].value
        for row in contents.series
        if row.last and str(row.environment.release) == release
    }
    forward, backward = drawn["rows"]
    assert forward["subject"] == "darnn · forward"
    best = min(
        (name for name in newest if re.match(r"batches.*time_forward.*'cpu'", name)),
        key=newest.__getitem__,
    )
    assert parse_qs(forward["cells"][1]["href"].partition("?")[2])["s"] == [best]
    assert forward["published"] == [{"text": "39.7 s", "tip": "somebody"}]
    assert backward["published"] == []
    assert re.fullmatch(r"[\d.]+×", forward["versus"])


def test_levels_are_none_or_patterns(project: Project) -> None:
    assert speed_table(project.contents(), []) is None
    wrong = replace(project, layout=msgspec.structs.replace(LAYOUT, levels={"fast": "("}))
    with pytest.raises(WatchError, match='"fast" of "levels"'):
        speed_table(wrong.contents(), [])
