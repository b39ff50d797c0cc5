"""What headline, badge, feed and index say of a published project in which something happened."""

import html
import json
import math
from pathlib import Path
from typing import Any

import pytest

from asv_watch.comparison import Comparison
from asv_watch.text import quantities
from tests.generator import ALL_OK, small_plan
from tests.planted_comparisons import compared_commits, store
from tests.site.conftest import (
    Project,
    case_of,
    make_project,
    parsed_xml,
)
from tests.stored import store_run

ATOM = "{http://www.w3.org/2005/Atom}"
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
    index = json.loads((project.html / "index.json").read_text())
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
