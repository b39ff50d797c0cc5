"""Sites of generated histories, which `asv publish` or what it calls has built."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from asv_watch.asv import settings
from asv_watch.judge.changes import analyse
from asv_watch.records.history import load_history
from asv_watch.records.labels import UNDECLARED, Layout
from asv_watch.site.build import build_site
from asv_watch.site.contents import Contents, contents_of, in_order
from asv_watch.versions.git import read_commits
from tests.conftest import ROOT, run
from tests.generator import Generated, Plan, generate, small_plan
from tests.making import LAYOUT

ADDRESS = "https://example.org/torchspeed"
ATOM = "{http://www.w3.org/2005/Atom}"


@dataclass(frozen=True)
class Project:
    """A folder with a git repository, results, and an asv.conf.json that names our plugin."""

    root: Path
    html: Path
    results: Path
    generated: Generated
    layout: Layout

    @property
    def index(self) -> Any:
        return self.data("index")

    def data(self, name: str) -> Any:
        """What a data file of the published site holds."""
        registered_name, data = registered(self.html / "data" / f"{name}.js")
        assert registered_name == name
        return data

    def result_files(self) -> list[Path]:
        return sorted(self.results.glob("*/*-*.json"))

    def publish(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run `asv publish` in the project's folder as a person would."""
        variables = {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
        environment = os.environ | variables | options.pop("env", {})
        asv = sys.executable, "-m", "asv"
        return run(*asv, "publish", *arguments, cwd=self.root, env=environment, **options)

    def contents(self) -> Contents:
        """What a site shows of the stored results."""
        commits = read_commits(self.root / "repository")
        history = in_order(load_history(self.results, commits, layout=self.layout))
        return contents_of(history, analyse(history))

    def build(self) -> None:
        """Build the site without the time that asv takes to start."""
        named = settings.Project("torchspeed", ADDRESS, f"{ADDRESS}/commit/", "")
        build_site(self.html, self.contents(), generated=1_790_000_000, project=named)


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
    return Project(root, root / "html", generated.results, generated, layout)


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A site with two machines, two torch releases and every outcome. Read it only."""
    project = make_project(tmp_path_factory.mktemp("published") / "it", Plan(commits=40))
    project.publish()
    return project


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A site from names, parameters, commits, machines and reasons that are markup."""
    plan = Plan(commits=30, hostile=True)
    project = make_project(tmp_path_factory.mktemp("hostile") / "it", plan)
    project.build()
    return project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A small project, not yet published."""
    return make_project(tmp_path / "it", small_plan(12))


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


def parsed_xml(path: Path) -> ET.Element:
    """A document that we wrote ourselves, parsed; fails unless it is well-formed."""
    return ET.fromstring(path.read_bytes())  # noqa: S314


def case_of(index: dict[str, Any], series: dict[str, Any]) -> str:
    """The case of a series of the index, as asv writes it."""
    return str(index["cases"][series["c"]]["key"])
