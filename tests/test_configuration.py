"""asv.conf.json keeps what the other files of the project rely on."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import asv.util
import pytest

from asv_watch.records.git import ask_git


@pytest.fixture(scope="module")
def configuration(root: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = asv.util.load_json(str(root / "asv.conf.json"), js_comments=True)
    return loaded


def test_every_pair_is_measured_under_the_same_conditions(configuration: dict[str, Any]) -> None:
    newest = {name: value for name, (value,) in configuration["matrix"]["env_nobuild"].items()}
    for older in configuration["include"]:
        assert older["env_nobuild"] == newest
        assert older["python"] == configuration["pythons"][0]
        assert set(older["req"]) == {"torch", "torchvision", "scikit-learn"}
        assert older["req"]["scikit-learn"] == configuration["matrix"]["req"]["scikit-learn"][0]


def test_the_reference_is_a_commit_with_a_pinned_release(
    root: Path, configuration: dict[str, Any]
) -> None:
    commit, _, release = configuration["reference"].partition("@")
    releases = [*configuration["matrix"]["req"]["torch"]]
    releases += [pair["req"]["torch"] for pair in configuration["include"]]
    assert release in releases
    if ask_git(root, "rev-parse", "--is-shallow-repository") == "false":
        assert ask_git(root, "cat-file", "-t", commit) == "commit"


def test_the_tests_run_on_the_newest_pair(root: Path, configuration: dict[str, Any]) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    newest = {name: value for name, (value,) in configuration["matrix"]["req"].items()}
    newest.pop("scikit-learn")
    pinned = {
        result[1]: result[2]
        for line in project["optional-dependencies"]["test"]
        if (result := re.fullmatch(r"(torch|torchvision)==([\d.]+)", line))
    }
    assert pinned == newest
