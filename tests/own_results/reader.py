"""Somebody who reads the published page in a real browser."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tests.conftest import ROOT

UNPACKED = ROOT / "packages/asv-watch/node_modules/.chromium"
"""The Chromium of npm, which ``.ci/node`` unpacks where the system has none."""
SECTION = "main > section:not([hidden])"
"""The view that is shown."""


@contextmanager
def started_browser() -> Iterator[Browser]:
    """Start the system's Chromium, or that of npm."""
    # playwright's own Node.js needs libatomic, which is rare.
    os.environ["PLAYWRIGHT_NODEJS_PATH"] = str(Path(sys.executable).with_name("node"))
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    environment: dict[str, str | float | bool] = {**os.environ}
    if path is None:
        path = str(UNPACKED / "chromium")
        environment["LD_LIBRARY_PATH"] = str(UNPACKED / "al2023/lib")
        environment["FONTCONFIG_PATH"] = str(UNPACKED / "fonts")
    with sync_playwright() as driver:
        flags = ["--no-sandbox", "--disable-gpu"]  # containers run as root
        browser = driver.chromium.launch(executable_path=path, args=flags, env=environment)
        yield browser
        browser.close()


@dataclass
class Reader:
    """One person with one window."""

    page: Page

    def go(self, site: Path) -> None:
        """Open a site."""
        self.page.goto((site / "index.html").as_uri())
        self.settled()

    def settled(self) -> None:
        """Wait until the view says that it shows what the address asks for."""
        self.page.wait_for_function(
            """() => {
              const { ariaBusy, dataset } = document.querySelector("main");
              const here = location.hash.startsWith("#/") ? location.hash : "#/";
              return ariaBusy === "false" && dataset.shown === here;
            }"""
        )

    def click(self, name: str) -> None:
        """Follow a link."""
        self.page.get_by_role("link", name=name, exact=True).click()
        self.settled()

    def choose(self, name: str, value: str) -> None:
        """Pick a value in the list of that name."""
        self.page.locator(f"main > :not([hidden]) [name={name}]").first.select_option(value)
        self.settled()

    def text(self, selector: str) -> str:
        """What stands there, with plain spaces and minus signs."""
        return plain(self.page.locator(selector).first.inner_text())

    def rows(self, table: str) -> list[list[str]]:
        """The cells of the table's body."""
        rows: list[Any] = self.page.locator(f"{table} tbody tr").all()
        return [[plain(cell) for cell in row.locator("td, th").all_inner_texts()] for row in rows]


def plain(text: str) -> str:
    """Return a text with plain spaces and minus signs."""
    for odd, even in (("\u2212", "-"), ("\u202f", " "), ("\u00a0", " ")):
        text = text.replace(odd, even)
    return " ".join(text.split())
