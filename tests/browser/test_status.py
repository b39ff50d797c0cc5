"""Status: how the newest run of every case went, and why."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.browser.visitor import Site, Visitor, plain


def test_every_outcome_is_counted_and_one_click_away(site: Site, visitor: Visitor) -> None:
    page = visitor.go("#/status")
    truth = Counter(entry["status"] for entry in site.index["series"])
    output = visitor.text("#status-app .tally")
    for outcome, count in truth.items():
        assert re.search(rf"{outcome} {count}\b", output), (outcome, count, output)
    for outcome, count in truth.items():
        page.locator(".tally a", has_text=outcome).first.click()
        visitor.settled()
        rows = visitor.rows("#status-app table.status")
        assert len(rows) == min(count, 200)
        assert {plain(row[1]).split(" ", 1)[1] for row in rows} == {outcome}


def test_a_failure_shows_its_message_and_a_skip_its_reason(site: Site, visitor: Visitor) -> None:
    for outcome in ("failed", "skipped", "timed out"):
        mine = [entry for entry in site.index["series"] if entry["status"] == outcome]
        if not mine:
            continue
        visitor.go(f"#/status?outcome={outcome}")
        reasons = {plain(row[5]) for row in visitor.rows("#status-app table.status")}
        for entry in mine:
            first = plain(entry["reason"].splitlines()[0]) if entry["reason"] else ""
            assert any(first in reason for reason in reasons)
    skipped = [entry for entry in site.index["series"] if entry["status"] == "skipped"]
    assert skipped, "the plan has a machine without CUDA"


def test_what_needs_a_look_comes_first_and_any_column_sorts(visitor: Visitor) -> None:
    page = visitor.go("#/status")
    order = ["failed", "timed out", "stale", "never run", "skipped", "ok"]
    ranks = [
        order.index(row[1].split(" ", 1)[1]) for row in visitor.rows("#status-app table.status")
    ]
    assert ranks == sorted(ranks)
    page.locator("[data-sort=noise]").last.click()
    visitor.settled()
    cells = [row[4] for row in visitor.rows("#status-app table.status")]
    noise = [float(cell.strip("±%")) for cell in cells if cell != "–"]
    assert noise == sorted(noise, reverse=True)
    assert noise[0] > 0


def test_filters_by_machine_environment_and_text(site: Site, visitor: Visitor) -> None:
    visitor.go("#/status")
    visitor.choose("m", "gpu-lab")
    environment = site.index["environments"][0]
    visitor.choose("e", environment["id"])
    visitor.type("q", "lenet5 peakmem")
    rows = visitor.rows("#status-app table.status")
    assert 0 < len(rows) <= 4
    for row in rows:
        assert row[0].startswith("lenet5")
        assert row[2] == f"gpu-lab · torch {environment['torch']}"
    visitor.type("q", "no such case")
    assert "No case passes the filters" in visitor.text("#status-app .notice")


def test_a_long_list_is_shown_in_two_helpings(site: Site, visitor: Visitor) -> None:
    page = visitor.go("#/status")
    count = len(site.index["series"])
    if count <= 200:
        pytest.fail("the generated site is too small for this test: add series to its plan")
    page.get_by_role("button", name=re.compile("Show the other")).click()
    assert len(visitor.rows("#status-app table.status")) == count


def test_machines_and_environments_are_described(site: Site, visitor: Visitor) -> None:
    visitor.go("#/status")
    text = visitor.text("main > section:not([hidden])")
    for machine in site.index["machines"]:
        assert machine["name"] in text
        for fact in ("cpu", "ram"):
            assert machine["facts"][fact] in text
    assert "OMP_NUM_THREADS" in text
    assert "noise" in text.lower()


def test_the_newest_run_says_where_it_was_measured(site: Site, visitor: Visitor) -> None:
    visitor.go("#/status")
    records = visitor.page.locator("details.record")
    assert records.count() == len(site.index["records"]) > 0
    assert not records.first.locator("table").is_visible()
    records.first.locator("summary").click()
    text = records.first.inner_text()
    for fact in ("governor", "performance", "threads", "load_1_5_15_min 0.1, 0.2, 0.3"):
        assert fact in text
