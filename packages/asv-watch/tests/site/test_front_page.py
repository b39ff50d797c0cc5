"""What the first screen, feed and badge say of releases and commits, and how fast subjects are."""

import html
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import msgspec
import pytest

from asv_watch.comparison import DAY, Comparison
from asv_watch.errors import WatchError
from asv_watch.site import change_data
from asv_watch.site.front_page import front_page
from asv_watch.site.speeds import PublishedValue, speed_table
from asv_watch.statistics.rule import Verdict
from asv_watch.text import quantities
from tests.generator import ALL_OK, TIME_AND_MEMORY, Plan, Suite, small_plan
from tests.making import LAYOUT
from tests.planted_comparisons import compared_commits, compared_releases, store
from tests.site.conftest import ATOM, Project, case_of, make_project, parsed_xml
from tests.stored import store_run

CASE = "time_series.TimeSeries.time_forward('tpa_lstm', 'cpu')"
OTHER = CASE.replace("forward", "backward")


@pytest.fixture
def quiet(tmp_path: Path) -> Project:
    """A project in which nothing happens: 24 commits, 1 % of noise."""
    return make_project(tmp_path / "it", small_plan(24, steps=0, spikes=0.0, **ALL_OK))


def test_a_small_difference_is_pale_until_two_days_show_it(quiet: Project) -> None:
    for day, days, pale, shades in ((0, "one day", True, "04"), (1, "2 of 2 days", False, "24")):
        at = 1_780_000_000 + day * DAY
        ratios = {CASE: 1.0404567, OTHER: 1.15}
        store(quiet.results, compared_releases("2.14.1", "2.15.0", ratios, half=0.004, at=at))
        quiet.build()
        [history] = quiet.data("releases")
        small, large = history["steps"][0]["ratios"]
        assert [small["days"], large["days"]] == [days, days]
        assert [small["pale"], large["pale"]] == [pale, False]
        [pairs] = quiet.data("release-pairs")
        assert [pairs[case][0][-1] for case in ratios] == [pale, False]
        assert small["ratio"] == pairs[CASE][0][2] == 1.040457, "a tenth of a per cent is exact"
        page = (quiet.html / "index.html").read_text()
        assert "".join(re.findall(r"tile worse shade-(\d)", page)) == shades
    assert {case["key"] for case in quiet.index["cases"] if case["compared"]} == {CASE, OTHER}


def test_the_first_screen_names_what_lasts_and_not_what_went_away(quiet: Project) -> None:
    """2.9.1 was slow in one case; 2.10.0 is as fast as 2.8.0 in it, and slow in another."""
    store(quiet.results, compared_releases("2.8.0", "2.9.1", {OTHER: 1.5, CASE: 2.2}))
    store(quiet.results, compared_releases("2.9.1", "2.10.0", {OTHER: 1 / 1.5, CASE: 1.0}))
    over_many = compared_releases("2.7.1", "2.10.0", {CASE: 1.5}, machine="another")
    store(quiet.results, over_many)  # which says nothing of 2.10.0 alone
    overview, grid = front_page(quiet.contents())
    assert grid is not None
    [sentence] = overview.lasting
    assert (sentence.size, sentence.verdict) == ("2.2 times as long", Verdict.WORSE)
    assert sentence.after == " as with torch 2.8.0 on ci-2core."
    assert "2.2 times as long by torch 2.9.1" in sentence.why
    assert overview.title == "torch 2.10.0 made 1 of 2 cases faster, on ci-2core."
    [group] = grid["groups"]
    cells = [[c and (c["text"], c["verdict"]) for c in row["cells"]] for row in group["rows"]]
    assert sorted(cells) == [
        [("+50", "worse"), ("−33", "better")],
        [("2.2×", "worse"), ("", "same")],
    ]
    totals = {row["title"]: row["total"]["verdict"] for row in group["rows"]}
    assert sorted(totals.values()) == ["same", "worse"]


def test_a_row_of_the_heat_map_is_of_the_machine_that_compared_it_most(quiet: Project) -> None:
    for before, after in (("2.8.0", "2.9.1"), ("2.9.1", "2.10.0")):
        store(quiet.results, compared_releases(before, after, {CASE: 1.1}, machine="often"))
    store(quiet.results, compared_releases("2.9.1", "2.10.0", {CASE: 1.4}))
    _, grid = front_page(quiet.contents())
    assert grid is not None
    [row] = grid["groups"][0]["rows"]
    assert row["machine"] == "often"
    assert [cell["text"] for cell in row["cells"]] == ["+10", "+10"]


