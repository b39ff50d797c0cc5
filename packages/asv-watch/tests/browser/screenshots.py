"""Takes a picture of each view of a published site; continuous integration keeps them.

    python -m tests.browser.screenshots html build/screenshots

The pictures show whatever the site holds: publish first. README shows two of them, of its own in
docs/images. Needs Chromium.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.browser.visitor import FLAGS, chromium

WIDTH = 1280


@dataclass(frozen=True)
class View:
    """The first screen at an address."""

    address: str
    height: int = 800


VIEWS = {
    "finding": View("#/", height=790),
    "changes": View("#/changes", height=680),
    "timeline": View("#/timeline", height=700),
    "comparison": View("#/compare"),
    "releases": View("#/releases"),
    "case": View("#/case?s=small_cnns.SmallCNNs.time_forward('lenet5', 'cpu')"),
    "about": View("#/about"),
}


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
