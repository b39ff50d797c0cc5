"""The wheel of each package in an empty environment: one watches a project that knows no torch."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.asv_watch.compare.test_command import printed_ratio
from tests.asv_watch.torchless import BUILD, BUILT
from tests.conftest import ROOT, commit, git

SUITE = """
import time

class Suite:
    params = ["quick", "slow"]
    param_names = ["way"]
    timer = time.process_time
    sample_time, warmup_time, rounds, repeat = 0.005, 0.01, 2, 10

    def time_work(self, way):
        from package import work
        work(way)
"""
PACKAGE = """
def work(way):
    for _ in range({slow} if way == "slow" else 1000):
        sum(range(20))
"""


def _done(*command: str | Path, cwd: Path, status: int = 0) -> str:
    """Run a command that imports nothing of the checkout; return what it prints."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": "", "PIP_NO_COMPILE": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout
    return done.stdout


def _built(_folder: str, names: list[str]) -> set[str]:
    """Name what is not part of a checkout's source."""
    others = {"results", "tests", "docs", "html", "build", "node_modules", "__pycache__"}
    return {name for name in names if name in others or name.startswith(".")}


def _install(folder: Path, source: Path) -> Path:
    """Build the wheel of a package and install it into an empty environment; return its bin."""
    shutil.copytree(source, folder / "source", ignore=_built)  # a build writes beside its source
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", "wheels"]
    _done(*pip, "./source", cwd=folder)
    _done(sys.executable, "-m", "venv", "env", cwd=folder)
    [wheel] = (folder / "wheels").glob("*.whl")
    _done("env/bin/python", "-m", "pip", "install", "--quiet", wheel, cwd=folder)
    return folder / "env/bin"


pytestmark = pytest.mark.timeout(900)  # what the wheels require is downloaded


@pytest.fixture
def project(make_repository: Callable[..., Path]) -> Path:
    """Three commits of a package that lies beside its suites; the last one does more work."""
    root = make_repository(
        {
            "asv.conf.json": json.dumps(BUILT),
            "benchmarks/__init__.py": "",
            "benchmarks/suite.py": SUITE,
            "package.py": PACKAGE.format(slow=1000),
            **BUILD,
            ".gitignore": ".asv/\nresults/\nhtml/\n",
        }
    )
    commit(root, {"README": "x"}, "Document")
    commit(root, {"package.py": PACKAGE.format(slow=1600)}, "Do more in one way")
    return root


def test_the_wheel_of_the_watcher_watches_a_project_where_there_is_no_torch(
    project: Path, tmp_path: Path
) -> None:
    programs = _install(tmp_path / "watcher", ROOT / "src/asv_watch")
    listed = _done(programs / "python", "-m", "pip", "list", cwd=project)
    assert not re.search(r"^torch", listed, re.MULTILINE)

    def watch(*arguments: str) -> str:
        printed = _done(programs / "asv-watch", *arguments, cwd=project)
        assert "torch" not in printed
        return printed

    where = ("--machine", "m")
    printed = watch("compare", *where, "--before", "HEAD~2", "--cases", "")
    [slow] = re.findall(r"^\| `suite\.Suite\.time_work\('slow'\)` .*$", printed, re.M)
    [quick] = re.findall(r"^\| `suite\.Suite\.time_work\('quick'\)` .*$", printed, re.M)
    assert slow.split("|")[-2].strip() == "slower", printed
    assert 1.3 < printed_ratio(slow.split("|")[4].strip()) < 1.9
    assert quick.split("|")[-2].strip() == "same"
    # What slowed down would be confirmed and explained as well, which others test.
    printed = watch("nightly", *where, "--budget", "20min", "--cases", "quick")
    assert "nothing is left to be done tonight" in printed
    measured = {path.name[:8] for path in (project / "results/m").glob("*-*.json")}
    assert measured == {commit[:8] for commit in git(project, "rev-list", "HEAD").split()}
    assert "quick" in (project / "html/index.html").read_text()
    assert watch("report")


def test_the_wheel_of_torchspeed_answers_without_torch_and_names_the_plugin_that_replaced_its_own(
    project: Path, tmp_path: Path
) -> None:
    programs = _install(tmp_path / "measured", ROOT)
    expression = "from torchspeed.workloads import list_workloads; print(*list_workloads())"
    assert "darnn" in _done(programs / "python", "-c", expression, cwd=project)
    _done(programs / "python", "-m", "pip", "install", "--quiet", "asv==0.6.6", cwd=project)
    old = BUILT | {"plugins": [".torchspeed.watch"]}
    commit(project, {"asv.conf.json": json.dumps(old)}, "Use the old name")
    [line] = _done(programs / "asv", "publish", cwd=project, status=1).splitlines()
    assert "install asv-watch" in line
    assert '"plugins": [".asv_watch"]' in line
