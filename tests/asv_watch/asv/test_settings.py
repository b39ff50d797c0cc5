"""A single line names what asv.conf.json wants and this machine lacks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from asv_watch.asv.settings import read_configuration, select_environments
from tests.conftest import git


@pytest.mark.parametrize(
    ("commands", "package"),
    [
        ({"build_command": [], "install_command": ["python --version"]}, "src"),
        ({"build_command": [], "install_command": ["python -m pip install {build_dir}"]}, ""),
        ({}, ""),
        ({"build_command": [], "install_command": [], "package_dir": "lib"}, "lib"),
    ],
)
def test_a_package_is_imported_as_it_is_only_where_asv_installs_none(
    tmp_path: Path, commands: dict[str, object], package: str
) -> None:
    settings = {"version": 1, "project": "p", "repo": ".", "environment_type": "virtualenv"}
    (tmp_path / "asv.conf.json").write_text(json.dumps(settings | commands))
    git(tmp_path, "init", "--quiet")
    assert read_configuration(tmp_path).package == package


def test_environments_with_the_same_main_requirement_are_told_apart(tmp_path: Path) -> None:
    matrix = {"req": {"numpy": ["2.4.0"], "scipy": ["1.16", "1.17"]}}
    settings = {"version": 1, "project": "p", "repo": ".", "environment_type": "virtualenv"}
    (tmp_path / "asv.conf.json").write_text(json.dumps(settings | {"matrix": matrix}))
    git(tmp_path, "init", "--quiet")
    environments = read_configuration(tmp_path).environments
    labels = [environment.label for environment in environments]
    assert labels == [environment.name for environment in environments]
    assert len(select_environments(environments, "2.4.0")) == len(set(labels)) == 2
    assert select_environments(environments, labels[1]) == environments[1:]
