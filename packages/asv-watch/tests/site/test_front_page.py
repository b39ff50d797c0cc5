"""What the first screen, feed and badge say of releases and commits, and how fast subjects are."""

import html
import json
import math
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
from asv_watch.text import quantities
from tests.generator import ALL_OK, TIME_AND_MEMORY, Plan, Suite, small_plan
from tests.making import LAYOUT
from tests.planted_comparisons import (
    compared_commits,
    compared_releases,
    explained_releases,
    store,
    write_explanations,
)
from tests.site.conftest import ATOM, Project, case_of, make_project, parsed_xml
from tests.stored import store_run

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
    [history] = project.data("releases")
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
        [history] = project.data("releases")
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


CASE = "time_series.TimeSeries.time_forward('tpa_lstm', 'cpu')"


@pytest.fixture
def quiet(tmp_path: Path) -> Project:
    """A project in which nothing happens: 24 commits, 1 % of noise."""
    return make_project(tmp_path / "it", small_plan(24, steps=0, spikes=0.0, **ALL_OK))


def newest_files(project: Project, count: int) -> list[Path]:
    """The result files of the newest commits, the newest last."""
    return [
        path
        for commit in project.generated.measured[-count:]
        for path in project.results.glob(f"*/{commit[:8]}-*.json")
    ]


def change_row(path: Path, factor: float | None, case: str = CASE) -> None:
    """Multiply a stored value of a case and what describes it; ``None`` removes the value."""
    content = json.loads(path.read_text())
    row = content["results"][case.partition("(")[0]]
    index = 6  # tpa_lstm is the fourth of four models, the CPU the first of two devices
    for column, name in enumerate(content["result_columns"][: len(row)]):
        cell = row[column]
        if not isinstance(cell, list) or not (name == "result" or name.startswith("stats_")):
            continue
        if name in {"stats_number", "stats_repeat"} or cell[index] is None:
            continue
        cell[index] = None if factor is None else cell[index] * factor
    path.write_text(json.dumps(content))


def published(project: Project) -> tuple[dict[str, Any], str, list[str], str]:
    """The index, the headline, the titles of the feed, and the badge's text."""
    project.build()
    index = project.index
    page = html.unescape((project.html / "index.html").read_text())
    headline = index["overview"]["headline"]
    assert headline in page.split('<h1 id="overview-title">')[1]
    feed = parsed_xml((project.html / "feed.xml").read_bytes())
    titles = [entry.findtext(f"{ATOM}title") or "" for entry in feed.iter(f"{ATOM}entry")]
    badge = (project.html / "badge.svg").read_text()
    return index, headline, titles, badge.split("<title>speed: ")[1].split("</title>")[0]


def test_a_doubled_time_of_separate_runs_is_suspected_and_nothing_more(
    quiet: Project,
) -> None:
    for path in newest_files(quiet, 2):
        change_row(path, 2.0)
    index, words, titles, badge = published(quiet)
    (change,) = index["changes"]
    assert case_of(index, index["series"][change["s"]]) == CASE
    assert index["series"][change["s"]]["change"] == 0
    assert (change["state"], change["ratio"], change["interval"]) == ("suspected", None, None)
    assert change["about"] == pytest.approx(2.0, rel=0.05)
    assert index["commits"][change["c"]][0] == quiet.generated.measured[-2]
    assert words == "None of the newest 10 measured commits was compared with an earlier one."
    assert titles == []
    assert badge == "not compared"
    span = index["ranges"][change["range"]]
    assert span["command"].startswith("git log --oneline ")
    assert span["diff"].startswith("https://example.org/torchspeed/compare/")
    assert [commit[0] for commit in span["commits"]] == [index["commits"][change["c"]][0]]


def test_a_false_alarm_that_a_person_noted_is_hidden_and_listed_as_left_out(
    quiet: Project,
) -> None:
    for path in newest_files(quiet, 2):
        change_row(path, 2.0)
    commit = quiet.generated.measured[-2]
    (quiet.results / "notes.toml").write_text(
        f'[[change]]\ncommit = "{commit}"\nkind = "false alarm"\n'
        'text = "A backup ran"\nby = "Ann"\n'
    )
    index, *_ = published(quiet)
    assert index["changes"] == []
    page = (quiet.html / "index.html").read_text()
    assert "Left out: 1 reason" in page
    assert "false alarm, by Ann: A backup ran" in page


