"""Changes: two revisions, or two torch releases, compared."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable

import pytest

from tests.asv_watch.generator import plan_of_size
from tests.browser.visitor import Site, Visitor, plain, size

CHANGE, BASE, NOW = 1, 4, 5
"""Columns of a metric's table."""


def step_of(site: Site) -> tuple[str, str, str, float]:
    """A planted step of the code: model, first commit with it, measured commit before, ratio."""
    step = next(entry for entry in site.generated.steps if entry.model and not entry.machine)
    at = site.generated.measured.index(step.commit)
    return step.model, step.commit, site.generated.measured[at - 1], step.ratio


def summary(visitor: Visitor) -> dict[str, list[str]]:
    return {row[0]: row[1:] for row in visitor.rows("#changes-app table.compact")}


def units(visitor: Visitor) -> list[str]:
    return [
        plain(text) for text in visitor.page.locator("#changes-app .unit h2").all_inner_texts()
    ]


def all_rows(visitor: Visitor) -> list[list[str]]:
    count = visitor.page.locator("#changes-app .unit table").count()
    return [
        row
        for at in range(count)
        for row in visitor.rows(f"#changes-app .unit:nth-of-type({at + 1}) table")
    ]


def test_starts_with_the_newest_measured_commit_against_the_one_before(
    site: Site, visitor: Visitor
) -> None:
    page = visitor.go("#/changes")
    now, before = site.generated.measured[-1][:8], site.generated.measured[-2][:8]
    assert now in visitor.text(".commit-bar")
    heads = page.locator("#changes-app .unit thead").first.inner_text()
    assert now in heads
    assert before in heads
    assert units(visitor)[0].startswith("time · less is better")
    assert any("throughput · more is better" in unit for unit in units(visitor))


def test_it_gives_the_command_that_looks_closer(site: Site, visitor: Visitor) -> None:
    _, commit, before, _ = step_of(site)
    visitor.go(f"#/changes?rev={commit[:10]}&base={before[:10]}&m=gpu-lab")
    release = r"@\d+\.\d+\.\d+"
    sides = rf"--before {before[:8]}{release} --after {commit[:8]}{release}"
    output = visitor.text("#closer")
    assert re.search(rf"measure the two interleaved: asv-watch compare {sides}$", output), output


def test_a_planted_step_is_found_marked_and_summed_up(site: Site, visitor: Visitor) -> None:
    model, commit, before, ratio = step_of(site)
    visitor.go(f"#/changes?rev={commit[:10]}&base={before[:10]}&metric=time-seconds&m=gpu-lab")
    rows = [row for row in all_rows(visitor) if row[0].startswith(model)]
    assert len(rows) >= 3
    sign, word = ("✗", "worse") if ratio > 1 else ("✓", "better")
    marked = [row for row in rows if sign in row[CHANGE] and word in row[CHANGE]]
    assert len(marked) >= len(rows) - 1
    for row in marked:
        shown = size(row[NOW]) / size(row[BASE])
        assert shown == pytest.approx(ratio, rel=0.12)
    line = summary(visitor)["✗ regressed" if ratio > 1 else "✓ improved"]
    assert int(line[0]) >= len(marked)


def test_only_significant_hides_the_rest_and_says_so_when_nothing_is_left(
    site: Site, visitor: Visitor
) -> None:
    _, commit, before, _ = step_of(site)
    visitor.go(f"#/changes?rev={commit[:8]}&base={before[:8]}&m=gpu-lab")
    everything = len(all_rows(visitor))
    visitor.page.get_by_label("only significant").check()
    visitor.settled()
    assert "sig=1" in visitor.address
    some = all_rows(visitor)
    assert 0 < len(some) < everything
    assert all("✓" in row[CHANGE] or "✗" in row[CHANGE] for row in some)
    visitor.type("q", "no such model at all")
    assert "No series that passes the filters" in visitor.text("#changes-app .out")


def test_filters_by_text_device_pass_and_metric(site: Site, visitor: Visitor) -> None:
    visitor.go("#/changes?m=gpu-lab")
    visitor.type("q", "darnn")
    visitor.choose("device", "cuda")
    visitor.choose("pass", "backward")
    visitor.choose("metric", "peak-memory-bytes")
    rows = all_rows(visitor)
    assert [[row[0], *row[2:4]] for row in rows] == [["darnn", "cuda", "backward"]]
    for part in ("q=darnn", "device=cuda", "pass=backward", "metric=peak-memory-bytes"):
        assert part in visitor.address


