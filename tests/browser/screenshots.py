"""Takes the pictures of a published site that README and docs/site.md show.

    python -m tests.browser.screenshots html docs/images

The pictures show whatever the site holds: publish first. Each has a numbered mark beside every
part that docs/site.md explains; a part that this site has nothing to show in is named. Needs
Chromium.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.browser.visitor import FLAGS, chromium

WIDTH = 1280


@dataclass(frozen=True)
class View:
    """The first screen at an address, and selectors of the parts that get a mark."""

    address: str
    marked: tuple[str, ...] = ()
    height: int = 800


VIEWS = {
    "finding": View("#/", height=790),
    "overview": View(
        "#/",
        (
            "h1",
            ".news",
            ".grid tbody",
            ".causes",
            ".grid th.total",
        ),
    ),
    "changes": View(
        "#/changes",
        (
            "p:has-text('measured changes')",
            "label:has-text('Direction')",
            ".commit-group h2",
            ".commit-group .note",
            ".commit-group .bar-cell",
            ".commit-group td:last-child",
        ),
        height=680,
    ),
    "timeline": View(
        "#/timeline",
        (
            "label:has-text('Vertical')",
            "label:has-text('Add a case')",
            "h3, h2, .chart",
        ),
        height=700,
    ),
    "comparison": View(
        "#/compare",
        (
            "label:has-text('Compare')",
            "label:has-text('From')",
            "p:has-text('geometric mean')",
            ".bar-cell",
        ),
    ),
    "releases": View(
        "#/releases",
        (
            "p:has-text('neighbouring')",
            "a:has-text('Differences')",
            "h3, h2, .chart",
            ".commit-group tbody tr",
            "summary:has-text('Peak memory')",
        ),
    ),
    "case": View(
        "#/case?s=small_cnns.SmallCNNs.time_forward('lenet5', 'cpu')",
        (
            "th:has-text('Newest time')",
            "th:has-text('Newest change')",
            "th:has-text('Noise')",
            "h2:has-text('History')",
        ),
    ),
    "about": View(
        "#/about",
        (
            "th:has-text('Machine')",
            "h2:has-text('What failed')",
            "h2:has-text('environments')",
        ),
    ),
}

_MARK = """([part, number]) => {
  const box = part.getBoundingClientRect();
  const mark = document.createElement("div");
  mark.textContent = number;
  Object.assign(mark.style, {
    position: "absolute", zIndex: 1000, width: "24px", height: "24px", borderRadius: "12px",
    font: "bold 14px/24px sans-serif", textAlign: "center", color: "white", background: "#b3261e",
    left: `${Math.max(box.left + scrollX - 28, 2)}px`, top: `${Math.max(box.top + scrollY, 2)}px`,
  });
  document.body.append(mark);
}"""


def wait_until_drawn(page: Page) -> None:
    done = "() => document.querySelector('main').getAttribute('aria-busy') === 'false'"
    page.wait_for_function(done)
    page.wait_for_timeout(300)


def take(site: Path, folder: Path) -> None:
    """Write a picture of each of `VIEWS`."""
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver:
        program, environment = chromium()
        browser = driver.chromium.launch(executable_path=program, args=FLAGS, env=environment)
        page = browser.new_page(color_scheme="light", reduced_motion="reduce")
        for name, view in VIEWS.items():
            page.set_viewport_size({"width": WIDTH, "height": view.height})
            page.goto("about:blank")
            page.goto((site / "index.html").resolve().as_uri() + view.address)
            wait_until_drawn(page)
            for number, selector in enumerate(view.marked, start=1):
                part = page.locator(selector).locator("visible=true").first
                if part.count():
                    page.evaluate(_MARK, [part.element_handle(), number])
                else:
                    print(f"{name}.png lacks part {number}, {selector}", file=sys.stderr)
            page.screenshot(path=folder / f"{name}.png")
        browser.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path, help="folder of a published site")
    parser.add_argument("folder", type=Path, help="where the pictures go")
    wanted = parser.parse_args()
    if not (wanted.site / "index.html").exists():
        print(f"{wanted.site} holds no site: run `asv publish` first", file=sys.stderr)
        return 1
    take(wanted.site, wanted.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
