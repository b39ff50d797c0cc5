"""What asv.conf.json declares: what this machine lacks or nobody knows is named in a line."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.asv.declared import Declared, SuiteEntry
from asv_watch.asv.settings import Configuration, read_configuration, select_environments
from asv_watch.errors import WatchError
from tests.conftest import git

SUITE = """
class Parser:
    params = ["small", "large"]
    param_names = ["size"]

    def time_parse_cold(self, size):
        pass
"""
Configure = Callable[..., Configuration]


@pytest.fixture
def configure(tmp_path: Path) -> Configure:
    """Reads the settings of a checkout with one suite, given entries of asv.conf.json."""
    root = tmp_path / "suites"
    (root / "benchmarks").mkdir(parents=True)
    (root / "benchmarks/parsing.py").write_text(SUITE)
    git(tmp_path, "init", "--quiet", root.name)

    def configure(**entries: object) -> Configuration:
        settings = {"version": 1, "project": "p", "repo": ".", "environment_type": "virtualenv"}
        (root / "asv.conf.json").write_text(json.dumps(settings | entries))
        return read_configuration(root)

    return configure


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
    configure: Configure, commands: dict[str, object], is_built: bool
) -> None:
    assert configure(**commands).is_built is is_built


def test_what_can_change_a_value_is_what_is_listed(
    configure: Configure, make_repository: Callable[..., Path]
) -> None:
    elsewhere = str(make_repository({"src/a.py": ""}))
    assert configure(measured_paths=["models"]).measured_paths == ("models",)
    of_another = configure(measured_paths=["models"], repo=elsewhere).measured_paths
    assert of_another == (), "the list is of the suites' repository"
    assert configure().measured_paths == ()


def test_environments_with_the_same_main_requirement_are_told_apart(configure: Configure) -> None:
    matrix = {"req": {"numpy": ["2.4.0"], "scipy": ["1.16", "1.17"]}}
    environments = configure(matrix=matrix).environments
    labels = [environment.label for environment in environments]
    assert labels == [environment.name for environment in environments]
    assert len(select_environments(environments, "2.4.0")) == len(set(labels)) == 2
    assert select_environments(environments, labels[1]) == environments[1:]


def test_a_python_that_does_not_run_is_left_out(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert len(configure(pythons=["3.99", own]).environments) == 1, "it is on no path"
    shim = tmp_path / "bin" / "python3.99"
    shim.parent.mkdir()
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim.parent}{os.pathsep}{os.environ['PATH']}")
    [environment] = configure(pythons=["3.99", own]).environments
    assert environment.python == own


@pytest.mark.parametrize(("release", "warns"), [("0.6.6", False), ("0.7", True), ("1.0rc1", True)])
def test_a_newer_asv_is_named_and_not_refused(
    configure: Configure,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    release: str,
    warns: bool,
) -> None:
    monkeypatch.setattr("asv.__version__", release)
    assert configure().project == "p"
    assert (f"asv {release} is installed" in capsys.readouterr().err) is warns


@pytest.mark.parametrize(
    ("entries", "named"),
    [
        ({"machine": ["desk"]}, ("'machine'", "did you mean 'machines'?")),
        ({"enviroment_gib": 6}, ("'enviroment_gib'", "did you mean 'environment_gib'?")),
        ({"benchmarks_dir": "b"}, ("'benchmarks_dir'", "did you mean 'benchmark_dir'?")),
        ({"suites": {"parsin": {"position": 1}}}, ("'parsin'", "did you mean 'parsing'?")),
        ({"suites": {"parsing.Parsr": {"position": 1}}}, ("'Parsr'", "did you mean 'Parser'?")),
        ({"layout": {"rows": "sise"}}, ("'sise'", "did you mean 'size'?")),
        ({"layout": {"columns": ["sizes"]}}, ("'sizes'", "did you mean 'size'?")),
        ({"layout": {"words": {"state": ["colt"]}}}, ("'colt'",)),
        (
            {"layout": {"labels": {"kind": {"parzing": "slow"}}}},
            ("'parzing'", "did you mean 'parsing'?"),
        ),
        ({"gpu_cases": "a{99999999999}"}, ("gpu_cases",)),
        ({"environment_gib": float("inf")}, ("environment_gib",)),
        *(
            ({"site_url": address}, ('"site_url"', "give an address that begins with https://"))
            for address in ("javascript:alert(1)", "speed.example.org", "https://", " http://a")
        ),
    ],
)
def test_an_entry_that_cannot_be_used_is_an_error(
    configure: Configure, entries: dict[str, object], named: tuple[str, ...]
) -> None:
    with pytest.raises(WatchError) as refused:
        configure(**entries)
    assert all(words in str(refused.value) for words in named), str(refused.value)


@pytest.mark.parametrize("address", ["https://speed.example.org", "http://127.0.0.1/speed"])
def test_the_address_of_the_site_is_one_of_the_web(configure: Configure, address: str) -> None:
    assert configure(site_url=address).declared.site_url == address


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
