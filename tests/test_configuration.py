"""asv.conf.json keeps what the other files of the project rely on."""

import re
import tomllib
from typing import Any

import asv.util
import pytest

from asv_watch.asv.settings import read_configuration
from asv_watch.versions.git import ask_git
from tests.conftest import ROOT
from torchspeed.measure.processes import SETTINGS


@pytest.fixture(scope="module")
def configuration() -> dict[str, Any]:
    loaded: dict[str, Any] = asv.util.load_json(str(ROOT / "asv.conf.json"), js_comments=True)
    return loaded


def test_each_torch_has_its_torchvision(configuration: dict[str, Any]) -> None:
    settings = read_configuration(ROOT)
    released = {release.version: release.requirements for release in settings.releases["torch"]}
    for environment in settings.environments:
        torch, torchvision = (environment.requirements[p] for p in ("torch", "torchvision"))
        assert released[torch]["torchvision"] == torchvision
    assert len(settings.environments) == len(configuration["matrix"]["req"]["torch"])
    assert len({tuple(sorted(e.variables.items())) for e in settings.environments}) == 1
    assert {e.requirements["scikit-learn"] for e in settings.environments} == {"1.9.1"}
    assert "pythons" not in configuration, "asv takes the Python that it runs with"


def test_the_reference_is_a_pinned_commit(configuration: dict[str, Any]) -> None:
    commit, _, release = configuration["reference"].partition("@")
    assert release in configuration["matrix"]["req"]["torch"]
    if ask_git(ROOT, "rev-parse", "--is-shallow-repository") == "false":
        assert ask_git(ROOT, "cat-file", "-t", commit) == "commit"


def test_the_tests_run_on_the_newest_pair(configuration: dict[str, Any]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    newest = {name: values[0] for name, values in configuration["matrix"]["req"].items()}
    newest.pop("scikit-learn")
    required = " ".join(project["optional-dependencies"]["test"])
    assert dict(re.findall(r"\b(torch|torchvision)==(\S+)", required)) == newest


def test_its_environments_settle_the_allocator_as_we_do(configuration: dict[str, Any]) -> None:
    variables = {name: [str(value)] for name, (_, value) in SETTINGS.items()}
    conditions = configuration["matrix"]["env_nobuild"]
    assert variables == {k: v for k, v in conditions.items() if k.startswith("MALLOC_")}
