"""Takes a picture of each view of a published site; continuous integration keeps them.

    python -m tests.browser.screenshots html build/screenshots

README shows two of them, of its own in docs/images.
"""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.visitor import Site, started, watch

WIDTH = 1280
VIEWS = {
    "finding": ("#/", 790),
    "changes": ("#/changes", 680),
    "timeline": ("#/timeline", 700),
    "comparison": ("#/compare", 800),
    "releases": ("#/releases", 800),
    "case": ("#/case?s=small_cnns.SmallCNNs.time_forward('lenet5', 'cpu')", 800),
    "about": ("#/about", 800),
}
"""Name of a picture to its address, and to the height of the window."""


def take(site: Site, folder: Path) -> None:
    """Write a picture of the first screen of each of `VIEWS`."""
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver, started(driver) as browser:
        page = browser.new_page(color_scheme="light", reduced_motion="reduce")
        visitor = watch(page, site)
        for name, (address, height) in VIEWS.items():
            page.set_viewport_size({"width": WIDTH, "height": height})
            visitor.go(address)
            page.wait_for_timeout(300)
            page.screenshot(path=folder / f"{name}.png")


if __name__ == "__main__":
    published, pictures = map(Path, sys.argv[1:])
    if not (published / "index.html").exists():
        sys.exit(f"{published} holds no site: run `asv publish` first")
    url = (published / "index.html").resolve().as_uri()
    take(Site(published, url), pictures)
