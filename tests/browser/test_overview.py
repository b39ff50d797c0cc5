"""Overview: what a person reads in the matrix."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.visitor import Site, Visitor, case_of, plain, size


def newest(site: Site, machine: str, torch: str, metric: str) -> list[dict[str, Any]]:
    """The index's series of one machine, torch release and metric."""
    index = site.index
    return [
        series
        for series in index["series"]
        if index["machines"][series["m"]]["name"] == machine
        and index["environments"][series["e"]]["torch"] == torch
        and index["metrics"][index["benchmarks"][series["b"]]["metric"]]["label"] == metric
    ]


def environment(site: Site, torch: str) -> str:
    return str(
        next(series["id"] for series in site.index["environments"] if series["torch"] == torch)
    )


def matrix(visitor: Visitor) -> dict[str, dict[str, str]]:
    """Row name to column name to the text of its cell."""
    heads = visitor.page.locator("#overview-matrix thead th").all_inner_texts()
    rows = visitor.rows("#overview-matrix table")
    return {
        row[0]: dict(zip(map(plain, heads[1:]), row[1:], strict=True))
        for row in rows
        if len(row) == len(heads)
    }


@pytest.mark.parametrize("metric", ["time", "peak memory", "throughput"])
def test_matrix_shows_the_newest_figure_of_every_case(
    site: Site, visitor: Visitor, metric: str
) -> None:
    metric_id = next(series["id"] for series in site.index["metrics"] if series["label"] == metric)
    visitor.go(f"#/?metric={metric_id}&m=gpu-lab&e={environment(site, '2.15.0')}")
    shown = matrix(visitor)
    checked = 0
    for series in newest(site, "gpu-lab", "2.15.0", metric):
        labels = series["labels"]
        batch = f" batch {labels['batch']}" if "batch" in labels else ""
        column = " · ".join(labels[name] for name in ("device", "pass") if name in labels)
        text = shown[labels["model"] + batch][column]
        if series["last"] is None:
            assert series["status"] in text
            continue
        value = re.match(r"[\d. ]+(?:\S*[a-zA-Zµ]\S*)?", text)
        assert value is not None, text
        assert size(value[0].strip()) == pytest.approx(series["last"]["v"], rel=0.006)
        checked += 1
    assert checked >= 8


def test_matrix_starts_with_the_time_of_the_machine_with_the_newest_values(
    visitor: Visitor,
) -> None:
    visitor.go()
    assert visitor.field("metric").input_value() == "time-seconds"
    assert visitor.field("m").input_value() == "gpu-lab"
    assert "2.15.0" in visitor.page.locator("[name=e] option:checked").first.inner_text()
    assert "Less is better" in visitor.text("#overview-matrix .note")


def test_metric_machine_and_environment_are_chosen_and_stand_in_the_address(
    site: Site, visitor: Visitor
) -> None:
    visitor.go()
    visitor.choose("metric", "peak-memory-bytes")
    assert "metric=peak-memory" in visitor.address
    assert "MiB" in visitor.text("#overview-matrix table")
    visitor.choose("m", "ci-2core")
    visitor.choose("e", environment(site, "2.14.1"))
    assert "m=ci-2core" in visitor.address
    assert f"e={environment(site, '2.14.1')}" in visitor.address
    # No column for what the machine cannot run, but a word about it.
    assert "cuda" not in visitor.text("#overview-matrix table")
    assert "Not shown: cuda" in visitor.text("#overview-matrix .note")
    assert "no CUDA device on this machine" in visitor.text("#overview-matrix .note")


