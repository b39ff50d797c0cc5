"""Environments keep to one release of asv_runner, and have what a commit is built with."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asv.environment
import pytest

from asv_watch.asv import environments, packages
from asv_watch.asv.commands import find_cause
from asv_watch.asv.environments import create, install_build_requirements, pinned_asv_runner
from asv_watch.asv.packages import make_environment
from asv_watch.asv.settings import EnvironmentSpec, load_settings
from asv_watch.errors import ExitStatus
from tests import torchless
from tests.interruptible import run_driver


def test_one_release_is_pinned_everywhere(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    pins = [pin for pin in project["dependencies"] if pin.startswith("asv_runner")]
    assert pins == [f"asv_runner=={pinned_asv_runner()}"]


def environment_with(folder: Path, *installed: str, **settings: Any) -> Any:
    """An environment that has releases of packages; pip writes nothing there."""
    (folder / "asv.conf.json").write_text(json.dumps(torchless.CONFIGURATION | settings))
    [environment] = asv.environment.get_environments(load_settings(folder), None, verbose=False)
    for release in installed:
        dist_info = f"lib/python3.11/site-packages/{release}.dist-info"
        Path(environment._path, dist_info).mkdir(parents=True)
    return environment


def test_an_environment_gets_the_pinned_release_instead_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = environment_with(tmp_path, "asv_runner-0.3.1")
    installed: list[str] = []
    environment._run_pip = installed.extend
    asked: dict[str, str] = {}
    environment.create = lambda: asked.update(environment._base_requirements)
    monkeypatch.setattr(environments, "is_working", lambda folder: True)
    create(environment)
    assert asked["pip+asv_runner"] == pinned_asv_runner()
    assert installed == ["install", f"asv_runner=={pinned_asv_runner()}"]
    installed.clear()
    [dist_info] = Path(environment._path).glob("lib/*/*/asv_runner-*")
    dist_info.rename(dist_info.with_name(f"asv_runner-{pinned_asv_runner()}.dist-info"))
    create(environment)
    assert installed == [], "it is not installed twice"


def test_an_environment_of_a_release_that_was_made_earlier_is_kept(tmp_path: Path) -> None:
    release = f"asv_runner-{pinned_asv_runner()}"
    (tmp_path / f"lib/python3.11/site-packages/{release}.dist-info").mkdir(parents=True)
    (tmp_path / "complete").touch()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to("/bin/true")
    make_environment(tmp_path, tmp_path, EnvironmentSpec({"torch": "2.4.0"}, "", tmp_path))
    assert (tmp_path / "complete").exists()


@pytest.mark.parametrize(
    ("requires", "settings", "installed"),
    [
        (["Hatch_Ling>=1.24", "setuptools>=65"], {}, ["install", "Hatch_Ling>=1.24"]),
        (["setuptools>=65"], {}, []),
        (["hatch-ling"], {"build_command": None}, []),
        (["not a requirement"], {}, []),
    ],
    ids=["missing", "there", "isolated", "wrong"],
)
def test_what_a_commit_is_built_with_is_installed_where_it_is_missing(
    tmp_path: Path, requires: list[str], settings: dict[str, Any], installed: list[str]
) -> None:
    command = {"build_command": ["python -m pip wheel --no-build-isolation {build_dir}"]}
    environment = environment_with(tmp_path, "setuptools-69.5.1", **command | settings)
    done: list[str] = []
    environment._run_pip = done.extend
    install_build_requirements(environment, f"[build-system]\nrequires = {requires}\n")
    assert done == installed


def test_the_reason_of_a_failed_build_is_none_of_the_hints_of_pip() -> None:
    printed = """\
   error: metadata-generation-failed

   × Encountered error while generating package metadata.
   ╰─> from file:///project

   note: This is an issue with the package mentioned above, not pip.
   hint: See above for details.

·· Last error: Command 'python -m pip wheel' failed
·· Failed to build the project and import the benchmark suite.
"""
    reason = str(find_cause(printed))
    assert "(Encountered error while generating package metadata.)" in reason


def test_a_release_that_was_made_with_another_asv_runner_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = EnvironmentSpec({"pip+numpy": "2.4.0"}, "", tmp_path / "releases", python="3.11")
    packages_folder = spec.folder / "lib/python3.11/site-packages"
    pinned = packages_folder / f"asv_runner-{pinned_asv_runner()}.dist-info"
    installed: list[str] = []

    def install(command: list[str], *_: object, **__: object) -> None:
        pinned.mkdir(parents=True, exist_ok=True)
        installed.append(" ".join(command).rpartition("--quiet ")[2])

    monkeypatch.setattr(packages, "run_command", install)
    for module in (environments, packages):
        monkeypatch.setattr(module, "is_working", lambda folder: True)
    wanted = f"numpy===2.4.0 asv_runner=={pinned_asv_runner()}"
    for _ in range(2):
        make_environment(tmp_path, tmp_path, spec)
        assert installed == [f"--python 3.11 {spec.folder}", wanted]
    pinned.rename(packages_folder / "asv_runner-0.1.9.dist-info")
    make_environment(tmp_path, tmp_path, spec)
    assert installed[2:] == [f"--python 3.11 {spec.folder}", wanted]


def test_a_damaged_environment_is_made_anew_and_no_commit_is_blamed_for_one(
    make_project: Callable[..., Path], tmp_path: Path
) -> None:
    breaks = "import os, pip; os.rename(pip.__path__[0], pip.__path__[0] + '-'); 1 / 0"
    build = {"build_command": [f'python -c "{breaks}"'], "install_command": ["ls {build_dir}"]}
    project = make_project("def track_it():\n    return 1\n", **build)
    [pip] = project.glob(".asv/env/*/lib/python*/site-packages/pip")
    pip.rename(f"{pip}-")
    printed, errors = run_driver("bench", project, tmp_path, status=ExitStatus.FAILED)
    folder = pip.parents[3]
    assert f"the environment {folder} is damaged, and made anew" in printed
    assert errors.splitlines()[-1] == (
        f"asv-watch: the environment {folder} is damaged; `rm -r {folder}` removes it, and the "
        "next run makes it anew"
    )