def test_any_column_sorts_both_ways(visitor: Visitor) -> None:
    visitor.go("#/changes?m=gpu-lab&metric=time-seconds")
    for column, at in (
        ("name", 0),
        ("now", NOW),
        ("base", BASE),
        ("noise", 6),
        ("change", CHANGE),
    ):
        head = visitor.page.locator(f"[data-sort={column}]")
        orders = []
        for _ in range(2):
            head.click()
            visitor.settled()
            orders.append([row[at] for row in all_rows(visitor)])
            sort = visitor.page.locator("th[aria-sort]").first
            assert sort.locator(f"[data-sort={column}]").count() == 1
        assert orders[0] != orders[1]
        if column == "now":
            values = [size(text) for text in orders[0] if text != "–"]
            assert values in (sorted(values), sorted(values, reverse=True))
        assert head.evaluate("button => button === document.activeElement"), "focus stays"


def test_two_torch_releases_at_one_revision(site: Site, visitor: Visitor) -> None:
    old, new = (
        next(
            environment["id"]
            for environment in site.index["environments"]
            if environment["torch"] == torch
        )
        for torch in ("2.14.1", "2.15.0")
    )
    page = visitor.go("#/changes?m=gpu-lab")
    page.get_by_role("link", name="torch 2.15.0 against 2.14.1").click()
    visitor.settled()
    assert f"be={old}" in visitor.address
    heads = page.locator("#changes-app .unit thead").first.inner_text()
    assert "torch 2.14.1" in heads
    assert "torch 2.15.0" in heads
    visitor.go(f"#/changes?m=gpu-lab&e={new}&be={old}&metric=time-seconds&sort=name")
    rows = [row for row in all_rows(visitor) if "–" not in row[4:6]]
    ratios = [size(row[NOW]) / size(row[BASE]) for row in rows]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    output = re.search(r"geometric mean ([+-][\d.]+)% of (\d+) series", units(visitor)[0])
    assert output is not None, units(visitor)
    assert float(output[1]) == pytest.approx((mean - 1) * 100, abs=0.3)
    assert int(output[2]) == len(rows)


def test_older_and_newer_walk_along_the_measured_commits(site: Site, visitor: Visitor) -> None:
    measured = [commit[:8] for commit in site.generated.measured]
    visitor.go("#/changes")
    for at in (-2, -3):
        visitor.page.get_by_role("link", name="← older").click()
        visitor.settled()
        assert f"rev={measured[at]}" in visitor.address
        assert measured[at] in visitor.text(".commit-bar")
    visitor.page.get_by_role("link", name="newer →").click()
    visitor.settled()
    assert f"rev={measured[-2]}" in visitor.address


def test_a_revision_may_be_a_tag_and_a_wrong_one_is_refused_in_words(visitor: Visitor) -> None:
    visitor.go("#/changes")
    visitor.type("base", "v0.1.0")
    assert "base=v0.1.0" in visitor.address
    before = visitor.address
    visitor.type("rev", "nonsense")
    assert visitor.address == before
    assert visitor.field("rev").get_attribute("aria-invalid") == "true"
    assert "No measured commit begins with “nonsense”" in visitor.text("[role=alert]:not(:empty)")
    visitor.go("#/changes?rev=ffffffff")
    assert "No measured commit begins with “ffffffff”" in visitor.text("#changes-app .trouble")


def test_revisions_are_suggested_with_date_and_subject(site: Site, visitor: Visitor) -> None:
    visitor.go("#/changes")
    visitor.field("rev").focus()
    labels = visitor.page.locator("#changes-app datalist").first.evaluate(
        "list => [...list.options].map(option => option.label)"
    )
    assert len(labels) >= len(site.generated.measured)
    subjects = {commit[2] for commit in site.index["commits"]}
    assert any(label.endswith(tuple(subjects)) for label in labels)


def test_trend_looks_back_as_far_as_asked(visitor: Visitor) -> None:
    page = visitor.go("#/changes?m=gpu-lab")
    assert "Trend (10)" in page.locator("#changes-app thead").nth(1).inner_text()
    visitor.choose("n", "50")
    assert "Trend (50)" in page.locator("#changes-app thead").nth(1).inner_text()
    assert "n=50" in visitor.address


