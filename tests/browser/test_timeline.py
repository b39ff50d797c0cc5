"""Timeline: values over commits, dates and torch releases."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from tests.browser.visitor import Site, Visitor, case_of, history, plain, size, timeline

FORWARD = "time_series.TimeSeries.time_forward('darnn', 'cpu')"
BACKWARD = "time_series.TimeSeries.time_backward('darnn', 'cpu')"
ON_CUDA = "time_series.TimeSeries.time_forward('darnn', 'cuda')"
MEMORY = "time_series.TimeSeries.peakmem_forward('darnn', 'cpu')"


def paths(visitor: Visitor, selector: str) -> int:
    return visitor.page.locator(f"#timeline-app .large svg.chart:not(.swatch) {selector}").count()


def axis_texts(visitor: Visitor) -> list[str]:
    texts = visitor.page.locator(".chart-frame[role=application] svg text").all_text_contents()
    return [plain(text) for text in texts]


def test_without_series_every_model_has_a_small_chart_that_opens(
    site: Site, visitor: Visitor
) -> None:
    page = visitor.go("#/timeline")
    titles = [plain(text) for text in page.locator(".multiples .title > span").all_inner_texts()]
    models = {series["labels"]["model"] for series in site.index["series"]}
    assert models <= {title.split(" ")[0] for title in titles}
    assert page.locator(".multiples li:first-child svg path.line").count() == 4
    last = page.locator(".multiples li").last
    last.scroll_into_view_if_needed()
    last.locator("svg path.line").first.wait_for(state="attached")
    page.locator(".multiples a", has_text="darnn").click()
    visitor.settled()
    assert visitor.address.count("s=") == 4
    names = [row[0] for row in visitor.rows(".readout table")]
    assert sorted(names) == sorted(
        f"darnn · {device} · {way}"
        for device in ("cpu", "cuda")
        for way in ("forward", "backward")
    )


def test_series_are_picked_removed_and_found_by_name(visitor: Visitor) -> None:
    page = visitor.go(timeline(FORWARD, m="gpu-lab"))
    visitor.type("q", "darnn cuda")
    boxes = page.locator(".pick label")
    assert [plain(text) for text in boxes.all_inner_texts()] == [
        "cuda · forward",
        "cuda · backward",
    ]
    boxes.first.click()
    visitor.settled()
    assert [row[0] for row in visitor.rows(".readout table")] == [
        "darnn · cpu · forward",
        "darnn · cuda · forward",
    ]
    page.get_by_role("button", name="Remove darnn · cpu · forward").click()
    visitor.settled()
    assert [row[0] for row in visitor.rows(".readout table")] == ["darnn · cuda · forward"]
    page.get_by_role("button", name="All listed").click()
    visitor.settled()
    assert len(visitor.rows(".readout table")) == 2
    page.get_by_role("link", name="Every model").click()
    visitor.settled()
    assert page.locator(".multiples li").count() > 5


def test_arrow_keys_read_values_aloud_and_enter_opens_the_changes(
    site: Site, visitor: Visitor
) -> None:
    page = visitor.go(timeline(FORWARD, m="gpu-lab", n="all"))
    truth = history(site, FORWARD)
    chart = page.get_by_role("application")
    chart.focus()
    hashes = [commit[0] for commit in site.index["commits"]]
    measured = [
        series for series in hashes if series in truth["values"] or series in truth["other"]
    ]
    for key, at in (
        ("End", -1),
        ("ArrowLeft", -2),
        ("PageUp", -12),
        ("ArrowRight", -11),
        ("Home", 0),
    ):
        page.keyboard.press(key)
        commit = measured[at]
        page.wait_for_function(
            "hash => document.getElementById('announcer').textContent.startsWith(hash)",
            arg=commit[:8],
        )
        announced = plain(page.locator("#announcer").inner_text())
        shown = visitor.rows(".readout table")[0][2]
        assert shown in announced
        if commit in truth["values"]:
            assert size(shown) == pytest.approx(truth["values"][commit], rel=0.006)
        else:
            assert shown == truth["other"][commit]
        assert commit[:8] in visitor.text(".readout .when")
    page.keyboard.press("Enter")
    visitor.settled()
    assert visitor.address.startswith(f"#/changes?rev={measured[0][:8]}")


def test_the_keyboard_zooms_pans_and_resets(visitor: Visitor) -> None:
    page = visitor.go(timeline(FORWARD, m="gpu-lab", n="all"))
    page.get_by_role("application").focus()
    whole = axis_texts(visitor)
    page.keyboard.press("+")
    visitor.settled()
    assert "from=" in visitor.address
    assert "to=" in visitor.address
    zoomed = axis_texts(visitor)
    assert zoomed != whole
    assert "Zoomed in" in announced(visitor, "Zoomed in")
    page.keyboard.press("Shift+ArrowLeft")
    visitor.settled()
    assert axis_texts(visitor) != zoomed
    assert "Earlier" in announced(visitor, "Earlier")
    page.keyboard.press("-")
    visitor.settled()
    assert "Zoomed out" in announced(visitor, "Zoomed out")
    page.keyboard.press("Escape")
    visitor.settled()
    assert "from=" not in visitor.address
    assert axis_texts(visitor) == whole
    assert page.get_by_role("application").evaluate("node => node === document.activeElement")


def test_within_a_day_the_axis_names_commits_or_times(site: Site, visitor: Visitor) -> None:
    measured = history(site, FORWARD)["values"]
    commits = [commit for commit in site.index["commits"] if commit[0] in measured]
    day = 24 * 3600
    first, last = next((a, b) for a, b in pairwise(commits) if a[1] // day == b[1] // day)
    zoomed = {"from": first[0][:8], "to": last[0][:8], "n": "all"}
    visitor.go(timeline(FORWARD, m="gpu-lab", **zoomed))
    assert {first[0][:8], last[0][:8]} <= set(axis_texts(visitor))
    visitor.go(timeline(FORWARD, m="gpu-lab", x="date", **zoomed))
    times = [datetime.fromtimestamp(commit[1], UTC).strftime("%H:%M") for commit in (first, last)]
    assert set(times) <= set(axis_texts(visitor))


def announced(visitor: Visitor, part: str) -> str:
    visitor.page.wait_for_function(
        "part => document.getElementById('announcer').textContent.includes(part)", arg=part
    )
    return visitor.text("#announcer")


def test_buttons_do_what_dragging_does(visitor: Visitor) -> None:
    page = visitor.go(timeline(FORWARD, m="gpu-lab", n="all"))
    whole = axis_texts(visitor)
    for name in ("Zoom in", "Earlier", "Later", "Zoom out", "Whole range"):
        page.get_by_role("button", name=name, exact=True).click()
        visitor.settled()
        assert ("from=" in visitor.address) == (name != "Whole range"), name
    assert axis_texts(visitor) == whole


def test_dragging_zooms_and_a_click_opens_the_changes_of_that_commit(
    site: Site, visitor: Visitor
) -> None:
    page = visitor.go(timeline(FORWARD, m="gpu-lab", n="all"))
    box = page.get_by_role("application").bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.3, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, middle, steps=4)
    assert page.locator(".selection").count() == 1
    page.mouse.up()
    visitor.settled()
    assert "from=" in visitor.address
    page.mouse.move(box["x"] + box["width"] * 0.4, middle)
    read = visitor.text(".readout .when code")
    page.mouse.down()
    page.mouse.up()
    visitor.settled()
    assert visitor.address.startswith(f"#/changes?rev={read}")
    assert read in visitor.text(".commit-bar")
    page.go_back()
    visitor.settled()
    assert "from=" in visitor.address, "back returns to the zoomed chart"


def test_pointing_reads_values_of_all_series(site: Site, visitor: Visitor) -> None:
    page = visitor.go(timeline(FORWARD, ON_CUDA, m="gpu-lab", n="all"))
    box = page.get_by_role("application").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.45, box["y"] + 100)
    commit = visitor.text(".readout .when code")
    for row, case in zip(visitor.rows(".readout table"), (FORWARD, ON_CUDA), strict=True):
        values = history(site, case)["values"]
        full = next((series for series in values if series.startswith(commit)), None)
        if full:
            assert size(row[2]) == pytest.approx(values[full], rel=0.006)
            assert row[4].startswith("+")
    assert page.locator("line.cursor").count() == 1


@pytest.mark.parametrize("scale", ["linear", "log", "relative"])
def test_the_y_axis_says_what_it_is(visitor: Visitor, scale: str) -> None:
    visitor.go(timeline(FORWARD, m="gpu-lab"))
    visitor.choose("y", scale)
    texts = axis_texts(visitor)
    if scale == "linear":
        assert "0 s" in texts
    elif scale == "log":
        assert "0 s" not in texts
        assert any(text.endswith(("µs", "ms")) for text in texts)
    else:
        assert "0%" in texts
        assert any(text.startswith(("+", "-")) and text.endswith("%") for text in texts)
        assert "Relative to the level at" in visitor.text("#timeline-app .large > .note")


def test_relative_to_any_commit(site: Site, visitor: Visitor) -> None:
    visitor.go(timeline(FORWARD, m="gpu-lab", y="relative", n="all"))
    commit = site.generated.measured[40]
    visitor.type("rel", commit[:8])
    assert f"rel={commit[:8]}" in visitor.address
    assert commit[:8] in visitor.text("#timeline-app .large > .note")


def test_different_units_are_shown_relative_to_each_other(visitor: Visitor) -> None:
    visitor.go(timeline(FORWARD, MEMORY, m="gpu-lab"))
    assert "The units differ" in visitor.text("#timeline-app .large > .note")
    values = [row[2] for row in visitor.rows(".readout table")]
    assert values[0].endswith("s")
    assert values[1].endswith("iB")


def test_the_x_axis_may_be_commits_dates_or_torch_releases(site: Site, visitor: Visitor) -> None:
    visitor.go(timeline(FORWARD, m="gpu-lab"))
    visitor.choose("x", "date")
    assert "x=date" in visitor.address
    visitor.choose("x", "torch")
    texts = axis_texts(visitor)
    assert "2.14.1" in texts
    assert "2.15.0" in texts
    page = visitor.page
    page.get_by_role("application").focus()
    for key, torch in (("Home", "2.14.1"), ("End", "2.15.0")):
        page.keyboard.press(key)
        assert torch in visitor.text(".readout .when")
        values = history(site, FORWARD, torch=torch)["values"]
        others = history(site, FORWARD, torch="2.15.0" if torch == "2.14.1" else "2.14.1")[
            "values"
        ]
        common = [commit for commit in values if commit in others][-1]
        row = visitor.rows(".readout table")[0]
        assert size(row[2]) == pytest.approx(values[common], rel=0.006)
        assert row[0].endswith(f"at {common[:8]}")
    assert paths(visitor, "path.whisker") == 1


def test_bands_levels_tags_and_events_are_drawn_and_switched_off(
    site: Site, visitor: Visitor
) -> None:
    event = site.index["events"][0]
    machine = site.index["machines"][event["m"]]["name"]
    visitor.go(timeline(FORWARD, m=machine, n="all"))
    page = visitor.page
    assert paths(visitor, "path.interval") == 1
    assert paths(visitor, "path.quartiles") == 0
    assert paths(visitor, "path.level") == len(history(site, FORWARD, machine)["entry"]["steps"])
    assert event["text"] in page.locator("path.event title").all_text_contents()
    assert "v0.1.0" in axis_texts(visitor)
    page.get_by_role("checkbox", name="fastest quarter").uncheck()
    page.get_by_role("checkbox", name="quartiles").check()
    page.get_by_role("checkbox", name="levels").uncheck()
    visitor.settled()
    assert paths(visitor, "path.interval") == 0
    assert paths(visitor, "path.quartiles") == 1
    assert paths(visitor, "path.level") == 0
    for part in ("ci=0", "quartiles=1", "steps=0"):
        assert part in visitor.address


def test_small_charts_mark_events_too(site: Site, visitor: Visitor) -> None:
    event = site.index["events"][0]
    machine = site.index["machines"][event["m"]]["name"]
    page = visitor.go(f"#/timeline?m={machine}&n=all")
    titles = page.locator(".multiples .eventline title").all_text_contents()
    assert any(event["text"] in title for title in titles)


def test_a_link_skips_the_list_of_series(visitor: Visitor) -> None:
    page = visitor.go(timeline(FORWARD, m="gpu-lab"))
    link = page.get_by_role("link", name="Skip to the chart")
    link.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "application"


def test_a_failed_run_breaks_the_line_and_tells_why(site: Site, visitor: Visitor) -> None:
    index = site.index
    for series in index["series"]:
        case = case_of(series)
        machine = index["machines"][series["m"]]["name"]
        torch = index["environments"][series["e"]]["torch"]
        entry = history(site, case, machine, torch)["entry"]
        other = entry.get("other", [])
        failed = [run for run in other if run[1] == "failed"]
        if failed:
            break
    else:
        pytest.fail("the generated history holds no failed run: raise its rate")
    environment = index["environments"][series["e"]]["id"]
    visitor.go(timeline(case, m=machine, e=environment, n="all"))
    titles = visitor.page.locator("path.fault title").all_text_contents()
    assert f"failed: {entry['reasons'][failed[0][2]]}" in titles


def test_two_environments_stand_side_by_side(site: Site, visitor: Visitor) -> None:
    visitor.go(timeline(FORWARD, m="gpu-lab"))
    visitor.page.get_by_role("checkbox", name="torch 2.14.1").check()
    visitor.settled()
    assert visitor.address.count("e=") >= 2
    names = [row[0] for row in visitor.rows(".readout table")]
    assert [name.split(" · ")[-1] for name in names] == ["torch 2.14.1", "torch 2.15.0"]


def test_the_last_so_many_commits(visitor: Visitor) -> None:
    visitor.go(timeline(FORWARD, m="gpu-lab"))
    for count in ("10", "50"):
        visitor.choose("n", count)
        label = visitor.page.get_by_role("application").get_attribute("aria-label")
        assert label is not None
        assert f"over {count} commits" in label


def test_the_table_behind_the_chart_holds_every_value(site: Site, visitor: Visitor) -> None:
    page = visitor.go(timeline(FORWARD, m="gpu-lab", n="all"))
    page.get_by_text("Values as a table").click()
    page.locator("details.fold[open] table").wait_for()
    rows = visitor.rows("#timeline-app details.fold table")
    truth = history(site, FORWARD)
    assert len(rows) == len(truth["values"]) + len(truth["other"])
    newest = next(reversed(truth["values"].items()))
    row = next(row for row in rows if row[0].startswith(newest[0][:8]))
    assert size(row[1]) == pytest.approx(newest[1], rel=0.006)


def test_csv_holds_every_run_of_the_range(site: Site, visitor: Visitor) -> None:
    page = visitor.go(timeline(FORWARD, BACKWARD, m="gpu-lab", n="all"))
    with page.expect_download() as waiting:
        page.locator("#timeline-app").get_by_role("button", name="Download CSV").click()
    rows = list(csv.DictReader(io.StringIO(waiting.value.path().read_text())))
    for case in (FORWARD, BACKWARD):
        truth = history(site, case)
        mine = [row for row in rows if row["case"] == case]
        assert {row["revision"]: float(row["value"]) for row in mine if row["value"]} == truth[
            "values"
        ]
        assert {row["revision"]: row["outcome"] for row in mine if not row["value"]} == truth[
            "other"
        ]


def test_a_copied_link_keeps_showing_the_same_commits(site: Site, visitor: Visitor) -> None:
    page = visitor.go(timeline(FORWARD, m="gpu-lab", n="10"))
    before = axis_texts(visitor)
    page.locator("#timeline-app").get_by_role("button", name="Copy link").click()
    page.get_by_role("button", name="Link copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    assert f"to={site.generated.measured[-1][:8]}" in link
    page.goto("about:blank")
    page.goto(link)
    visitor.settled()
    assert axis_texts(visitor) == before


def test_a_series_that_is_not_there_is_named(visitor: Visitor) -> None:
    visitor.go(timeline("no.such.benchmark('x')"))
    assert "no.such.benchmark('x')" in visitor.text("#timeline-app .notice")


def test_without_models_each_column_has_a_hue(
    without_models: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(without_models.url)
    cases = [f"mesh.Solver.time_solve('{size}')" for size in ("big", "small")]
    page = visitor.go(timeline(*cases))
    lines = page.locator("#timeline-app .large svg.chart:not(.swatch) path.line")
    colours = lines.evaluate_all("lines => lines.map((line) => getComputedStyle(line).stroke)")
    assert len(colours) == len(set(colours)) == 2