def test_a_fall_of_memory_by_a_fifth_is_suspected_at_once(quiet: Project) -> None:
    memory = CASE.replace("time_forward", "peakmem_forward")
    [newest] = newest_files(quiet, 1)
    change_row(newest, 0.8, memory)
    (change,) = published(quiet)[0]["changes"]
    assert (change["kind"], change["state"], change["verdict"]) == (
        "memory",
        "suspected",
        "better",
    )
    assert change["about"] == pytest.approx(0.8, rel=0.01)


def test_a_comparison_puts_a_change_on_the_first_screen_the_feed_and_the_badge(
    quiet: Project,
) -> None:
    before, after = quiet.generated.measured[-2:]
    store(quiet.results, compared_commits((before, after), {CASE: 1.06}))
    index, words, titles, badge = published(quiet)
    (change,) = index["changes"]
    assert (change["state"], change["kind"], change["ratio"]) == ("measured", "time", 1.06)
    ends = [index["commits"][change[end]][0] for end in ("p", "c")]
    assert ends == [before, after]
    assert change["text"] == "+6.0 %"
    assert words == (
        "The newest 10 measured commits made 1 case slower. 9 of them were not compared."
    )
    [sentence] = index["overview"]["lasting"]
    assert sentence["size"] == "6.0 % longer"
    assert sentence["after"] == f" than at {before[:8]} on ci-2core."
    interval = quantities.interval(change["interval"])
    assert sentence["why"].startswith(
        f"6.0 % longer: {interval}, with 99 % confidence; +6.0 % by {after[:8]}"
    )
    [title] = titles
    assert title.startswith(f"tpa_lstm · cpu · forward: worse, {change['text']} ({interval})")
    assert badge == "1 worse"


def test_a_change_that_an_older_commit_may_have_made_is_not_put_to_the_newest_ones(
    quiet: Project,
) -> None:
    before, after = quiet.generated.measured[-12], quiet.generated.measured[-1]
    store(quiet.results, compared_commits((before, after), {CASE: 1.05}))
    index, words, titles, badge = published(quiet)
    assert [change["state"] for change in index["changes"]] == ["measured"]
    assert words == (
        "The newest 10 measured commits changed nothing that a comparison could show."
    )
    assert len(titles) == 1
    assert badge == "no change"


def test_a_failure_is_named_by_its_exception_and_its_text_is_kept(quiet: Project) -> None:
    (newest,) = newest_files(quiet, 1)
    change_row(newest, None)
    message = "For parameters: 'b'\nTraceback (most recent call last):\nRuntimeError: 3 features"
    failed = Comparison(CASE, 1_790_000_000, failed={0: message})
    content = json.loads(newest.read_text())
    store_run(
        quiet.results,
        failed,
        commit=content["commit_hash"],
        of_machine="ci-2core",
        environment=newest.stem.partition("-")[2],
    )
    index, *_ = published(quiet)
    (series,) = [entry for entry in index["series"] if case_of(index, entry) == CASE]
    assert series["reason"] == "RuntimeError: 3 features"
    assert index["texts"][series["text"]] == message
    assert index["newest_runs"][0]["failed"] == 1


def test_the_page_counts_the_cases_of_the_newest_commit_of_each_machine(
    quiet: Project,
) -> None:
    (newest,) = newest_files(quiet, 1)
    desk = quiet.results / "desk"
    desk.mkdir()
    machine = json.loads((newest.parent / "machine.json").read_text())
    (desk / "machine.json").write_text(json.dumps(machine | {"machine": "desk"}))
    content = json.loads(newest.read_text())
    content["params"]["machine"] = "desk"
    content["results"] = dict([next(iter(content["results"].items()))])
    (desk / newest.name).write_text(json.dumps(content))
    newest.unlink()
    index, *_ = published(quiet)
    [row] = content["results"].values()
    ran = [value for value in row[0] if not math.isnan(value)]  # NaN: skipped
    runs = {index["machines"][run["m"]]["name"]: run for run in index["newest_runs"]}
    assert next(iter(runs)) == "ci-2core"
    assert (runs["desk"]["ran"], runs["desk"]["failed"]) == (len(ran), 0)
