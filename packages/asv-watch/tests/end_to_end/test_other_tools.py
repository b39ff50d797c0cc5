"""Each release of asv that a project may have measures, and reads what is stored."""

import json
import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.clockwork import SUITE
from tests.conftest import commit, git, run
from tests.interruptible import run_driver

PEAK = "def peakmem_it():\n    return bytearray(10_000_000)\n"


@pytest.mark.parametrize("release", sorted({"0.6.4", "0.6.5", "0.6.6", version("asv")}))
def test_each_release_of_asv_measures_and_reads_the_results(
    make_project: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    release: str,
) -> None:
    folder = tmp_path / "asv"
    if release != version("asv"):
        pip = sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"
        if run(*pip, f"asv=={release}", "--target", folder, status=None).returncode:
            pytest.skip(f"asv {release} cannot be installed: no package index")
    monkeypatch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    asv = sys.executable, "-m", "asv"
    assert run(*asv, "--version").stdout.split()[-1] == release
    project = make_project(SUITE + PEAK)
    run_driver("bench", project, tmp_path)
    before = git(project, "rev-parse", "HEAD")
    after = commit(project, {"benchmarks/more.txt": "x"}, "Two")
    run_driver("bench", project, tmp_path)
    shown = run(*asv, "show", "--machine", "m", before, cwd=project).stdout
    assert "suite.Suite.time_it" in shown
    assert "suite.peakmem_it" in shown
    compared = run(*asv, "compare", "--machine", "m", before, after, cwd=project).stdout
    assert "suite.Suite.time_it('plain')" in compared
    settings = json.loads((project / "asv.conf.json").read_text()) | {"plugins": []}
    (project / "asv.conf.json").write_text(json.dumps(settings))
    run(*asv, "publish", "--no-pull", cwd=project)
    assert list((project / "html" / "graphs").rglob("*time_it*.json"))