def test_a_step_is_marked_by_sign_word_and_colour_only_while_it_is_news(
    site: Site, visitor: Visitor
) -> None:
    page = visitor.go("#/?m=gpu-lab")
    index = site.index
    last = len(index["commits"]) - 1
    seen = set()
    for series in newest(site, "gpu-lab", "2.15.0", "time"):
        if series["status"] != "ok":
            continue
        cell = page.locator(f'#overview-matrix a[href*="{series["labels"]["model"]}"]')
        cell = cell.and_(page.locator(f'[href*="time_{series["labels"]["pass"]}"]'))
        if "batch" in series["labels"]:
            cell = cell.and_(page.locator(f'[href*="{series["labels"]["batch"]})"]'))
        cell = cell.and_(page.locator(f"[href*=\"'{series['labels']['device']}'\"]"))
        text = plain(cell.locator(".change").inner_text())
        change = series["change"]
        if change is None:
            assert text == "no change" or text.endswith(("value", "values")), text
        elif last - change["c"] < index["rules"]["news"] and change["state"] != "refuted":
            sign = {"better": "✓", "worse": "✗"}[change["verdict"]]
            assert text.startswith(sign), text
            assert change["verdict"] in text, "colour and sign alone do not speak"
            assert f"{abs(change['ratio'] - 1) * 100:.1f}%" in text
            assert cell.locator(f".change.{change['verdict']}").count() == 1
            assert ("unconfirmed" in text) == (change["state"] == "unconfirmed")
            seen.add("news")
        else:
            assert "✓" not in text
            assert "✗" not in text
            seen.add("old")
        assert cell.locator("svg.spark path").get_attribute("d")
    assert seen == {"news", "old"}


def test_choosing_a_figure_opens_its_history(site: Site, visitor: Visitor) -> None:
    visitor.go()
    series = next(
        series
        for series in newest(site, "gpu-lab", "2.15.0", "time")
        if series["labels"]["model"] == "dsanet"
    )
    visitor.page.locator('#overview-matrix a[href*="dsanet"]').first.click()
    visitor.settled()
    assert visitor.address.startswith("#/case?s=")
    assert "dsanet" in visitor.text(".readout table")
    assert case_of(series).split("(")[0].split(".")[0] in visitor.address


def test_the_first_screen_answers_what_a_newcomer_asks(visitor: Visitor) -> None:
    page = visitor.go()
    questions = [plain(text) for text in page.locator("#answers h2").all_inner_texts()]
    assert questions == [
        "Has anything become slower lately?",
        "What did torch 2.15.0 change against 2.14.1?",
        "What failed in the newest run, and why?",
        "Which model is slowest on the CPU?",
    ]
    box = page.locator("#answers").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 900, "without scrolling"
    assert page.locator("#overview-changes a").count() >= 1


def test_the_slowest_model_is_the_one_that_the_comparison_puts_first(visitor: Visitor) -> None:
    page = visitor.go()
    slowest = visitor.text("#answers .card:last-child strong")
    page.locator("#answers a", has_text="slowest first").click()
    visitor.settled()
    first = visitor.rows("#compare-app table.list")[0][0]
    assert first == slowest


def test_what_a_release_changed_is_counted_as_changes_counts_it(visitor: Visitor) -> None:
    page = visitor.go()
    text = plain(page.locator("#answers .card").nth(1).inner_text())
    shown = re.search(r"(\d+) slower, (\d+) faster", text)
    assert shown is not None, text
    page.locator("#answers a", has_text="Every series").click()
    visitor.settled()
    verdicts = {"faster": 0, "slower": 0}
    units = page.locator("#changes-app section.unit")
    for number in range(units.count()):
        if not plain(units.nth(number).locator("h2").inner_text()).startswith("time"):
            continue
        verdicts["faster"] += units.nth(number).locator("td:nth-child(2) .better").count()
        verdicts["slower"] += units.nth(number).locator("td:nth-child(2) .worse").count()
    assert list(map(int, shown.groups())) == [verdicts["slower"], verdicts["faster"]]


def test_means_against_the_baseline_say_of_how_many(site: Site, visitor: Visitor) -> None:
    visitor.go()
    index = site.index
    texts = [plain(text) for text in visitor.page.locator(".means li").all_inner_texts()]
    means = [
        series
        for series in index["geomeans"]
        if index["metrics"][series["metric"]]["label"] == "time"
        and index["machines"][series["m"]]["name"] == "gpu-lab"
        and index["environments"][series["e"]]["torch"] == "2.15.0"
    ]
    assert len(texts) == len(means) >= 4
    for text, series in zip(texts, means, strict=True):
        assert text.startswith(" · ".join(series["labels"].values()))
        assert f"geometric mean of {series['n']} series" in text
        tag = index["commits"][series["base"]][3][-1]
        assert f"since {tag}" in text


def test_a_mode_is_told_by_its_name_alone(modes: Site, visit: Callable[..., Visitor]) -> None:
    visitor = visit(modes.url)
    visitor.go()
    rows = {row[0] for row in visitor.rows("#overview-matrix table")}
    assert {"darnn eager", "darnn compiled", "lenet5 eager", "lenet5 compiled"} <= rows
