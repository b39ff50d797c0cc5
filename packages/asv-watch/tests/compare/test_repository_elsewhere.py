"""A project's benchmarks may lie in a repository of their own."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.asv.conf import available_type
from asv_watch.asv.environments import build_package
from asv_watch.asv.settings import read_configuration
from asv_watch.engine.workplace import open_workplace
from asv_watch.errors import WatchError
from tests.clockwork import SUITE, package
from tests.conftest import commit, git
from tests.interruptible import run_driver
from tests.tables import verdicts_of
from tests.torchless import BUILD, BUILT, give_environment, project_files


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with two versions of a package, and nothing that measures it."""
    folder = tmp_path / "package.git"
    git(tmp_path, "init", "--quiet", "--initial-branch=trunk", folder.name)
    commit(folder, {"package.py": package(), **BUILD}, "Begin")
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
    sides = "--before", "v1", "--after", "trunk"
    printed, _ = run_driver("compare", root, tmp_path, *sides, "--cases", "slow")
    assert verdicts_of(printed) == {"suite.Suite.time_it('slow')": "slower"}
    listed_by_asv = root / ".asv" / "interleaved" / "suites"
    assert not listed_by_asv.exists(), "the commits are built: nothing else is to be installed"
    run_driver("nightly", root, tmp_path, "--budget", "20min", "--cases", "plain")
    measured = {path.name[:8] for path in (root / "results" / "m").glob("*-*.json")}
    assert measured == {hash_[:8] for hash_ in git(repository, "rev-list", "trunk").split()}


def test_nothing_is_left_in_a_project_whose_environments_are_elsewhere(
    make_repository: Callable[..., Path], made_environment: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    folders = {name: str(elsewhere / name) for name in ("env_dir", "results_dir", "html_dir")}
    files = {"src/package.py": package()}
    root = make_repository(project_files(SUITE, files, plugins=[], **folders))
    give_environment(root, made_environment, elsewhere / "env_dir")
    run_driver("bench", root, tmp_path, "--cases", "plain")
    left = {".git", ".gitignore", "asv.conf.json", "benchmarks", "src"}
    assert {path.name for path in root.iterdir()} == left
    assert (elsewhere / "env_dir/asv-watch/interleaved").exists()
    page = (elsewhere / "html_dir/index.html").read_text()
    assert "feed of changes" in page, "although asv.conf.json does not name the plug-in"


def test_a_repository_that_cannot_be_read_is_named(make_project: Callable[..., Path]) -> None:
    settings = _settings("https://127.0.0.1:9/nothing.git")
    root = make_project(SUITE, {"asv.conf.json": settings})
    with pytest.raises(WatchError, match=r"'https://127.0.0.1:9/nothing.git' cannot be read"):
        read_configuration(root)


@pytest.mark.parametrize("kind", ["mamba", "conda", "rattler"])
def test_virtualenv_makes_environments_whose_program_is_not_installed(
    make_project: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    kind: str,
) -> None:
    root = make_project(SUITE, environment_type=kind)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.delenv("CONDA_EXE", raising=False)
    available_type.cache_clear()
    [environment] = read_configuration(root).environments
    assert environment.name.startswith("virtualenv-py3")
    replaced = f"{kind} is not installed: virtualenv makes the environments instead\n"
    assert capsys.readouterr().err == replaced


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pyproject.toml", '[project]\nname = "package"\nrequires-python = ">=3.99"\n'),
        ("setup.py", 'setup(name="package", python_requires=">=3.99")\n'),
        ("setup.cfg", "[options]\npython_requires = >=3.99\n"),
    ],
)
def test_a_python_that_a_commit_does_not_accept_is_named_before_anything_is_made(
    make_project: Callable[..., Path], file: str, text: str, tmp_path: Path
) -> None:
    root = make_project(SUITE, {"asv.conf.json": json.dumps(BUILT), file: text})
    [spec] = read_configuration(root).environments
    commit_hash = git(root, "rev-parse", "HEAD")
    with pytest.raises(WatchError, match=r"package needs Python >=3\.99 and this is 3\."):
        build_package(root, root, spec, commit_hash, tmp_path / "built")


def test_the_branch_that_exists_is_named(make_project: Callable[..., Path]) -> None:
    root = make_project(SUITE, branches=["master"])
    for remedy in ('write "branches": \\["main"\\] into asv', "with `git branch master HEAD`"):
        opened = open_workplace(root, "bench", release="newest", machine="m")
        with pytest.raises(WatchError, match=f"no local branch 'master', .*; .*{remedy}"), opened:
            pass
        git(root, "checkout", "--quiet", "--detach")
