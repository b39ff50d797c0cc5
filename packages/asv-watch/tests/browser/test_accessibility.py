"""WCAG 2.2 AA as far as a program can check it: axe-core on every view, in both themes."""

from collections.abc import Callable
from urllib.parse import quote

import pytest

from tests.browser.axe import EVERYTHING, axe_source, violations
from tests.browser.visitor import VIEWS, Site, Visitor, address_of, timeline

DARNN = "time_series.TimeSeries.time_forward('darnn', 'cpu')"
ON_CUDA = "time_series.TimeSeries.time_backward('darnn', 'cuda')"
ADDRESSES = {
    **{view: address_of(view) for view in VIEWS},
    "timeline of two cases": timeline(DARNN, ON_CUDA),
    "a case": f"#/case?s={quote(DARNN)}",
}


@pytest.fixture(scope="module")
def source() -> str:
    return axe_source()


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_axe_finds_nothing_on_any_view(
    small: Site, visit: Callable[..., Visitor], source: str, look: str
) -> None:
    size = {"width": 390, "height": 844} if look == "phone" else {"width": 1280, "height": 900}
    visitor = visit(small.url, color_scheme="dark" if look == "dark" else "light", viewport=size)
    # The themes differ in colours alone.
    rules = ["color-contrast", "link-in-text-block"] if look == "dark" else EVERYTHING
    page = visitor.go()
    page.evaluate(source)
    messages = {}
    for name, address in ADDRESSES.items():
        visitor.turn_to(address)
        # Everything that can be unfolded is looked at, too.
        page.evaluate(
            "document.querySelectorAll('details').forEach(fold => { fold.open = true; })"
        )
        if look != "phone":  # where it covers the header
            page.evaluate("document.getElementById('save').showPopover()")
        page.wait_for_timeout(50)
        if wrong := violations(visitor, rules):
            messages[name] = wrong
    assert messages == {}


def test_what_a_choice_leads_to_is_announced(small: Site, visit: Callable[..., Visitor]) -> None:
    visitor = visit(small.url)
    page = visitor.go("#/changes?q=no+such+case")
    page.wait_for_function("() => /^0 measured/.test(announcer.textContent)")
