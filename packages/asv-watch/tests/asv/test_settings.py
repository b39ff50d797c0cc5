"""What asv.conf.json declares, and the environments that it describes."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import asv.environment
import pytest

from asv_watch.asv import environments
from asv_watch.asv.conf import load_settings
from asv_watch.asv.declared import Declared, SuiteEntry
from asv_watch.asv.environments import create
from asv_watch.asv.settings import (
    Configuration,
    pinned_asv_runner,
    read_configuration,
    select_environments,
)
from asv_watch.errors import ExitStatus, MachineError, WatchError
from asv_watch.machine.children import MEMORY_LIMIT
from asv_watch.machine.commands import run_command
from tests import torchless
from tests.conftest import git, write_program
from tests.interruptible import run_driver

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
        settings |= {"site_url": "http://127.0.0.1/speed"}
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
    write_program(shim, "#!/bin/sh\nexit 127\n")
    monkeypatch.setenv("PATH", f"{shim.parent}{os.pathsep}{os.environ['PATH']}")
    [environment] = configure(pythons=["3.99", own]).environments
    assert environment.python == own


def test_a_newer_asv_is_named_and_not_refused(
    configure: Configure, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for release, warns in (("0.6.6", False), ("0.7", True), ("1.0rc1", True)):
        monkeypatch.setattr("asv.__version__", release)
        assert configure().project.name == "p"
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


def test_an_environment_gets_the_pinned_release_instead_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "asv.conf.json").write_text(json.dumps(torchless.CONFIGURATION))
    [environment] = asv.environment.get_environments(load_settings(tmp_path), None, verbose=False)
    packages = Path(environment._path, "lib/python3.11/site-packages")
    (packages / "asv_runner-0.3.1.dist-info").mkdir(parents=True)
    installed: list[str] = []
    environment._run_pip = installed.extend
    environment.create = lambda: None
    monkeypatch.setattr(environments, "is_working", lambda folder: True)
    create(environment)
    assert environment._base_requirements["pip+asv_runner"] == pinned_asv_runner()
    assert installed == ["install", f"asv_runner=={pinned_asv_runner()}"]


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


def test_a_command_that_takes_too_much_time_or_memory_is_stopped_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sleeps = [sys.executable, "-c", "import time\ntime.sleep(60)"]
    with pytest.raises(MachineError, match="no answer after 2 s"):
        run_command(sleeps, 2.0, installs=True)
    monkeypatch.setenv(MEMORY_LIMIT, "0.2")
    greedy = [sys.executable, "-c", "import time\na = b'1' * (1 << 29)\ntime.sleep(60)"]
    with pytest.raises(WatchError, match=rf"more than 0.2 GiB .* {MEMORY_LIMIT}"):
        run_command(greedy, 50.0, installs=True)
