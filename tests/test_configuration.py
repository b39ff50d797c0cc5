"""asv.conf.json keeps what the other files of the project rely on."""

import re
import tomllib
from pathlib import Path
from typing import Any

import asv.util
import pytest

from asv_watch.asv.settings import read_configuration
from asv_watch.versions.git import ask_git


@pytest.fixture(scope="module")
def configuration(root: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = asv.util.load_json(str(root / "asv.conf.json"), js_comments=True)
    return loaded


def test_each_torch_has_its_torchvision(root: Path, configuration: dict[str, Any]) -> None:
    settings = read_configuration(root)
    released = {release.version: release.requirements for release in settings.releases["torch"]}
    for environment in settings.environments:
        torch, torchvision = (environment.requirements[p] for p in ("torch", "torchvision"))
        assert released[torch]["torchvision"] == torchvision
    assert len(settings.environments) == len(configuration["matrix"]["req"]["torch"])
    assert len({tuple(sorted(e.variables.items())) for e in settings.environments}) == 1
    assert {e.requirements["scikit-learn"] for e in settings.environments} == {"1.9.1"}
    assert "pythons" not in configuration, "asv takes the Python that it runs with"


def test_the_reference_is_a_pinned_commit(root: Path, configuration: dict[str, Any]) -> None:
    commit, _, release = configuration["reference"].partition("@")
    assert release in configuration["matrix"]["req"]["torch"]
    if ask_git(root, "rev-parse", "--is-shallow-repository") == "false":
        assert ask_git(root, "cat-file", "-t", commit) == "commit"


def test_the_tests_run_on_the_newest_pair(root: Path, configuration: dict[str, Any]) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    newest = {name: values[0] for name, values in configuration["matrix"]["req"].items()}
    newest.pop("scikit-learn")
    required = " ".join(project["optional-dependencies"]["test"])
    assert dict(re.findall(r"\b(torch|torchvision)==(\S+)", required)) == newest
