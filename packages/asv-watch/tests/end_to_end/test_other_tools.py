"""What other tools make of stored results: releases of asv, asv-spyglass and asv-tachyon."""

import itertools
import json
import os
import shutil
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.conftest import commit, git, run
from tests.interruptible import run_driver

SUITE = """
import time

class Suite:
    params = ["a", "b"]
    param_names = ["case"]
    timer = time.process_time
    sample_time, warmup_time, rounds = 0.002, 0, 3

    def time_it(self, case):
        sum(range(3000))

def track_it():
    return 7

def peakmem_it():
    return bytearray(10_000_000)
"""


def _publish_as_asv_does(project: Path, *asv: str) -> None:
    plain = json.loads((project / "asv.conf.json").read_text()) | {"plugins": []}
    settings = project / ".asv" / "plain.json"
    settings.write_text(
        json.dumps(plain | {"repo": "..", "results_dir": "../results", "html_dir": "../html"})
    )
    run(*asv, "--config", str(settings), "publish", "--no-pull", cwd=project)


def _pythons(wanted: str) -> list[str]:
    """The first Python of a version that runs, on the PATH or of pyenv; or none."""
    installed = Path.home().glob(f".pyenv/versions/{wanted}.*/bin/python")
    candidates = (f"python{wanted}", *map(str, installed))
    found = (shutil.which(name) for name in candidates)
    running = (name for name in found if name and run(name, "-c", "", status=None).returncode == 0)
    return list(itertools.islice(running, 1))


def _measured(make_project: Callable[..., Path], home: Path) -> tuple[Path, list[str]]:
    """A project with results of two commits, and their hashes."""
    project = make_project(SUITE)
    commits = [git(project, "rev-parse", "HEAD")]
    run_driver("bench", project, home)
    commits.append(commit(project, {"benchmarks/more.txt": "x"}, "Two"))
    run_driver("bench", project, home)
    return project, commits


@pytest.mark.parametrize("release", sorted({"0.6.4", "0.6.5", "0.6.6", version("asv")}))
def test_each_release_of_asv_measures_and_reads_the_results(
    make_project: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    release: str,
) -> None:
    folder = tmp_path / "asv"
    command = sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", f"asv=={release}"
    if (
        release != version("asv")
        and run(*command, "--target", str(folder), status=None).returncode
    ):
        pytest.skip(f"asv {release} cannot be installed: no package index")
    monkeypatch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    asv = sys.executable, "-m", "asv"
    assert run(*asv, "--version").stdout.split()[-1] == release
    project, commits = _measured(make_project, tmp_path)
    shown = run(*asv, "show", "--machine", "m", commits[0], cwd=project).stdout
    assert "suite.Suite.time_it" in shown
    assert "suite.peakmem_it" in shown
    compared = run(*asv, "compare", "--machine", "m", *commits, cwd=project).stdout
    assert "suite.Suite.time_it('a')" in compared
    _publish_as_asv_does(project, *asv)
    assert list((project / "html" / "graphs").rglob("*time_it*.json"))


@pytest.mark.timeout(900)
def test_spyglass_and_tachyon_read_the_results(
    make_project: Callable[..., Path], tmp_path: Path
) -> None:
    tools = tmp_path / "tools"
    made = [
        run(python, "-m", "venv", "--without-pip", tools, status=None).returncode == 0
        for python in _pythons("3.12")
    ]
    pip = sys.executable, "-m", "pip", "--python", str(tools / "bin" / "python")
    packages = ("asv-spyglass==0.3.1", "asv-tachyon==0.5.8")
    install = *pip, "install", "--quiet", "--no-compile", *packages
    if not any(made) or run(*install, status=None).returncode:
        pytest.skip("no Python 3.12, or no package index")
    project, commits = _measured(make_project, tmp_path)
    before, after = (
        str(next((project / "results" / "m").glob(f"{name[:8]}-*.json"))) for name in commits
    )
    listed = str(project / "results" / "benchmarks.json")
    spyglass = str(tools / "bin" / "asv-spyglass")
    compared = run(spyglass, "compare", before, after, listed, status=None)
    assert compared.returncode in {0, 1}, compared.stderr  # 1 if a case is slower
    assert "time_it" in compared.stdout
    assert "peakmem_it" in compared.stdout
    _publish_as_asv_does(project, sys.executable, "-m", "asv")
    page = (project / "html" / "index.html").read_text()
    run(str(tools / "bin" / "asv-tachyon"), "install", str(project / "html"))
    assert (project / "html" / "index.html").read_text() != page
    shutil.rmtree(tools)