def test_speeds_are_of_one_machine_a_device_and_the_fastest_case(tmp_path: Path) -> None:
    params = {"model": ("darnn",), "device": ("cpu", "cuda")}
    suites = (
        Suite("plain.PlainModels", TIME_AND_MEMORY, params),
        Suite("batches.Batches", TIME_AND_MEMORY, params | {"threads": (1, 4, "all")}),
    )
    plan = Plan(
        commits=2, suites=suites, machines_without_cpu=("gpu-lab",), steps=0,
        torch_pairs=(("2.15.0", "0.29.2"),), unmeasured_commits=0.0, **ALL_OK,
    )  # fmt: skip
    project = make_project(tmp_path / "it", plan)
    levels = {"plain": r"^plain\.", "compiled": "'compiled'", "threads": r"^batches\."}
    contents = replace(project, layout=msgspec.structs.replace(LAYOUT, levels=levels)).contents()
    case = "plain.PlainModels.time_forward('darnn', 'cuda')"
    drawn = speed_table(contents, [PublishedValue(case, 39.7, "somebody")])
    assert drawn is not None
    columns = {column["name"]: column["where"] for column in drawn["columns"]}
    assert columns == {
        f"{device} {level}": f"{machine}, torch 2.15.0"
        for device, machine in (("cpu", "ci-2core"), ("cuda", "gpu-lab"))
        for level in ("plain", "threads")
    }
    forward, backward = drawn["rows"]
    assert forward["subject"] == "darnn · forward"
    newest = {row.series.case.name: row.last[1].value for row in contents.series if row.last}
    best = min(
        (name for name in newest if re.match(r"batches.*time_forward.*'cpu'", name)),
        key=newest.__getitem__,
    )
    assert parse_qs(forward["cells"][1]["href"].partition("?")[2])["s"] == [best]
    assert forward["published"] == [{"text": "39.7 s", "tip": "somebody"}]
    assert backward["published"] == []
    assert re.fullmatch(r"[\d.]+×", forward["versus"])
    wrong = replace(project, layout=msgspec.structs.replace(LAYOUT, levels={"fast": "("}))
    with pytest.raises(WatchError, match='"fast" of "levels"'):
        speed_table(wrong.contents(), [])


def newest_files(project: Project, count: int) -> list[Path]:
    """The result files of the newest commits, the newest last."""
    commits = project.generated.measured[-count:]
    return [path for each in commits for path in project.results.glob(f"*/{each[:8]}-*.json")]


def change_value(path: Path, factor: float | None, case: str = CASE) -> None:
    """Multiply the stored value of a case; ``None`` removes it."""
    content = json.loads(path.read_text())
    values = content["results"][case.partition("(")[0]][0]
    # tpa_lstm is the fourth of four models, the CPU the first of two devices.
    values[6] = None if factor is None else values[6] * factor
    path.write_text(json.dumps(content))


def published(project: Project) -> tuple[dict[str, Any], str, list[str], str]:
    """The index, the headline, the titles of the feed, and the badge's text."""
    project.build()
    index = project.index
    page = html.unescape((project.html / "index.html").read_text())
    headline = index["overview"]["headline"]
    assert headline in page.split('<h1 id="overview-title">')[1]
    feed = parsed_xml(project.html / "feed.xml")
    titles = [entry.findtext(f"{ATOM}title") or "" for entry in feed.iter(f"{ATOM}entry")]
    badge = (project.html / "badge.svg").read_text()
    return index, headline, titles, badge.split("<title>speed: ")[1].split("</title>")[0]


