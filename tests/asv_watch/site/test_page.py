"""What a reader without JavaScript reads on the page, and that nothing is coloured in vain."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from asv_watch.judge.changes import Change, State
from asv_watch.judge.detectable import Detectable
from asv_watch.judge.findings import Findings
from asv_watch.judge.release_history import release_histories
from asv_watch.quantities import quantity
from asv_watch.records.comparisons import CaseRatio, Header, StoredComparison, Version
from asv_watch.records.history import History
from asv_watch.records.notes import ChangeNote
from asv_watch.records.records import Benchmark, LeftOut, Problem, Record
from asv_watch.site.answers import answers_of
from asv_watch.site.contents import contents_of
from asv_watch.site.layout import layout_of
from asv_watch.site.pages import render_page
from tests.asv_watch.planted_releases import compared_releases
from tests.asv_watch.site.handmade import HOSTILE, PROJECT, handmade


def render(history: History, findings: Findings) -> str:
    contents = contents_of(history, findings)
    page = render_page(
        contents,
        answers_of(contents),
        generated=1_760_000_000,
        project=PROJECT,
        regressions=(),
    )
    return page.decode()


def section(page: str, name: str) -> str:
    return page.split(f'data-view="{name}" aria-labelledby')[1].split("<section", maxsplit=1)[0]


@pytest.fixture(scope="module")
def page() -> str:
    return render(*handmade())


def words(markup: str) -> str:
    """The text of some markup, spaces drawn together."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def test_every_newest_value_is_on_the_overview(page: str) -> None:
    history, _ = handmade()
    text = words(section(page, "overview"))
    for series in history.series:
        if series.values:
            newest = list(series.values.values())[-1]
            assert quantity(newest, series.unit) in text


def test_only_series_that_moved_carry_a_change(page: str) -> None:
    history, findings = handmade()
    cells = re.findall(r'<a class="cell.*?</a>', section(page, "overview"), re.DOTALL)
    assert len(cells) == sum(bool(series.values) for series in history.series)
    marked = [cell for cell in cells if 'class="change' in cell]
    assert len(marked) == len({change.series for change in findings.changes})
    for cell in marked:
        assert ("✓" in cell) == (' better"' in cell)
        assert ("✗" in cell) == (' worse"' in cell)


def test_old_news_is_grey() -> None:
    history, findings = handmade()
    old = tuple(replace(change, commit=10, previous=9) for change in findings.changes)
    page = render(history, replace(findings, changes=old))
    assert 'class="change old measured"' in page
    assert 'class="change worse' not in page


def card(page: str, question: str) -> str:
    """The words of the card that asks so."""
    return next(
        text for text in map(words, page.split('<li class="card">')[1:]) if question in text
    )


def test_the_slowest_model_is_named_with_its_figures(page: str) -> None:
    history, _ = handmade()
    newest = {
        series.case.labels["pass"]: list(series.values.values())[-1]
        for series in history.series
        if series.case.labels.get("model") == "vgg19"
        and series.case.labels.get("batch") == "10"
        and series.case.labels["metric"] == "time"
        and series.environment.endswith("2.15.0")
        and series.values
    }
    text = card(page, "slowest on the CPU?")
    assert "vgg19 batch 10" in text
    for direction, value in newest.items():
        assert f"{quantity(value, 'seconds')} {direction}" in text
    assert "Then resnet18 batch 10" in text


LATELY = "Has anything become slower lately?"


def slowdown(findings: Findings, **changes: Any) -> Change:
    """A time that is 10 % longer from commit 58 on."""
    change = next(change for change in findings.changes if change.verdict == "better")
    return replace(
        change,
        **{
            "commit": 58,
            "previous": 57,
            "values": (1.0, 1.1),
            "ratio": 1.1,
            "interval": (1.08, 1.12),
            "verdict": "worse",
            **changes,
        },
    )


def test_without_a_change_the_smallest_detectable_one_is_given() -> None:
    history, findings = handmade()
    detectable = {"ci-2core": Detectable({"one": 0.015, "two": 0.021, "three": 0.015})}
    quiet = replace(findings, changes=(), detectable=detectable)
    text = card(render(history, quiet), LATELY)
    assert "No change of a time Last 10 measured commits" in text
    assert "Smallest detectable change: median 1.5 %, 90th percentile 1.5 % of 3 cases" in text
    text = card(render(history, replace(findings, changes=())), LATELY)
    assert "Too early to tell" in text
    assert "No two commits have been compared yet" in text


def test_a_measured_slowdown_is_named_with_its_interval() -> None:
    history, findings = handmade()
    text = card(render(history, replace(findings, changes=(slowdown(findings),))), LATELY)
    commit = history.commits[58].hash[:8]
    assert f"{LATELY} ✗ 1 slower " in text
    assert f"+10.0 % (+8.0 to +12.0 %) at {commit} of 2025-10-09" in text


def test_a_suspicion_is_neither_coloured_nor_counted() -> None:
    history, findings = handmade()
    suspected = slowdown(findings, state=State.SUSPECTED, interval=None)
    page = render(history, replace(findings, changes=(suspected,)))
    text = card(page, LATELY)
    assert "slower," not in text
    assert "Suspected from separate runs, to be measured: 1 of times and memory." in text
    assert 'class="change worse' not in page
    assert "about +10 %" in words(page)


def test_a_note_stands_beside_its_change() -> None:
    history, findings = handmade()
    note = ChangeNote("0" * 8, "expected", f"The batch was doubled {HOSTILE}")
    html = render(history, replace(findings, changes=(slowdown(findings, note=note),)))
    assert HOSTILE not in html
    assert "expected: The batch was doubled" in card(html, LATELY)


