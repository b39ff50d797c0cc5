"""A project's benchmarks may lie in a repository of their own."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.asv.settings import read_configuration
from asv_watch.errors import WatchError
from tests.clockwork import SUITE, package
from tests.conftest import commit, git
from tests.interruptible import run_driver
from tests.tables import verdicts_of
from tests.torchless import BUILD, BUILT


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with two versions of a package, and nothing that measures it."""
    folder = tmp_path / "package.git"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=trunk")
    files = {"package.py": package(), **BUILD}
    commit(folder, files, "Begin")
    git(folder, "tag", "v1")
    commit(folder, {"package.py": package(slow=0.0016)}, "Do more")
    return folder


def _settings(repository: str) -> str:
    other = {"repo": repository, "dvcs": "git", "branches": ["trunk"], "project": "mirror"}
    return json.dumps(BUILT | other)


def test_commits_are_those_of_the_repository_that_asv_conf_json_names(
    make_project: Callable[..., Path], repository: Path, tmp_path: Path
) -> None:
    root = make_project(SUITE, {"asv.conf.json": _settings(f"file://{repository}")})
    ignored = {".gitignore": ".asv/\nresults/\nhtml/\nmirror/\n"}
    commit(root, ignored, "A commit of the benchmarks, which nothing measures")

    def run(*arguments: str) -> str:
        return run_driver(arguments[0], root, tmp_path, *arguments[1:])[0]

    printed = run("compare", "--before", "v1", "--after", "trunk", "--cases", "slow")
    assert verdicts_of(printed) == {"suite.Suite.time_it('slow')": "slower"}
    listed_by_asv = root / ".asv" / "interleaved" / "suites"
    assert not listed_by_asv.exists(), "the commits are built: nothing else is to be installed"
    run("nightly", "--budget", "20min", "--cases", "plain")
    measured = {path.name[:8] for path in (root / "results" / "m").glob("*-*.json")}
    assert measured == {hash_[:8] for hash_ in git(repository, "rev-list", "trunk").split()}


def test_nothing_is_left_in_a_project_whose_environments_are_elsewhere(
    make_project: Callable[..., Path], made_environment: Path, tmp_path: Path
) -> None:
    folders = {
        name: str(tmp_path / "elsewhere" / name) for name in ("env_dir", "results_dir", "html_dir")
    }
    root = make_project(SUITE, {"src/package.py": package()}, **folders)
    shutil.rmtree(root / ".asv", ignore_errors=True)
    folder = tmp_path / "elsewhere/env_dir" / made_environment.name
    shutil.copytree(made_environment, folder, symlinks=True, copy_function=os.link)
    run_driver("bench", root, tmp_path, "--cases", "plain")
    left = {path.name for path in root.iterdir()}
    assert left == {".git", "asv.conf.json", "benchmarks", "src"} | (left & {".gitignore"})
    assert (tmp_path / "elsewhere/env_dir/asv-watch/logs/publish.log").exists()


def test_a_repository_that_cannot_be_read_is_named(make_project: Callable[..., Path]) -> None:
    settings = _settings("https://127.0.0.1:9/nothing.git")
    root = make_project(SUITE, {"asv.conf.json": settings})
    with pytest.raises(WatchError, match=r"'https://127.0.0.1:9/nothing.git' cannot be read"):
        read_configuration(root)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("mamba", "no environments of type 'mamba'; choose one of conda"),
        ("conda", "made by conda, which is not on the PATH"),
    ],
)
def test_environments_that_asv_cannot_make_here_are_refused_before_anything_is_installed(
    make_project: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    message: str,
) -> None:
    root = make_project(SUITE, environment_type=kind)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.delenv("CONDA_EXE", raising=False)
    with pytest.raises(WatchError, match=message):
        read_configuration(root)
