"""Sites of generated histories, which `asv publish` or what it calls has built."""

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from asv_watch.asv import publish_hook
from asv_watch.comparison import Comparison
from asv_watch.judge.changes import analyse
from asv_watch.records.labels import UNDECLARED, Layout
from asv_watch.records.loading import load_history
from asv_watch.site.build import build_site
from asv_watch.site.contents import Contents, contents_of, in_order
from asv_watch.site.speeds import PublishedValue
from asv_watch.versions.git import read_commits
from tests.conftest import run
from tests.generator import Generated, Plan, generate, small_plan
from tests.making import LAYOUT

SOURCES = Path(__file__).parents[2] / "src"
ADDRESS = "https://example.org/torchspeed"
ATOM = "{http://www.w3.org/2005/Atom}"
PUBLISHED = tuple(
    PublishedValue(
        f"time_series.TimeSeries.time_forward('darnn', '{device}')",
        seconds,
        "seconds",
        "A small computer: Benchmarks (2021), https://example.org/others",
        "Another framework, and the work differs.",
    )
    for device, seconds in (("cpu", 0.09129), ("cuda", 13.808))
)


@dataclass(frozen=True)
class Project:
    """A folder with a git repository, results, and an asv.conf.json that names our plugin."""

    root: Path
    generated: Generated
    layout: Layout

    @property
    def html(self) -> Path:
        return self.root / "html"

    @property
    def results(self) -> Path:
        return self.root / "results"

    @property
    def index(self) -> Any:
        """The index of the published site."""
        return self.data("index")

    def data(self, name: str) -> Any:
        """What a data file of the published site holds."""
        registered_name, data = registered(self.html / "data" / f"{name}.js")
        assert registered_name == name
        return data

    def result_files(self) -> list[Path]:
        return sorted(
            path for path in self.results.glob("*/*.json") if path.name != "machine.json"
        )

    def publish(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run `asv publish` in the project's folder as a person would."""
        environment = {**os.environ, "PYTHONPATH": str(SOURCES), "OMP_NUM_THREADS": "1"}
        environment |= options.pop("env", {})
        command = sys.executable, "-m", "asv", "publish", *arguments
        return run(*command, env=environment, **{"cwd": self.root} | options)

    def contents(self, comparisons: Mapping[str, tuple[Comparison, ...]] = {}) -> Contents:
        """What a site shows of the stored results, and of further comparisons of some machines."""
        commits = read_commits(self.root / "repository")
        history = in_order(load_history(self.results, commits, layout=self.layout))
        history = replace(history, comparisons={**history.comparisons, **comparisons})
        return contents_of(history, analyse(history))

    def build(self, comparisons: Mapping[str, tuple[Comparison, ...]] = {}) -> None:
        """Build the site without the time that asv takes to start."""
        build_site(
            self.html,
            self.contents(comparisons),
            generated=1_790_000_000,
            project=publish_hook.Project("torchspeed", ADDRESS, f"{ADDRESS}/commit/", ""),
            published=PUBLISHED,
        )


def make_project(root: Path, plan: Plan, **settings: Any) -> Project:
    generated = generate(root, plan)
    has_models = any("model" in suite.params for suite in plan.suites)
    layout = LAYOUT if has_models else UNDECLARED
    configuration = {
        "version": 1,
        "project": "torchspeed",
        "project_url": ADDRESS,
        "show_commit_url": f"{ADDRESS}/commit/",
        "repo": "repository",
        "branches": ["main"],
        "results_dir": "results",
        "html_dir": "html",
        "plugins": [".asv_watch"],
        "layout": msgspec.to_builtins(layout),
        **settings,
    }
    (root / "asv.conf.json").write_text(json.dumps(configuration))
    return Project(root, generated, layout)


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A site with two machines, two torch releases and every outcome. Read it only."""
    project = make_project(tmp_path_factory.mktemp("published") / "it", Plan(commits=40))
    project.publish()
    return project


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A site from names, parameters, commits, machines and reasons that are markup."""
    project = make_project(
        tmp_path_factory.mktemp("hostile") / "it", Plan(commits=30, hostile=True)
    )
    project.build()
    return project


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A small project, published once, to be copied by the tests that change one."""
    project = make_project(tmp_path_factory.mktemp("template") / "it", small_plan(12))
    project.publish()
    return project


@pytest.fixture
def site(template: Project, tmp_path: Path) -> Project:
    """A small project of one's own, already published."""
    shutil.copytree(template.root, tmp_path / "it", symlinks=True)
    return replace(template, root=tmp_path / "it")


@pytest.fixture
def project(site: Project) -> Project:
    """A small project of one's own, not yet published."""
    shutil.rmtree(site.html)
    return site


def registered(path: Path) -> tuple[str, Any]:
    """Name and data of a data file, read as a program would: without running it."""
    text = path.read_text(encoding="utf-8")
    assert text.startswith("asvWatch.register("), text[:80]
    assert text.endswith(");\n")
    name, data = json.loads("[" + text.removeprefix("asvWatch.register(")[:-3] + "]")
    return name, data


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def parsed_xml(raw: bytes) -> ET.Element:
    """A document that we wrote ourselves, parsed; fails unless it is well-formed."""
    return ET.fromstring(raw)  # noqa: S314


def case_of(index: dict[str, Any], series: dict[str, Any]) -> str:
    """The case of a series of the index, as asv writes it."""
    return str(index["cases"][series["c"]]["key"])
