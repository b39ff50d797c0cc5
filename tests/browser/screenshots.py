"""Takes the README's pictures of a published site.

    python -m tests.browser.screenshots html docs/images

The pictures show whatever the site holds: publish first. Needs Chromium.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from playwright.sync_api import Page, ViewportSize, sync_playwright

from tests.browser.visitor import FLAGS, chromium

SIZE: ViewportSize = {"width": 1280, "height": 800}


def settled(page: Page) -> None:
    done = "() => document.querySelector('main').getAttribute('aria-busy') === 'false'"
    page.wait_for_function(done)
    page.wait_for_timeout(300)


VIEWS = {
    "overview": "#/",
    "timeline": "#/timeline",
    "comparison": "#/compare",
    "releases": "#/releases",
}


def take(site: Path, folder: Path) -> None:
    """Writes a picture of the first screen of each of these views."""
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver:
        program, environment = chromium()
        browser = driver.chromium.launch(executable_path=program, args=FLAGS, env=environment)
        page = browser.new_page(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
        for name, address in VIEWS.items():
            page.goto("about:blank")
            page.goto((site / "index.html").resolve().as_uri() + address)
            settled(page)
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