@pytest.mark.parametrize(("ratio", "answer"), [(1.3, "1 slower, 0 faster"), (1.001, "No clear")])
def test_the_newest_release_is_compared_with_the_one_before(ratio: float, answer: str) -> None:
    history, findings = handmade()
    name = history.series[0].case.name
    compared = compared_releases("2.3.0", "2.4.0", {name: ratio}, requirement="numpy")
    releases = release_histories({"ci-2core": (compared,)})
    page = render(history, replace(findings, release_histories=releases))
    text = card(page, "What did numpy 2.4.0 change against 2.3.0?")
    assert answer in text
    assert "1 cases compared interleaved at commit 6b7719da" in text


def test_what_failed_in_the_newest_run_is_named_with_its_exception(page: str) -> None:
    history, _ = handmade()
    text = card(page, "What failed in the newest run, and why?")
    assert "RuntimeError: expected <Tensor>" in text
    assert "(mostly: this machine has no CUDA device)" in text
    newest = [commit.hash for commit in history.commits if commit.hash[:8] in text][-1]
    of_run = [
        series.runs[newest]
        for series in history.series
        if series.environment.endswith("2.15.0") and newest in series.runs
    ]
    assert f"of {len(of_run)} cases" in text
    for outcome in ("ok", "failed", "timed out", "skipped"):
        number = sum(run.outcome.value == outcome for run in of_run)
        assert f"{number} {outcome}" in text


def test_families_stand_in_the_order_of_a_reader(page: str) -> None:
    families = re.findall(r'scope="rowgroup"[^>]*>([^<]*)<', page)
    assert families[:2] == ["time series", "torchvision models"]
    declared = {"work.W.track_x": 8, "time_series.T.time_x": 0, "a_new_one.A.time_x": 5}
    benchmarks = [
        Benchmark(name, "time", "seconds", ("model", "device"), ((), ()), position=position)
        for name, position in declared.items()
    ]
    layout = layout_of(benchmarks)
    shown = [layout.group(benchmark) for benchmark in sorted(benchmarks, key=layout.group_order)]
    assert shown == ["time series", "a new one", "work"]


def test_status_tells_outcomes_apart_and_why(page: str) -> None:
    text = words(section(page, "status"))
    assert "RuntimeError: expected <Tensor>" in text
    assert "stopped after 60 s" in text
    assert "this machine has no CUDA device" in text
    assert "last measured 3 measured commits ago" in text


def test_what_could_not_be_shown_is_named() -> None:
    history, findings = handmade()
    history = replace(
        history,
        problems=(Problem("results/m/1234.json", "it is no JSON"),),
        left_out=(LeftOut("old.Suite.time_x", "no suite has this benchmark any more", 3),),
    )
    text = words(render(history, findings))
    assert "results/m/1234.json : it is no JSON" in text
    assert "old.Suite.time_x : no suite has this benchmark any more (3)" in text


def test_every_view_has_its_address_and_heading(page: str) -> None:
    views = "all-changes", "changes", "timeline", "compare", "releases", "status", "about"
    for route in ("/", *(f"/{view}" for view in views)):
        assert f'id="{route}"' in page
        assert f'href="#{route}"' in page
    assert len(re.findall("<h1", page)) == 9
    ids = re.findall(r'\bid="([^"]*)"', page)
    assert len(ids) == len(set(ids))


def test_status_shows_the_noise_of_a_commit_compared_with_itself(page: str) -> None:
    assert "compared with itself" not in section(page, "status")
    history, findings = handmade()
    machine = next(iter(history.machines))
    version = Version("0123456789abcdef", {"torch": "2.15.0"}, "3.11")
    header = Header(kind="null", at=1_760_000_000, machine=machine, before=version, after=version)
    ratio = CaseRatio("a.A.time_x", 0, (1.02, 1.02), 1.02, (1.01, 1.03), 1.0, 1.0)
    stored = StoredComparison(Path("x"), header, (ratio,), ())
    text = words(
        section(render(replace(history, comparisons={machine: (stored,)}), findings), "status")
    )
    assert f"{machine}: a commit compared with itself" in text
    assert "standard deviation of 1.98%, the worst is 2.0%, and 1 of 1 ratios" in text
    assert "a.A.time_x 1.98% 2.00% 3.5%" in text


def test_status_shows_where_the_newest_run_was_measured_and_what_changed(page: str) -> None:
    assert "Where the newest run" not in section(page, "status")
    history, findings = handmade()
    place = (next(iter(history.machines)), next(iter(history.environments)))
    old, new = history.commits[30].hash, history.commits[-1].hash
    recorded = {
        old: (Record(1_757_000_000, {"kernel": "6.1.0"}, {"threads": "1"}),),
        new: (
            Record(1_759_000_000, {"kernel": "6.1.8"}, {"threads": "1"}),
            Record(
                1_760_000_000,
                {"kernel": f"6.1.9 {HOSTILE}"},
                {"threads": "1 within operators"},
                {"load_1_5_15_min": "0.5, 1, 2"},
                {"gpus 0 celsius": "41.0"},
            ),
        ),
    }
    noted = replace(history, recorded={place: recorded})
    html = section(render(noted, findings), "status")
    assert HOSTILE not in html
    text = words(html)
    assert f"at {new[:8]}, begun 2025-10-09 08:53 UTC" in text
    assert "kernel 6.1.9" in text
    assert "6.1.0" not in text.split("Changes of machines and environments")[0]
    assert "threads 1 within operators" in text
    assert "before it began load_1_5_15_min 0.5, 1, 2" in text
    assert "after it ended gpus 0 celsius 41.0" in text
    assert f"{history.commits[30].hash[:8]} ci-2core all os: Linux 6.1.0 → Linux 6.1.9" in text
