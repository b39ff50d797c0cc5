"""asv.conf.json keeps what the other files of the project rely on."""

import dataclasses
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


PAIRS = {"2.15.0": "0.29.2", "2.14.1": "0.29.1"}
"""torch to its torchvision, as their release notes pair them."""


def test_each_torch_is_measured_with_its_torchvision_under_the_same_conditions(
    root: Path, configuration: dict[str, Any]
) -> None:
    environments = read_configuration(root).environments
    pairs = [(e.requirements["torch"], e.requirements["torchvision"]) for e in environments]
    assert pairs == list(PAIRS.items())
    assert len({tuple(sorted(e.variables.items())) for e in environments}) == 1
    assert {e.requirements["scikit-learn"] for e in environments} == {"1.9.1"}
    assert "pythons" not in configuration, "asv takes the Python that it runs with"


def test_a_release_without_wheels_for_this_python_says_which_it_needs(root: Path) -> None:
    listed = {release.version: release for release in read_configuration(root).releases["torch"]}
    for python, missing in (("3.11", 0), ("3.12", 2), ("3.13", len(listed))):
        reasons = [dataclasses.replace(r, python=python).lacks_python for r in listed.values()]
        assert len(list(filter(None, reasons))) == missing
    oldest = dataclasses.replace(listed["2.0.1"], python="3.12")
    assert oldest.lacks_python == (
        "torch 2.0.1 needs Python <3.12 and this is 3.12; run asv-watch with such a Python"
    )


def test_the_reference_is_a_commit_with_a_pinned_release(
    root: Path, configuration: dict[str, Any]
) -> None:
    commit, _, release = configuration["reference"].partition("@")
    assert release in configuration["matrix"]["req"]["torch"]
    if ask_git(root, "rev-parse", "--is-shallow-repository") == "false":
        assert ask_git(root, "cat-file", "-t", commit) == "commit"


def test_the_tests_run_on_the_newest_pair(root: Path, configuration: dict[str, Any]) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    newest = {name: values[0] for name, values in configuration["matrix"]["req"].items()}
    newest.pop("scikit-learn")
    pinned = {
        result[1]: result[2]
        for line in project["optional-dependencies"]["test"]
        if (result := re.fullmatch(r"(torch|torchvision)==([\d.]+)", line))
    }
    assert pinned == newest
