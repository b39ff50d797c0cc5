"""What asv.conf.json declares: what this machine lacks or nobody knows is named in a line."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from asv_watch.asv.conf import load_settings
from asv_watch.asv.declared import Declared, SuiteEntry
from asv_watch.asv.settings import Configuration, read_configuration, select_environments
from asv_watch.errors import WatchError
from tests.conftest import git


def _configured(root: Path, **entries: object) -> Configuration:
    """The settings of a checkout with these entries in asv.conf.json."""
    git(root.parent, "init", "--quiet", root.name)
    configure(root, **entries)
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


def test_a_python_that_does_not_run_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert len(_configured(tmp_path, pythons=["3.99", own]).environments) == 1, "it is on no path"
    shim = tmp_path / "bin" / "python3.99"
    shim.parent.mkdir()
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim.parent}{os.pathsep}{os.environ['PATH']}")
    [environment] = _configured(tmp_path, pythons=["3.99", own]).environments
    assert environment.python == own


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


SUITE = """
class Parser:
    params = ["small", "large"]
    param_names = ["size"]

    def time_parse_cold(self, size):
        pass
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with one suite."""
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks/parsing.py").write_text(SUITE)
    return tmp_path


def configure(root: Path, **entries: Any) -> None:
    """Load a configuration with these entries."""
    settings = {"version": 1, "project": "p", "repo": ".", "environment_type": "virtualenv"}
    (root / "asv.conf.json").write_text(json.dumps(settings | entries))
    load_settings(root)


@pytest.mark.parametrize(
    ("entries", "name", "meant"),
    [
        ({"machine": ["desk"]}, "machine", "machines"),
        ({"enviroment_gib": 6}, "enviroment_gib", "environment_gib"),
        ({"benchmarks_dir": "b"}, "benchmarks_dir", "benchmark_dir"),
        ({"suites": {"parsin": {"position": 1}}}, "parsin", "parsing"),
        ({"suites": {"parsing.Parsr": {"position": 1}}}, "Parsr", "Parser"),
        ({"layout": {"rows": "sise"}}, "sise", "size"),
        ({"layout": {"columns": ["sizes"]}}, "sizes", "size"),
        ({"layout": {"words": {"state": ["colt"]}}}, "colt", None),
        ({"layout": {"labels": {"kind": {"parzing": "slow"}}}}, "parzing", "parsing"),
    ],
)
def test_a_misspelt_name_is_an_error(
    root: Path, entries: dict[str, Any], name: str, meant: str | None
) -> None:
    with pytest.raises(WatchError) as refused:
        configure(root, **entries)
    assert repr(name) in str(refused.value)
    assert meant is None or f"did you mean {meant!r}?" in str(refused.value)


@pytest.mark.parametrize(
    "entries",
    [
        {"gpu_cases": "a{99999999999}"},
        {"environment_gib": float("inf")},
    ],
)
def test_a_value_that_cannot_be_used_is_an_error(root: Path, entries: dict[str, Any]) -> None:
    with pytest.raises(WatchError) as refused:
        configure(root, **entries)
    assert next(iter(entries)) in str(refused.value)


def test_the_page_says_what_the_gate_ignores_and_why() -> None:
    declared = Declared(
        suites={
            "io": SuiteEntry(ignore="its data comes from the network"),
            "linalg.Solve": SuiteEntry(threshold="5%", position=1),
            "parsing": SuiteEntry(position=2),
        }
    )
    assert list(declared.gate_exceptions()) == [
        "The gate ignores io: its data comes from the network.",
        "The gate fails if a case of linalg.Solve is slower by 5% or more.",
    ]


def test_the_address_of_the_site_is_one_of_the_web(root: Path) -> None:
    for address in ("javascript:alert(1)", "speed.example.org", "https://", " http://a"):
        message = '"site_url" of asv.conf.json is .+; give an address that begins with https://'
        with pytest.raises(WatchError, match=message):
            configure(root, site_url=address)
    for address in ("https://speed.example.org", "http://127.0.0.1/speed"):
        configure(root, site_url=address)
