"""A real Chromium, and real sites to show it: generated histories, published by asv.

The driver is playwright, whose own browsers are not downloaded: the system's Chromium is shown the
site, or that of npm.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.visitor import Site, Visitor, started, watch
from tests.generator import TIME_AND_MEMORY, Plan, Suite, plan_of_size
from tests.js.node import NODE
from tests.servers import files_of
from tests.site.conftest import Project, make_project


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    os.environ["PLAYWRIGHT_NODEJS_PATH"] = NODE  # playwright's own needs libatomic, which is rare
    with sync_playwright() as driver, started(driver) as entry:
        yield entry


@pytest.fixture(scope="session")
def publish(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Site]]:
    """Generates a history, publishes it and serves the site."""
    servers = contextlib.ExitStack()

    def work(name: str, plan: Plan, how: Callable[[Project], object] = Project.build) -> Site:
        project = make_project(tmp_path_factory.mktemp(name) / "it", plan)
        how(project)
        address = servers.enter_context(files_of(project.html))
        return Site(project.html, f"http://{address}/index.html")

    with servers:
        yield work


@pytest.fixture(scope="session")
def site(publish: Callable[..., Site]) -> Site:
    """Two machines, two torch releases, seventy commits, planted steps of code and machine."""
    return publish("site", Plan(commits=70, steps=6, machine_steps=1), Project.publish)


@pytest.fixture(scope="session")
def small(publish: Callable[..., Site]) -> Site:
    """Every kind of thing, few of each: for what takes long on each element."""
    functions = (*TIME_AND_MEMORY, ("track_throughput_forward", "track", "samples/s"))
    params = {"model": ("darnn", "dsanet"), "device": ("cpu", "cuda")}
    suite = Suite("time_series.TimeSeries", functions, params)
    machine = ("ci-2core",)
    plan = Plan(
        commits=45, suites=(suite,), machines=machine, machines_with_cuda=machine, steps=3,
        machine_steps=1, failures=0.02, timeouts=0.02, never_run=0.05,
    )  # fmt: skip
    return publish("small", plan)


@pytest.fixture(scope="session")
def hostile(publish: Callable[..., Site]) -> Site:
    """Markup and scripts in names of benchmarks, models, machines, in commits and reasons."""
    return publish("hostile", Plan(commits=30, hostile=True))


@pytest.fixture(scope="session")
def large(publish: Callable[..., Site]) -> Site:
    """1,000 commits of 200 series."""
    return publish("large", plan_of_size(1000, 200))


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visitor]]:
    """Opens a window of its own on a site, with options of playwright's contexts.

    Nothing may go wrong in it, and nothing leave the site.
    """
    visitors = []

    def work(site: Site, **options: Any) -> Visitor:
        options = {"viewport": {"width": 1280, "height": 900}} | options
        permissions = ["clipboard-read", "clipboard-write"]
        context = browser.new_context(reduced_motion="reduce", permissions=permissions, **options)
        visitor = watch(context.new_page(), site)
        visitors.append(visitor)
        return visitor

    yield work
    for visitor in visitors:
        visitor.page.context.close()
    for visitor in visitors:
        assert visitor.complaints == []
        own = visitor.site.url.removesuffix("index.html")
        allowed = (own, "about:", "blob:", "data:")
        assert [url for url in visitor.requests if not url.startswith(allowed)] == []


@pytest.fixture
def show(publish: Callable[..., Site], visit: Callable[..., Visitor]) -> Callable[..., Visitor]:
    """Publishes a history as `publish` does, and opens a window on it."""
    return lambda *history: visit(publish(*history))


@pytest.fixture
def visitor(site: Site, visit: Callable[..., Visitor]) -> Visitor:
    return visit(site)