def test_events_and_commits_since_the_base_are_told(site: Site, visitor: Visitor) -> None:
    event = site.index["events"][0]
    machine = site.index["machines"][event["m"]]["name"]
    first = site.generated.measured[0][:8]
    page = visitor.go(f"#/changes?base={first}&m={machine}")
    fold = visitor.page.locator("#changes-app details.events")
    assert "of the recipe, the machine or the environment in between" in plain(fold.inner_text())
    fold.locator("summary").click()
    assert event["text"].split(" ")[0] in plain(fold.inner_text())
    assert "under other conditions at the two revisions" in visitor.text("#sensitivity")
    page.get_by_text("commits after the base").click()
    shown = page.locator("#changes-app .commits li")
    shown.first.wait_for()
    assert shown.count() >= len(site.generated.measured) - 1
    assert site.generated.hashes[-1][:8] in shown.first.inner_text()


def test_markdown_is_copied_and_shown_as_text(site: Site, visitor: Visitor) -> None:
    model, commit, before, ratio = step_of(site)
    page = visitor.go(f"#/changes?rev={commit[:8]}&base={before[:8]}&m=gpu-lab&q={model}")
    page.get_by_role("button", name="Copy as Markdown").click()
    page.get_by_role("button", name="Markdown copied").wait_for()
    copied = plain_lines(page.evaluate("navigator.clipboard.readText()"))
    page.get_by_text("Markdown as text").click()
    area = page.get_by_label("The changes as Markdown")
    page.wait_for_function("area => area.value !== ''", arg=area.element_handle())
    text = plain_lines(area.input_value())
    assert text == copied
    assert text[0] == f"### {commit[:8]} against {before[:8]}"
    word = "✗ worse" if ratio > 1 else "✓ better"
    assert any(
        line.startswith(f"| {model} | cpu | forward | time") and word in line for line in text
    )
    assert any(line.startswith("| regressed |") for line in text)


def plain_lines(text: str) -> list[str]:
    return [plain(line) for line in text.splitlines()]


def test_csv_holds_every_row_in_full(visitor: Visitor) -> None:
    page = visitor.go("#/changes?m=gpu-lab&q=lstnet")
    with page.expect_download() as waiting:
        page.locator("#changes-app").get_by_role("button", name="Download CSV").click()
    rows = list(csv.DictReader(io.StringIO(waiting.value.path().read_text())))
    assert len(rows) == len(all_rows(visitor))
    for row in rows:
        assert row["model"] == "lstnet"
        if row["base_value"] and row["value"]:
            ratio = float(row["value"]) / float(row["base_value"])
            assert float(row["ratio"]) == pytest.approx(ratio)
        assert row["verdict"] in ("better", "worse", "not significant")


def test_a_copied_link_names_the_revisions_it_shows(site: Site, visitor: Visitor) -> None:
    page = visitor.go("#/changes?m=gpu-lab&q=darnn")
    before = all_rows(visitor)
    page.locator("#changes-app").get_by_role("button", name="Copy link").click()
    page.get_by_role("button", name="Link copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    assert f"rev={site.generated.measured[-1][:8]}" in link
    assert f"base={site.generated.measured[-2][:8]}" in link
    page.goto("about:blank")
    page.goto(link)
    visitor.settled()
    assert all_rows(visitor) == before


def test_a_commit_that_was_not_measured_gives_way_to_the_nearest(
    site: Site, visitor: Visitor
) -> None:
    tagged = [commit for commit in site.index["commits"] if commit[3]]
    missing = [commit for commit in tagged if commit[0] not in site.generated.measured]
    if not missing:
        pytest.fail("every tagged commit was measured: give the plan another seed")
    visitor.go(f"#/changes?m=gpu-lab&base={missing[0][3][0]}")
    notice = visitor.text("#changes-app .notice")
    assert f"{missing[0][0][:8]} was not measured here" in notice
    order = list(site.generated.hashes)
    before = [
        entry
        for entry in site.generated.measured
        if order.index(entry) < order.index(missing[0][0])
    ]
    assert before[-1][:8] in notice
    assert int(summary(visitor)["all compared"][0]) > 50


def test_a_long_list_is_drawn_a_page_at_a_time(
    publish: Callable[..., Site], visit: Callable[..., Visitor]
) -> None:
    site = publish("wide", plan_of_size(2, 300))
    visitor = visit(site.url)
    page = visitor.go("#/status")
    rows = page.locator("#status-app table.status tbody tr")
    assert rows.count() == 200
    others = len(site.index["series"]) - 200
    page.get_by_role("button", name=f"Show the other {others}").click()
    assert rows.count() == 200 + others
    link = rows.nth(200).locator("a").first
    assert link.evaluate("link => link === document.activeElement"), "the focus goes on there"
