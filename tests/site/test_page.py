"""What a reader without JavaScript reads on the page, and that nothing is coloured in vain."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import pytest

from tests.history.calibrations import calibration
from tests.site.handmade import PROJECT, handmade
from torchspeed.history.records import History, LeftOut, Problem
from torchspeed.site.pages import render_page
from torchspeed.site.quantities import quantity
from torchspeed.site.standing import Findings, standings


def render(history: History, findings: Findings) -> str:
    page = render_page(
        standings(history, findings), generated=1_760_000_000, project=PROJECT, figures=()
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


def test_every_newest_figure_is_on_the_overview(page: str) -> None:
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
    assert 'class="change old"' in page
    assert 'class="change worse"' not in page


def test_the_first_sentence_answers_what_got_slower() -> None:
    history, findings = handmade()
    quiet = words(section(render(history, replace(findings, changes=())), "overview"))
    assert "nothing got slower or faster" in quiet
    slower = next(change for change in findings.changes if change.verdict == "better")
    worse = replace(slower, commit=58, previous=57, before=1.0, after=1.1, verdict="worse")
    loud = words(section(render(history, replace(findings, changes=(worse,))), "overview"))
    assert "1 series got slower (most: darnn time" in loud
    assert "+10.0%" in loud


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


def test_means_say_of_how_many_series(page: str) -> None:
    means = re.findall(r"geometric mean of (\d+) series", page)
    assert means
    assert all(int(count) > 0 for count in means)


def test_every_view_has_its_address_and_heading(page: str) -> None:
    for route in ("/", "/changes", "/timeline", "/compare", "/status", "/about"):
        assert f'id="{route}"' in page
        assert f'href="#{route}"' in page
    assert len(re.findall("<h1", page)) == 6
    ids = re.findall(r'\bid="([^"]*)"', page)
    assert len(ids) == len(set(ids))


def test_status_shows_how_noisy_a_calibrated_machine_is(page: str) -> None:
    assert "calibrated" not in section(page, "status")
    history, findings = handmade()
    machine = next(iter(history.machines))
    calibrated = replace(history, calibrations={machine: calibration()})
    text = words(section(render(calibrated, findings), "status"))
    assert f"{machine}, calibrated 2025-10-09 08:53 UTC" in text
    assert "3 runs of commit 01234567 with torch 2.15.0" in text
    assert "standard deviation of 0.60%, the worst is 2.1% (steady)" in text
    assert "0 of 6 comparisons raised a false alarm" in text
    assert "others kept 0.05 cores busy" in text
    assert "frequency governor: powersave. Remedy: sudo <cpupower>" in text
    assert "swap" not in text
    assert "a.A.time_x('m', 'cpu') 0.40% 1.00% 2.5%" in text
    assert "a.A.time_y('m', 'cpu') 0.80% 2.10% none up to 100%" in text
