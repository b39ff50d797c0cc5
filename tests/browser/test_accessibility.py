"""WCAG 2.2 AA as far as a program can check it: axe-core on every view, in both themes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.axe import axe_source
from tests.browser.visitor import VIEWS, Site, Visitor, address_of, timeline

DARNN = "time_series.TimeSeries.time_forward('darnn', 'cpu')"
ON_CUDA = "time_series.TimeSeries.time_backward('darnn', 'cuda')"
ADDRESSES = {
    **{view: address_of(view) for view in VIEWS},
    "timeline of two series": timeline(DARNN, ON_CUDA),
    "timeline over releases": timeline(DARNN, x="torch"),
    "changes of a step": "#/changes?base=v0.1.0",
    "comparison, relative": "#/compare?norm=cpu+·+forward",
    "comparison, time against memory": "#/compare?show=memory",
    "status of what failed": "#/status?outcome=skipped",
}


@pytest.fixture(scope="module")
def source() -> str:
    return axe_source()


EVERYTHING = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def violations(visitor: Visitor, rules: list[str] = EVERYTHING) -> list[str]:
    """What axe has against the view that is shown, in its surroundings."""
    result: dict[str, Any] = visitor.page.evaluate(
        """rules => axe.run(document, {
          runOnly: rules, resultTypes: ['violations'], performanceTimer: false,
        })""",
        rules,
    )
    return [
        f"{one['id']}: {one['help']} {node['html'][:160]} {node['target']}"
        for one in result["violations"]
        for node in one["nodes"][:2]
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_any_view(
    small: Site, visit: Callable[..., Visitor], source: str, theme: str
) -> None:
    visitor = visit(small.url, color_scheme=theme)
    # The themes differ in colours alone.
    rules = EVERYTHING if theme == "light" else ["color-contrast", "link-in-text-block"]
    names = list(ADDRESSES) if theme == "light" else [*VIEWS, "timeline of two series"]
    page = visitor.go()
    page.evaluate(source)
    found = {}
    for name in names:
        address = ADDRESSES[name]
        page.evaluate("address => { location.hash = address; }", address)
        visitor.settled()
        # Everything that can be unfolded is looked at, too.
        page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
        page.wait_for_timeout(50)
        if wrong := violations(visitor, rules):
            found[name] = wrong
    assert found == {}


def test_axe_finds_nothing_on_a_phone(
    small: Site, visit: Callable[..., Visitor], source: str
) -> None:
    visitor = visit(small.url, viewport={"width": 360, "height": 740}, has_touch=True)
    page = visitor.go()
    page.evaluate(source)
    found = {}
    for address in (*map(address_of, VIEWS), timeline(DARNN)):
        page.evaluate("address => { location.hash = address; }", address)
        visitor.settled()
        if wrong := violations(visitor):
            found[address] = wrong
    assert found == {}


def test_a_page_without_scripts_is_accessible_as_well(
    small: Site, visit: Callable[..., Visitor], source: str
) -> None:
    # Scripts of the page are refused; axe comes in from outside, past the page's policy.
    visitor = visit(small.url)
    visitor.page.route("**/*.js", lambda route: route.abort())
    visitor.page.goto(small.url)
    visitor.page.evaluate(source)
    found = violations(visitor)
    visitor.complaints.clear()  # the refusals themselves
    assert found == []
