"""One person at a browser, and the sites to look at: what the tests of this folder speak in."""

import functools
import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Dialog, Locator, Page, Playwright

FLAGS = ["--disable-gpu", "--disable-quic"]
VIEWS = ("#/", "#/changes", "#/timeline", "#/compare", "#/releases", "#/about")
SECTION = "main > section:not([hidden])"
"""The view that is shown."""

UNPACKED = Path(__file__).parents[2] / "node_modules/.chromium"
"""The Chromium of npm, which ``.ci/node`` unpacks where the system has none."""


def started(driver: Playwright) -> Browser:
    """Start the Chromium of the system, or else that of npm.

    Without what shows windows, Chromium takes half the CPU time for the same tests.
    """
    for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return driver.chromium.launch(executable_path=path, args=FLAGS)
    if not UNPACKED.is_dir():
        pytest.fail(f"there is no Chromium: run `make test`, which unpacks one into {UNPACKED}")
    libraries = {"LD_LIBRARY_PATH": str(UNPACKED / "al2023/lib")}
    fonts = {"FONTCONFIG_PATH": str(UNPACKED / "fonts")}
    environment: dict[str, str | float | bool] = {**os.environ, **libraries, **fonts}
    path = str(UNPACKED / "chromium")
    return driver.chromium.launch(executable_path=path, args=FLAGS, env=environment)


@dataclass
class Site:
    """A published site, and an address that serves it."""

    folder: Path
    url: str

    @functools.cached_property
    def index(self) -> dict[str, Any]:
        return dict(json.loads((self.folder / "index.json").read_text()))


@dataclass
class Visitor:
    """One person with one browser window, who notices whatever goes wrong in it."""

    page: Page
    site: Site
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def go(self, address: str = "#/") -> Page:
        """Opens an address of the site and waits until it is drawn."""
        self.page.goto("about:blank")
        self.page.goto(self.site.url + address)
        return self.settled()

    def turn_to(self, address: str) -> Page:
        """Goes to another address of the page that is open, as a link does: much quicker."""
        self.page.evaluate("address => { location.hash = address; }", address)
        return self.settled()

    def settled(self) -> Page:
        """Waits until the view says that it shows what the address asks for."""
        self.page.wait_for_function(
            """() => {
              const main = document.querySelector('main');
              const here = location.hash.startsWith('#/') ? location.hash : '#/';
              return main.getAttribute('aria-busy') === 'false' && main.dataset.shown === here;
            }"""
        )
        return self.page

    def unfold(self) -> None:
        """Opens all that is folded in the view."""
        self.page.evaluate(
            "for (const fold of document.querySelectorAll('details')) fold.open = true"
        )

    @property
    def address(self) -> str:
        return str(self.page.evaluate("location.hash"))

    def text(self, selector: str) -> str:
        """What a person reads there, with plain spaces and minus signs."""
        return plain(self.page.locator(selector).first.inner_text())

    def rows(self, table: str) -> list[list[str]]:
        """The cells of the table's body, as a person reads them."""
        cells = self.page.locator(table).first.evaluate(
            "table => [...table.tBodies].flatMap(body => [...body.rows])"
            ".map(row => [...row.cells].map(cell => cell.innerText))"
        )
        return [[plain(cell) for cell in row] for row in cells]

    def follow(self, link: Locator) -> Page:
        link.click()
        return self.settled()

    def choose(self, name: str, value: str) -> Page:
        """Picks a value in the list of that name, of the view or of the whole page."""
        self.field(name).select_option(value)
        return self.settled()

    def field(self, name: str) -> Any:
        return self.page.locator(f"main > :not([hidden]) [name={name}]").first


def plain(text: str) -> str:
    for odd, even in (("\u2212", "-"), ("\u202f", " "), ("\u00a0", " ")):
        text = text.replace(odd, even)
    return " ".join(text.split())


def watch(page: Page, site: Site) -> Visitor:
    """A visitor at this page who hears every error and sees every request."""
    visitor = Visitor(page, site)
    page.on("console", lambda message: visitor.complaints.append(message.text))
    page.on("pageerror", lambda error: visitor.complaints.append(str(error)))
    page.on("request", lambda request: visitor.requests.append(request.url))

    def refuse(dialog: Dialog) -> None:
        visitor.complaints.append("dialog")
        dialog.dismiss()

    page.on("dialog", refuse)
    page.set_default_timeout(60_000)
    return visitor


def timeline(*cases: str, **params: str) -> str:
    """The address of the timeline of these cases."""
    pairs = [("s", case) for case in cases] + list(params.items())
    return f"#/timeline?{urlencode(pairs)}"
