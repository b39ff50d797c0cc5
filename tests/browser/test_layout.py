"""Nothing is cut or covered: measured on the drawn pages, from a phone to a desktop."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.visitor import Site, Visitor, timeline

DARNN = "time_series.TimeSeries.time_forward('darnn', 'cpu')"
DSANET = "time_series.TimeSeries.peakmem_backward('dsanet', 'cuda')"
ADDRESSES = ("#/", "#/timeline", timeline(DARNN, DSANET), f"#/case?s={DARNN}", "#/compare")

FAULTS = """() => {
  const faults = [];
  if (document.scrollingElement.scrollWidth > innerWidth + 1) faults.push("wider than the window");
  const view = document.querySelector("main > section:not([hidden])");
  const overlap = (a, b) => ({
    width: Math.min(a.right, b.right) - Math.max(a.left, b.left),
    height: Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top),
  });
  const boxesOf = (nodes) => [...nodes]
    .map((node) => ({ text: node.textContent, box: node.getBoundingClientRect() }))
    .filter(({ box }) => box.width > 0);
  for (const chart of view.querySelectorAll("svg.chart")) {
    const frame = chart.getBoundingClientRect();
    const labels = boxesOf(chart.querySelectorAll("text"));
    for (const { text, box } of labels)
      if (box.left < frame.left - 1 || box.right > frame.right + 1) faults.push(`cut: ${text}`);
    labels.forEach((one, i) => labels.slice(i + 1).forEach((other) => {
      const { width, height } = overlap(one.box, other.box);
      if (width > 1 && height > 3) faults.push(`covered: ${one.text}, ${other.text}`);
    }));
    for (const { box } of boxesOf(chart.querySelectorAll(".eventline, .tagline")))
      for (const label of labels) {
        const inside = label.box.left < box.left - 1 && box.right + 1 < label.box.right;
        if (inside && overlap(label.box, box).height > 3) faults.push(`struck: ${label.text}`);
      }
  }
  for (const cell of view.querySelectorAll(".matrix .cell")) {
    const parts = boxesOf(cell.children);
    parts.forEach((one, i) => parts.slice(i + 1).forEach((other) => {
      const { width, height } = overlap(one.box, other.box);
      if (width > 1 && height > 1) faults.push(`covered: ${one.text}, ${other.text}`);
    }));
  }
  return [...new Set(faults)];
}"""


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_no_label_is_cut_or_covered(
    small: Site, visit: Callable[..., Visitor], width: int
) -> None:
    visitor = visit(small.url, viewport={"width": width, "height": 800})
    page = visitor.go()
    faults = {}
    for address in ADDRESSES:
        visitor.turn_to(address)
        page.wait_for_timeout(50)
        faults[address] = page.evaluate(FAULTS)
    assert faults == {address: [] for address in ADDRESSES}


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1440, 900)])
def test_the_matrix_is_on_the_first_screen(
    site: Site, visit: Callable[..., Visitor], width: int, height: int
) -> None:
    visitor = visit(site.url, viewport={"width": width, "height": height})
    page = visitor.go()
    rows = page.locator("#overview-matrix tbody tr:not(.family)")
    third = rows.nth(2).bounding_box()
    assert third is not None
    assert third["y"] + third["height"] <= height, "three rows without scrolling"
