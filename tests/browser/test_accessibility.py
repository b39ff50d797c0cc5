"""WCAG 2.2 AA as far as a program can check it: axe-core on every view, in both themes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from tests.browser.axe import EVERYTHING, axe_source, violations
from tests.browser.visitor import VIEWS, Site, Visitor, address_of, plain, timeline

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
    "a case": f"#/case?s={quote(DARNN)}",
}


@pytest.fixture(scope="module")
def source() -> str:
    return axe_source()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_any_view(
    small: Site, visit: Callable[..., Visitor], source: str, theme: str
) -> None:
    visitor = visit(small.url, color_scheme=theme)
    # The themes differ in colours alone.
    rules = EVERYTHING if theme == "light" else ["color-contrast", "link-in-text-block"]
    names = list(ADDRESSES) if theme == "light" else [*VIEWS, "timeline of two series", "a case"]
    page = visitor.go()
    page.evaluate(source)
    messages = {}
    for name in names:
        address = ADDRESSES[name]
        visitor.turn_to(address)
        # Everything that can be unfolded is looked at, too.
        page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
        page.wait_for_timeout(50)
        if wrong := violations(visitor, rules):
            messages[name] = wrong
    assert messages == {}


def test_axe_finds_nothing_on_a_phone(
    small: Site, visit: Callable[..., Visitor], source: str
) -> None:
    visitor = visit(small.url, viewport={"width": 360, "height": 740}, has_touch=True)
    page = visitor.go()
    page.evaluate(source)
    messages = {}
    for address in (*map(address_of, VIEWS), timeline(DARNN)):
        visitor.turn_to(address)
        if wrong := violations(visitor):
            messages[address] = wrong
    assert messages == {}


def test_a_page_without_scripts_is_accessible_as_well(
    small: Site, visit: Callable[..., Visitor], source: str
) -> None:
    # Scripts of the page are refused; axe comes in from outside, past the page's policy.
    visitor = visit(small.url)
    visitor.page.route("**/*.js", lambda route: route.abort())
    visitor.page.goto(small.url)
    visitor.page.evaluate(source)
    messages = violations(visitor)
    visitor.complaints.clear()  # the refusals themselves
    assert messages == []


def spoken(visitor: Visitor) -> list[tuple[str, str, dict[str, Any]]]:
    """What the browser tells a screen reader: role, name and properties, in reading order."""
    session = visitor.page.context.new_cdp_session(visitor.page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    return [
        (
            str(node.get("role", {}).get("value", "")),
            str(node.get("name", {}).get("value", "")),
            {
                attribute["name"]: attribute["value"].get("value")
                for attribute in node.get("properties", [])
            },
        )
        for node in nodes
        if not node.get("ignored")
    ]


def test_a_screen_reader_is_told_where_it_is_and_what_everything_is(
    small: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(small.url)
    visitor.go()
    must_speak = {
        "link", "button", "combobox", "checkbox", "searchbox", "textbox", "table", "region",
        "image", "application", "navigation",
    }  # fmt: skip
    for name, address in ADDRESSES.items():
        visitor.turn_to(address)
        nodes = spoken(visitor)
        roles = [role for role, _, _ in nodes]
        for landmark in ("banner", "main", "contentinfo"):
            assert roles.count(landmark) == 1, (name, landmark)
        navigations = [text for role, text, _ in nodes if role == "navigation"]
        assert "Views" in navigations, name
        assert len(set(navigations)) == len(navigations), name
        levels = [properties["level"] for role, _, properties in nodes if role == "heading"]
        assert levels.count(1) == 1, name
        assert levels[0] == 1, name
        assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(levels)), name
        assert [role for role, text, _ in nodes if role in must_speak and not text.strip()] == []
        announcers = [node for _, _, node in nodes if node.get("live") == "polite"]
        assert announcers, name


def test_a_figure_of_the_matrix_says_whose_it_is(
    small: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(small.url)
    visitor.go()
    links = [plain(text) for role, text, _ in spoken(visitor) if role == "link"]
    assert [text for text in links if text.endswith(", darnn · cpu · forward")]


def test_what_a_choice_leads_to_is_announced(small: Site, visit: Callable[..., Visitor]) -> None:
    visitor = visit(small.url)
    page = visitor.go("#/changes")
    visitor.type("q", "darnn")
    page.wait_for_function("() => /series/.test(document.getElementById('announcer').textContent)")
    assert "regressed" in visitor.text("#announcer")
    visitor.go("#/status")
    visitor.type("q", "no such case")
    page.wait_for_function("() => document.getElementById('announcer').textContent === '0 cases.'")
