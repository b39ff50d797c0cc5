"""A single line names what asv.conf.json wants and this machine lacks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.asv.settings import Configuration, read_configuration, select_environments
from tests.conftest import git


def _configured(root: Path, **entries: object) -> Configuration:
    """The settings of a checkout with these entries in asv.conf.json."""
    git(root.parent, "init", "--quiet", root.name)
    settings = {"version": 1, "project": "p", "repo": ".", "environment_type": "virtualenv"}
    (root / "asv.conf.json").write_text(json.dumps(settings | entries))
    return read_configuration(root)


@pytest.mark.parametrize(
    ("commands", "is_built"),
    [
        ({"build_command": [], "install_command": ["python --version"]}, False),
        ({"build_command": [], "install_command": ["python -m pip install {build_dir}"]}, True),
        ({"build_command": [], "install_command": ["python setup.py develop"]}, True),
        ({}, True),
        ({"build_command": [], "install_command": []}, False),
    ],
)
def test_a_package_is_imported_as_it_is_only_where_asv_installs_none(
    tmp_path: Path, commands: dict[str, object], is_built: bool
) -> None:
    assert _configured(tmp_path, **commands).is_built is is_built


def test_what_can_change_a_value_is_what_is_listed(
    make_repository: Callable[..., Path], tmp_path: Path
) -> None:
    elsewhere = make_repository({"src/a.py": ""})

    def paths(**entries: object) -> tuple[str, ...]:
        return _configured(tmp_path / "suites", **entries).measured_paths

    assert paths(measured_paths=["models"]) == ("models",)
    of_another = paths(measured_paths=["models"], repo=str(elsewhere))
    assert of_another == (), "the list is of the suites' repository"
    assert paths() == ()


def test_environments_with_the_same_main_requirement_are_told_apart(tmp_path: Path) -> None:
    matrix = {"req": {"numpy": ["2.4.0"], "scipy": ["1.16", "1.17"]}}
    environments = _configured(tmp_path, matrix=matrix).environments
    labels = [environment.label for environment in environments]
    assert labels == [environment.name for environment in environments]
    assert len(select_environments(environments, "2.4.0")) == len(set(labels)) == 2
    assert select_environments(environments, labels[1]) == environments[1:]


@pytest.mark.parametrize(("release", "warns"), [("0.6.6", False), ("0.7", True), ("1.0rc1", True)])
def test_a_newer_asv_is_named_and_not_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    release: str,
    warns: bool,
) -> None:
    monkeypatch.setattr("asv.__version__", release)
    assert _configured(tmp_path).project == "p"
    assert (f"asv {release} is installed" in capsys.readouterr().err) is warns
