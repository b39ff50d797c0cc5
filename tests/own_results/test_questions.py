"""Five questions about the committed results: the answer is on Overview, or one click away."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from asv import util
from playwright.sync_api import Browser

from asv_watch.judge.findings import analyse
from asv_watch.records.labels import Layout
from asv_watch.records.loading import load_history
from asv_watch.site.build import build_site
from asv_watch.site.contents import ancestry_of, contents_of, in_order
from asv_watch.versions.git import read_commits
from tests.own_results.reader import SECTION, Reader, plain, started_browser


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """The site of this repository's own results."""
    settings = util.load_json(str(root / "asv.conf.json"), js_comments=True)
    layout = msgspec.convert(settings["layout"], Layout)
    commits = read_commits(root)
    history = in_order(load_history(root / "results", commits, layout=layout))
    findings = analyse(history)
    ancestry = ancestry_of(history, findings, root, settings["measured_paths"])
    folder = tmp_path_factory.mktemp("ours") / "html"
    project = {"name": "torchspeed", "url": "", "commit_url": "", "site": ""}
    contents = contents_of(history, findings, ancestry)
    build_site(folder, contents, generated=1_790_000_000, project=project)
    return folder


@pytest.fixture(scope="module")
def index(ours: Path) -> dict[str, Any]:
    return dict(json.loads((ours / "index.json").read_text()))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started_browser() as browser:
        yield browser


@pytest.fixture
def visit(browser: Browser, ours: Path) -> Iterator[Callable[..., Reader]]:
    """Opens a window of its own, with options of playwright's contexts, in which nothing fails."""
    complaints: list[str] = []

    def work(**options: Any) -> Reader:
        page = browser.new_context(reduced_motion="reduce", **options).new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        reader = Reader(page)
        reader.go(ours)
        return reader

    yield work
    for context in browser.contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def reader(visit: Callable[..., Reader]) -> Reader:
    return visit(viewport={"width": 1280, "height": 900})


def test_is_lstnet_faster_on_a_gpu_than_on_a_cpu(reader: Reader) -> None:
    rows = [plain(text) for text in reader.page.locator(".level-chart th").all_inner_texts()]
    answers = [row for row in rows if row.startswith("lstnet ")]
    assert len(answers) == 2, "a chart for each pass"
    for answer in answers:
        assert re.search(r"(cuda|cpu) \([\w ]+\) [\d.]+× as fast as (cpu|cuda) \(", answer), answer


def test_which_release_made_training_slower_and_which_operator(reader: Reader) -> None:
    assert re.search(r"\w+ · backward takes \d+ % longer than with torch \d", reader.text("h1"))
    why = reader.text(".news p")
    assert re.search(r": \+[\d.]+ % by torch [\d.]+ \(\w[\w ]+\)", why), why
    assert reader.page.locator(".news").bounding_box()["y"] < 300  # type: ignore[index]


def test_headline_and_heat_map_are_on_the_first_screen_of_a_phone(
    visit: Callable[..., Reader],
) -> None:
    phone = visit(viewport={"width": 390, "height": 844}, has_touch=True)
    headline = phone.page.locator("h1:visible").bounding_box()
    last_row = phone.page.locator(".grid tbody tr").last.bounding_box()
    assert headline is not None
    assert last_row is not None
    assert headline["y"] + headline["height"] < last_row["y"] < 844 - last_row["height"]
    assert phone.page.evaluate("document.documentElement.scrollWidth") == 390


def test_how_much_tuning_gains(reader: Reader) -> None:
    reader.click("Compare")
    reader.choose("by", "implementation")
    assert re.search(
        r"^Time, tuned against plain: geometric mean", reader.text(f"{SECTION} .lead")
    )
    rows = {row[0]: row for row in reader.rows(f"{SECTION} table.list")}
    assert "times as long" in rows["darnn · cpu · forward"][3]


def test_no_interval_of_a_release_leaves_its_chart(reader: Reader) -> None:
    reader.click("Releases")
    charts = reader.page.locator(".multiples svg.chart").evaluate_all(
        """charts => charts.map(chart => ({
          edges: [...chart.querySelectorAll(".axis, .gridline")].map(line => line.getBBox().y),
          ends: [...chart.querySelectorAll(".whisker")].flatMap(path =>
            [...path.getAttribute("d").matchAll(/M\\S+ (\\S+)V([\\d.-]+)/g)]
              .flatMap(found => [Number(found[1]), Number(found[2])])),
        }))"""
    )
    assert len(charts) >= 6
    for chart in charts:
        ends, axis = chart["ends"], max(chart["edges"])
        assert ends
        assert 8 < min(ends) < max(ends) < axis, "an end at an edge is a cut one"


def test_what_the_newest_release_changed_in_memory(index: dict[str, Any], reader: Reader) -> None:
    newest = index["releases"][-1]
    reader.click("Releases")
    section = reader.page.locator(".commit-group", has_text=f"{newest} against").first
    text = plain(section.inner_text())
    assert re.search(r"Peak memory: (no change|changed|[+-][\d.]+ %) in \d+", text), text


def test_which_commit_made_a_forward_pass_faster_and_how_sure(
    index: dict[str, Any], reader: Reader
) -> None:
    change = next(
        change
        for change in index["changes"]
        if (case := index["cases"][index["series"][change["s"]]["c"]])["title"]
        == "dsanet · cpu · forward"
        and case["labels"]["implementation"] == "tuned"
        and (change["state"], change["verdict"], change["kind"]) == ("measured", "better", "time")
    )
    group = next(
        g for g in index["commit_groups"] if index["changes"].index(change) in g["changes"]
    )
    reader.click("Changes")
    section = reader.page.locator(".commit-group", has_text=group["subject"]).first
    text = plain(section.inner_text())
    assert group["hash"][:8] in text
    assert plain(change["text"]) in text
    assert plain(change["interval_text"]) in text


def test_what_failed_and_why(index: dict[str, Any], reader: Reader) -> None:
    failed = [s for s in index["series"] if s["status"] in {"failed", "timed out"}]
    reader.click("About the data")
    reader.page.wait_for_selector("#about-app summary .tag")
    reasons = plain(" ".join(reader.page.locator("#about-app summary").all_inner_texts()))
    counts = [
        int(count) for count in re.findall(r"(?:failed|timed out) (\d+) cases?: \w", reasons)
    ]
    assert sum(counts) == len(failed)
    assert all(plain(series["reason"]) in reasons for series in failed)
