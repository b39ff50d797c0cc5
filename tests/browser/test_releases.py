"""Releases: what each torch release changed, coloured only where that is certain."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.records.json_lines import append_lines
from asv_watch.records.releases import FILE_NAME, TriedRelease
from tests.asv_watch.generator import TIME_AND_MEMORY, Plan, Suite
from tests.asv_watch.planted_releases import case_values, compared_releases, store
from tests.browser.axe import axe_source, violations
from tests.browser.conftest import publish_alone
from tests.browser.visitor import Site, Visitor, case_of, plain

SUITE = "time_series.TimeSeries"
DARNN = f"{SUITE}.time_forward('darnn', 'cpu')"
DSANET = f"{SUITE}.time_forward('dsanet', 'cpu')"
OPERATOR = "operators.Forward.time_forward('linear', 'cpu', 'bf16', 'small')"
TABLE = "section[data-view=releases] table.releases"


@pytest.fixture(scope="module")
def releases(publish: Callable[..., Site]) -> Site:
    """Release 2.15.0 made darnn 30 % slower; all else is noise. 2.13.0 does not import."""
    suite = Suite(SUITE, TIME_AND_MEMORY, {"model": ("darnn", "dsanet"), "device": ("cpu",)})
    plan = Plan(commits=8, suites=(suite,), machines=("ci-2core",), steps=0)

    def with_releases(root: Path) -> None:
        results = root / "results"
        noisy = {DSANET: 1.012, "import torch": 0.99}
        peak, count = f"{SUITE}.peakmem_forward('darnn', 'cpu')", "work.Work.track_flops_forward"
        breaks = "modes.Compilation.track_graph_breaks('darnn', 'cpu')"
        exact = {"unit": "FLOP", "exact": True}
        newest = (
            case_values(peak, 100.5 * 2**20, 110.0 * 2**20),
            case_values(f"{count}('darnn', 'cpu')", 2.0, 2.0, **exact),
            case_values(f"{count}('dsanet', 'cpu')", 7.0, 7.0, **exact),
            case_values(breaks, 0.0, 2.0, unit="breaks", exact=True),
        )
        older = (
            case_values(peak, 100.0 * 2**20, 100.5 * 2**20),
            case_values(f"{count}('darnn', 'cpu')", 1.0, 2.0, **exact),
            case_values(f"{count}('dsanet', 'cpu')", 7.0, 7.0, **exact),
            case_values(
                breaks, "RuntimeError: no compiler for darnn", 0.0, unit="breaks", exact=True
            ),
        )
        ratios = {DARNN: 1.3, OPERATOR: 1.2, **noisy}
        store(
            results,
            compared_releases("2.14.1", "2.15.0", ratios, skipped="x.Y.time_z", values=newest),
        )
        ratios = {DARNN: 0.99, DSANET: 0.99}
        store(results, compared_releases("2.13.1", "2.14.1", ratios, values=older))
        direct = {OPERATOR: 0.8, DARNN: 1.287, DSANET: 1.1}
        store(results, compared_releases("2.13.1", "2.15.0", direct))
        store(results, compared_releases("2.15.0", "2.15.0", {DARNN: 1.003}, kind="null"))
        for torch, vision, failed in (
            ("2.15.0", "0.29.2", ""),
            ("2.13.0", "0.28.0", "ImportError: no pkg_resources"),
        ):
            tried = TriedRelease(
                requirements={"torch": torch, "torchvision": vision},
                at=1_780_000_000,
                failed=failed,
                import_s=() if failed else (1.5, 1.6, 1.7),
                import_peak_bytes=() if failed else (2**29,),
                facts={"oneDNN": "3.13.3", "threads": "1 within operators"},
            )
            append_lines(results / "ci-2core" / FILE_NAME, [tried])
        publish_alone(root)

    return publish("releases", plan, with_releases)


def test_a_planted_release_is_coloured_and_says_so(
    releases: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(releases.url)
    page = visitor.go("#/releases")
    rows = {row[0]: row for row in visitor.rows(TABLE)}
    assert rows["darnn forward"][2].startswith("✗ +30.0% slower")
    assert "+27.5% to +32.6%" in rows["darnn forward"][2]
    coloured = page.locator(f"{TABLE} .change.worse, {TABLE} .change.better")
    texts = {plain(text) for text in coloured.all_inner_texts()}
    totals = {"✗ +28.7% slower", "✗ +10.0% slower"}
    assert texts == {"✗ +30.0% slower", "✗ +20.0% slower", *totals}


def test_noise_alone_is_not_coloured(releases: Site, visit: Callable[..., Visitor]) -> None:
    visitor = visit(releases.url)
    page = visitor.go("#/releases")
    rows = {row[0]: row for row in visitor.rows(TABLE)}
    assert rows["dsanet forward"][2].startswith("+1.2%")
    neighbours = page.locator(f"{TABLE} tr", has_text="dsanet forward").locator("td ~ td")
    assert neighbours.locator(".old").count() == 2
    assert neighbours.locator(".better, .worse").count() == 0


def test_the_first_screen_answers_from_interleaved_comparisons(
    releases: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(releases.url)
    page = visitor.go()
    card = page.locator("#answers .card", has_text="What did torch 2.15.0 change against 2.14.1?")
    text = plain(card.inner_text())
    assert "1 slower, 0 faster" in text
    assert "2 cases compared interleaved at commit 6b7719da" in text
    assert "darnn forward +30.0%" in text
    card.locator("a", has_text="All releases").click()
    visitor.settled()
    assert page.locator("h1:visible").inner_text() == "Releases"


def test_lines_imports_noise_and_failures_are_shown(
    releases: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(releases.url)
    page = visitor.go("#/releases")
    chart = page.get_by_role("img", name="darnn: forward took 0.78 times as long in 2.13.1")
    assert chart.is_visible()
    of_models = page.locator("figure.release-chart").all()
    hues = {figure.get_attribute("class") or "": figure.inner_text() for figure in of_models}
    for place, model in enumerate(releases.index["models"]):
        assert hues[f"release-chart hue-{place}"].startswith(model)
    text = plain(page.locator("section[data-view=releases]").inner_text())
    assert "2.15.0 against itself (A/A) gave 1 ratio with" in text
    assert "None of 2 comparisons were repeated on another day" in text
    facts = {row[0]: row for row in visitor.rows("#release-facts")}
    assert "1.60 s" in facts["2.15.0"]
    assert "512 MiB" in facts["2.15.0"]
    assert facts["2.13.0"][-1] == "ImportError: no pkg_resources"
    assert "1 of 2 are the same in all releases that have them; these changed" in text
    of_darnn = chart.locator("title").all_text_contents()
    assert [plain(title).partition("], ")[2] for title in of_darnn] == [
        "compared directly"
    ] * 2 + [""]
    [memory] = visitor.rows("[aria-label='Peak memory by release of torch'] table")
    assert memory[1:] == ["+9.5% 110 MiB", "+0.5% 100 MiB", "100 MiB"]
    [counts] = visitor.rows("[aria-label='Exact counts by release of torch'] table")
    assert counts[1:] == ["±0.0% 2.00 FLOP", "✗ 2.00× more 2.00 FLOP", "1.00 FLOP"]
    [compiling] = visitor.rows("[aria-label='Compiling by release of torch'] table")
    assert compiling[1:] == ["✗ changed more 2.00 breaks", "0 breaks", "failed"]
    assert "track_graph_breaks('darnn', 'cpu'), 2.13.1: failed, RuntimeError: no compiler" in text
    findings = visitor.rows("#findings")
    assert [row[1:4] for row in findings] == [
        ["darnn forward", "unconfirmed", "+30.0% (+27.5% to +32.6%) on 2026-05-28"],
        [OPERATOR, "unconfirmed", "+20.0% (+17.6% to +22.4%) on 2026-05-28"],
    ]
    assert "x.Y.time_z, 2.15.0 against 2.14.1: skipped, this release lacks it" in text


def test_the_view_reads_without_scripts_and_fits_a_phone(
    releases: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(
        releases.url, java_script_enabled=False, viewport={"width": 390, "height": 844}
    )
    page = visitor.page
    page.goto(releases.url + "#/releases")
    row = page.locator(f"{TABLE} tr", has_text="darnn forward").first
    assert "+30.0%" in plain(row.inner_text())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_page_of_a_case_lists_its_releases(
    releases: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(releases.url)
    page = visitor.go("#/releases")
    page.locator(f"{TABLE} a", has_text="darnn forward").click()
    visitor.settled()
    table = page.locator("#case-app table", has_text="2.15.0 against 2.14.1")
    cells = [
        plain(cell) for cell in table.locator("tbody tr").first.locator("th, td").all_inner_texts()
    ]
    assert cells[:3] == ["2.15.0 against 2.14.1", "✗ worse +30.0%", "+27.5% to +32.6%"]
    assert cells[-1] == "6b7719da"
    assert DARNN in {case_of(series) for series in releases.index["series"]}


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(
    releases: Site, visit: Callable[..., Visitor], theme: str, width: int
) -> None:
    visitor = visit(releases.url, color_scheme=theme, viewport={"width": width, "height": 844})
    page = visitor.go("#/releases")
    page.evaluate(axe_source())
    assert violations(visitor) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
