"""A single line names what asv.conf.json wants and this machine lacks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from asv_watch.asv.settings import read_configuration
from asv_watch.errors import WatchError
from tests.asv_watch.asv.project import CONFIGURATION


def test_a_project_that_needs_conda_is_refused_where_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = CONFIGURATION | {"environment_type": "conda"}
    (tmp_path / "asv.conf.json").write_text(json.dumps(settings))
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CONDA_EXE", raising=False)
    with pytest.raises(WatchError, match="made by conda, which is neither on the PATH"):
        read_configuration(tmp_path)


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
    assert read_configuration(tmp_path).package == package
