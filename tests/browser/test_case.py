"""The page of a case, the list of all changes, and the search that leads to cases."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from tests.browser.visitor import Site, Visitor, case_of, plain, size


def changed_series(site: Site) -> dict[str, Any]:
    """A series of times with a confirmed change."""
    return next(
        entry
        for entry in site.index["series"]
        if entry["change"] and entry["change"]["state"] == "confirmed" and "time_" in entry["id"]
    )


def address(site: Site, series: dict[str, Any]) -> str:
    machine = site.index["machines"][series["m"]]["name"]
    environment = site.index["environments"][series["e"]]["id"]
    return f"#/case?s={quote(case_of(series))}&m={machine}&e={environment}"


def test_a_case_shows_its_newest_value_noise_changes_and_how_to_measure_it(
    site: Site, visitor: Visitor
) -> None:
    series = changed_series(site)
    page = visitor.go(address(site, series))
    cards = [plain(text) for text in page.locator("#case-app .card").all_inner_texts()]
    newest = re.search(r"Newest time (\S+ \S+)", cards[0])
    assert newest is not None, cards
    assert abs(size(newest[1]) / series["last"]["v"] - 1) < 0.006
    assert f"±{series['noise'] * 100:.1f}%" in cards[2]
    at = [entry["s"] for entry in site.index["changes"]]
    own = [
        entry
        for entry, s in zip(site.index["changes"], at, strict=True)
        if s == index_of(site, series)
    ]
    rows = visitor.rows("#case-app table.all-changes")
    assert [row[1] for row in rows] == [entry["state"] for entry in own]
    assert case_of(series).split("(")[0].split(".")[-1] in visitor.text("#case-app .command pre")
    assert page.get_by_role("application").count() == 1


@pytest.mark.parametrize("mode", ["eager", "compiled"])
def test_a_time_shows_its_distance_from_the_floor_of_its_mode(
    modes: Site, visit: Callable[..., Visitor], mode: str
) -> None:
    visitor = visit(modes.url)
    page = visitor.go(f"#/case?s=compiled.Compiled.time_forward('darnn', 'cpu', '{mode}')")
    card = page.locator("#case-app .card").filter(has_text="Distance from the floor")
    distance = plain(card.locator("strong").inner_text())
    assert distance.endswith(" times")
    card.get_by_role("link").click()
    visitor.settled()
    assert visitor.text("#case-app .lead").startswith("floor.Floor.track_times_floor_forward(")
    assert f"'{mode}'" in visitor.text("#case-app .lead")
    assert distance in visitor.text("#case-app .card")


def index_of(site: Site, series: dict[str, Any]) -> int:
    return int(site.index["series"].index(series))


def test_samples_at_two_commits_are_drawn_and_chosen(site: Site, visitor: Visitor) -> None:
    series = changed_series(site)
    page = visitor.go(address(site, series))
    if page.locator("#case-app .samples").count() == 0:
        assert "No samples are stored" in visitor.text("#case-app")
        return
    first = page.locator("#case-app .samples svg").get_attribute("aria-label")
    options = visitor.field("a").locator("option").all()
    visitor.choose("a", str(options[-1].get_attribute("value")))
    second = page.locator("#case-app .samples svg").get_attribute("aria-label")
    assert first != second
    assert page.locator("#case-app .samples circle").count() >= 2


def test_an_unknown_case_says_how_to_find_one(visitor: Visitor) -> None:
    visitor.go("#/case?s=no.such.case")
    assert "press / to search" in visitor.text("#case-app .notice")


def test_slash_searches_all_cases_and_enter_opens_the_first(site: Site, visitor: Visitor) -> None:
    page = visitor.go("#/about")
    page.keyboard.press("/")
    page.keyboard.type("dsanet backward peak")
    matches = page.locator("dialog .matches a")
    matches.first.wait_for()
    assert all("dsanet" in plain(text) for text in matches.all_inner_texts())
    page.keyboard.press("Enter")
    visitor.settled()
    assert visitor.address.startswith("#/case?s=")
    assert "dsanet" in visitor.text("#case-title")
    assert "peak memory" in visitor.text("#case-title")
    assert page.locator("dialog[open]").count() == 0


def test_all_changes_are_listed_filtered_sorted_and_exported(site: Site, visitor: Visitor) -> None:
    page = visitor.go("#/all-changes")
    changes = site.index["changes"]
    assert f"{len(changes)} changes" in visitor.text("#all-changes-app .note")
    visitor.choose("direction", "worse")
    worse = [entry for entry in changes if entry["verdict"] == "worse"]
    rows = visitor.rows("#all-changes-app table")
    assert len(rows) == min(200, len(worse))
    page.locator("#all-changes-app [data-sort=change]").click()
    visitor.settled()
    largest = max(worse, key=lambda entry: entry["ratio"] or 0)
    shown = visitor.rows("#all-changes-app table")[0]
    assert f"{(largest['ratio'] - 1) * 100:.1f}%" in shown[1]
    with page.expect_download() as waiting:
        page.locator("#all-changes-app").get_by_role("button", name="Download CSV").click()
    lines = list(csv.DictReader(io.StringIO(waiting.value.path().read_text())))
    assert len(lines) == len(worse)
    assert {line["state"] for line in lines} == {entry["state"] for entry in worse}


def test_a_change_lists_the_commits_it_may_come_from(site: Site, visitor: Visitor) -> None:
    page = visitor.go("#/all-changes")
    fold = page.locator("#all-changes-app tbody tr").first.locator("details")
    fold.locator("summary").click()
    text = plain(fold.inner_text())
    assert "git log --oneline" in text
    change = max(site.index["changes"], key=lambda entry: (entry["c"], -entry["s"]))
    hashes = [entry[0][:8] for entry in site.index["ranges"][change["range"]]["commits"]]
    assert all(entry in text for entry in hashes)
