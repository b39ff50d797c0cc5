"""WCAG 2.2 AA as far as a program can check it: axe-core, from npm, on every view."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.browser.visitor import VIEWS, Site, Visitor, timeline

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
EVERYTHING = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
OF_COLOURS = ["color-contrast", "link-in-text-block"]
"""Enough for a dark window: the themes differ in colours alone."""
CHECK = """rules => axe.run(document, {
  runOnly: rules, resultTypes: ['violations'], performanceTimer: false,
})"""
DARNN = "time_series.TimeSeries.time_forward('darnn', 'cpu')"
ON_CUDA = "time_series.TimeSeries.time_backward('darnn', 'cuda')"
ADDRESSES = (*VIEWS, timeline(DARNN, ON_CUDA), f"#/case?s={quote(DARNN)}")


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_axe_finds_nothing_on_any_view(
    small: Site, visit: Callable[..., Visitor], look: str
) -> None:
    assert AXE.exists(), "run `make test`, which installs it"
    size = {"width": 390, "height": 844} if look == "phone" else {"width": 1280, "height": 900}
    visitor = visit(small, color_scheme="dark" if look == "dark" else "light", viewport=size)
    page = visitor.go()
    page.evaluate(AXE.read_text(encoding="utf-8"))
    wrong = []
    for address in ADDRESSES:
        visitor.turn_to(address)
        visitor.unfold()
        if look != "phone":  # where it covers the header
            page.evaluate("document.getElementById('save').showPopover()")
        page.wait_for_timeout(50)
        result = page.evaluate(CHECK, OF_COLOURS if look == "dark" else EVERYTHING)
        wrong += [
            f"{address} {violation['id']}: {violation['help']} {node['html'][:160]}"
            for violation in result["violations"]
            for node in violation["nodes"][:2]
        ]
    assert wrong == []