def test_a_change_of_separate_runs_is_suspected_until_a_note_denies_it(quiet: Project) -> None:
    before, newest = newest_files(quiet, 2)
    change_value(before, 2.0)
    change_value(newest, 2.0)
    change_value(newest, 0.8, CASE.replace("time_forward", "peakmem_forward"))
    index, words, titles, badge = published(quiet)
    memory, change = index["changes"]
    facts = memory["kind"], memory["state"], memory["verdict"]
    assert facts == ("memory", "suspected", "better")
    assert case_of(index, index["series"][change["s"]]) == CASE
    assert index["series"][change["s"]]["change"] == 1
    assert (change["state"], change["ratio"], change["interval"]) == ("suspected", None, None)
    assert change["about"] == pytest.approx(2.0, rel=0.05)
    commit = quiet.generated.measured[-2]
    assert index["commits"][change["c"]][0] == commit
    assert words == "None of the newest 10 measured commits was compared with an earlier one."
    assert titles == []
    assert badge == "not compared"
    span = index["ranges"][change["range"]]
    assert span["command"].startswith("git log --oneline ")
    assert span["diff"].startswith("https://example.org/torchspeed/compare/")
    assert [each[0] for each in span["commits"]] == [commit]
    (quiet.results / "notes.toml").write_text(
        f'[[change]]\ncommit = "{commit}"\nkind = "false alarm"\n'
        'text = "A backup ran"\nby = "Ann"\n'
    )
    assert [each["kind"] for each in published(quiet)[0]["changes"]] == ["memory"]
    page = (quiet.html / "index.html").read_text()
    assert "Left out: 1 reason" in page
    assert "false alarm, by Ann: A backup ran" in page


def test_a_measured_change_is_on_the_first_screen_the_feed_and_the_badge(quiet: Project) -> None:
    before, after = quiet.generated.measured[-2:]
    store(quiet.results, compared_commits((before, after), {CASE: 1.06}))
    index, words, titles, badge = published(quiet)
    (change,) = index["changes"]
    assert (change["state"], change["kind"], change["ratio"]) == ("measured", "time", 1.06)
    assert [index["commits"][change[end]][0] for end in ("p", "c")] == [before, after]
    assert change["text"] == "+6.0 %"
    assert words.startswith("The newest 10 measured commits made 1 case slower. 9 of them were")
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


def test_a_change_of_an_older_commit(quiet: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = quiet.generated.measured[-12], quiet.generated.measured[-1]
    store(quiet.results, compared_commits((before, after), {CASE: 1.05}))
    index, words, titles, badge = published(quiet)
    assert [change["state"] for change in index["changes"]] == ["measured"]
    assert words.startswith("The newest 10 measured commits changed nothing that a comparison")
    assert len(titles) == 1
    assert badge == "no change"
    contents = quiet.contents()
    ancestry = replace(contents.ancestry, touching=[quiet.generated.measured[-3]])
    monkeypatch.setattr(change_data, "RANGE_COMMITS", 1)
    *_, [span] = change_data.change_data(msgspec.structs.replace(contents, ancestry=ancestry), "")
    assert [each[0] for each in span.commits] == [after], "whose day is shown"


def test_a_failure_is_named_by_its_exception_and_its_text_is_kept(quiet: Project) -> None:
    (newest,) = newest_files(quiet, 1)
    change_value(newest, None)
    message = "For parameters: 'b'\nTraceback (most recent call last):\nRuntimeError: 3 features"
    failed = Comparison(CASE, 1_790_000_000, failed={0: message})
    commit, environment = quiet.generated.measured[-1], newest.stem.partition("-")[2]
    store_run(quiet.results, failed, commit=commit, of_machine="ci-2core", environment=environment)
    index, *_ = published(quiet)
    (series,) = [entry for entry in index["series"] if case_of(index, entry) == CASE]
    assert series["reason"] == "RuntimeError: 3 features"
    assert index["texts"][series["text"]] == message
    assert index["newest_runs"][0]["failed"] == 1


def test_the_cases_of_the_newest_commit_of_each_machine_are_counted(quiet: Project) -> None:
    (newest,) = newest_files(quiet, 1)
    newest.unlink()
    commit, environment = quiet.generated.measured[-1], newest.stem.partition("-")[2]
    cases = Comparison(CASE, 6, rounds=((0.01,),)), Comparison(OTHER, 6, skipped={0: "no GPU"})
    store_run(quiet.results, *cases, commit=commit, of_machine="desk", environment=environment)
    index, *_ = published(quiet)
    runs = {index["machines"][run["m"]]["name"]: run for run in index["newest_runs"]}
    assert next(iter(runs)) == "ci-2core"
    assert (runs["desk"]["ran"], runs["desk"]["failed"]) == (1, 0)
