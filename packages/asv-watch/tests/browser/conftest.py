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

from tests.browser.visitor import FLAGS, Site, Visitor, chromium, watch
from tests.generator import TIME_AND_MEMORY, Plan, Suite, plan_of_size
from tests.js.node import NODE
from tests.servers import files_of
from tests.site.conftest import Project, make_project


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path, environment = chromium()
    os.environ["PLAYWRIGHT_NODEJS_PATH"] = NODE  # playwright's own needs libatomic, which is rare
    with sync_playwright() as driver:
        entry = driver.chromium.launch(executable_path=path, args=FLAGS, env=environment)
        yield entry
        entry.close()


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
def without_models(publish: Callable[..., Site]) -> Site:
    """A project that measures no models: its columns are the values of a parameter."""
    functions = tuple((f"time_{name}", "time", "seconds") for name in ("solve", "refine"))
    suite = Suite("mesh.Solver", functions, {"size": ("big", "small")})
    plan = Plan(commits=8, suites=(suite,), machines=("ci-2core",), steps=0, tag_every=0)
    return publish("without-models", plan)


@pytest.fixture(scope="session")
def unmeasured(publish: Callable[..., Site]) -> Site:
    """A project that has commits and benchmarks, and no result yet."""

    def without_results(project: Project) -> None:
        for file in project.results.glob("*/*-*.json*"):
            file.unlink()
        project.build()

    return publish("unmeasured", Plan(commits=3, steps=0, machines=("ci-2core",)), without_results)


@pytest.fixture(scope="session")
def launch(publish: Callable[..., Site]) -> Site:
    """The first day: one commit, two torch releases, no GPU."""
    machine = ("ci-2core",)
    return publish("launch", Plan(commits=1, steps=0, machines=machine, machines_with_cuda=()))


@pytest.fixture(scope="session")
def hostile(publish: Callable[..., Site]) -> Site:
    """Markup and scripts in names of benchmarks, models, machines, in commits and reasons."""
    return publish("hostile", Plan(commits=30, hostile=True))


@pytest.fixture(scope="session")
def large(publish: Callable[..., Site]) -> Site:
    """1,000 commits of 200 series."""
    return publish("large", plan_of_size(1000, 200))


OPTIONS: dict[str, Any] = {
    "viewport": {"width": 1280, "height": 900},
    "reduced_motion": "reduce",
    "accept_downloads": True,
}


def check(visitor: Visitor) -> None:
    """Nothing may have gone wrong in the window, and nothing may have left the site."""
    assert visitor.complaints == []
    own = visitor.home.rsplit("/", 1)[0] + "/"
    allowed = (own, "about:", "blob:", "data:")
    assert [url for url in visitor.requests if not url.startswith(allowed)] == []


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visitor]]:
    """Opens a window of its own on a site, with options of playwright's contexts."""
    visitors = []

    def work(home: str, **options: Any) -> Visitor:
        context = browser.new_context(**{**OPTIONS, **options})
        visitor = watch(context.new_page(), home)
        visitors.append(visitor)
        return visitor

    yield work
    for visitor in visitors:
        visitor.page.context.close()
    for visitor in visitors:
        check(visitor)


@pytest.fixture(scope="session")
def window(browser: Browser, site: Site) -> Iterator[Visitor]:
    """One window for every test without wishes of its own: opening one takes a while."""
    context = browser.new_context(**OPTIONS)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    yield watch(context.new_page(), site.url)
    context.close()


@pytest.fixture
def visitor(window: Visitor) -> Iterator[Visitor]:
    window.complaints.clear()
    window.requests.clear()
    yield window
    check(window)
