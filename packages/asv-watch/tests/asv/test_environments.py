"""Environments have one asv_runner and what a commit is built with; commands there end."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asv.environment
import pytest

from asv_watch.asv import environments
from asv_watch.asv.conf import load_settings
from asv_watch.asv.environments import create, make_environment
from asv_watch.asv.settings import EnvironmentSpec, pinned_asv_runner
from asv_watch.errors import ExitStatus, MachineError, WatchError
from asv_watch.machine.children import MEMORY_LIMIT
from asv_watch.machine.commands import find_cause, run_command
from tests import torchless
from tests.interruptible import run_driver


def environment_with(folder: Path, *installed: str, **settings: Any) -> Any:
    """An environment that has releases of packages; pip writes nothing there."""
    (folder / "asv.conf.json").write_text(json.dumps(torchless.CONFIGURATION | settings))
    [environment] = asv.environment.get_environments(load_settings(folder), None, verbose=False)
    for release in installed:
        dist_info = f"lib/python3.11/site-packages/{release}.dist-info"
        Path(environment._path, dist_info).mkdir(parents=True)
    return environment


def test_an_environment_gets_the_pinned_release_instead_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = environment_with(tmp_path, "asv_runner-0.3.1")
    installed: list[str] = []
    environment._run_pip = installed.extend
    asked: dict[str, str] = {}
    environment.create = lambda: asked.update(environment._base_requirements)
    monkeypatch.setattr(environments, "is_working", lambda folder: True)
    create(environment)
    assert asked["pip+asv_runner"] == pinned_asv_runner()
    assert installed == ["install", f"asv_runner=={pinned_asv_runner()}"]
    installed.clear()
    [dist_info] = Path(environment._path).glob("lib/*/*/asv_runner-*")
    dist_info.rename(dist_info.with_name(f"asv_runner-{pinned_asv_runner()}.dist-info"))
    create(environment)
    assert installed == [], "it is not installed twice"


def test_the_reason_of_a_failed_build_is_none_of_the_hints_of_pip() -> None:
    printed = """\
   × Encountered error while generating package metadata.
   ╰─> from file:///project

   note: This is an issue with the package mentioned above, not pip.
   hint: See above for details.
"""
    assert str(find_cause(printed)) == "Encountered error while generating package metadata."


def test_a_release_that_was_made_with_another_asv_runner_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = EnvironmentSpec({"pip+numpy": "2.4.0"}, "", tmp_path / "releases", python="3.11")
    packages_folder = spec.folder / "lib/python3.11/site-packages"
    pinned = packages_folder / f"asv_runner-{pinned_asv_runner()}.dist-info"
    installed: list[str] = []

    def install(command: list[str], *_: object, **__: object) -> None:
        pinned.mkdir(parents=True, exist_ok=True)
        installed.append(" ".join(command).rpartition("--quiet ")[2])

    monkeypatch.setattr(environments, "run_command", install)
    monkeypatch.setattr(environments, "is_working", lambda folder: True)
    wanted = f"numpy===2.4.0 asv_runner=={pinned_asv_runner()}"
    for _ in range(2):
        make_environment(tmp_path, tmp_path, spec)
        assert installed == [f"--python 3.11 {spec.folder}", wanted]
    pinned.rename(packages_folder / "asv_runner-0.1.9.dist-info")
    make_environment(tmp_path, tmp_path, spec)
    assert installed[2:] == [f"--python 3.11 {spec.folder}", wanted]


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


@pytest.mark.parametrize(
    ("code", "timeout_s", "error", "message"),
    [
        ("", 2.0, MachineError, "no answer after 2 s"),
        ("a = b'1' * (1 << 29)", 50.0, WatchError, rf"more than 0.2 GiB .* {MEMORY_LIMIT}"),
    ],
    ids=["time", "memory"],
)
def test_a_command_that_takes_too_much_is_stopped_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
    code: str,
    timeout_s: float,
    error: type[Exception],
    message: str,
) -> None:
    monkeypatch.setenv(MEMORY_LIMIT, "0.2")
    command = [sys.executable, "-c", f"import time\n{code}\ntime.sleep(60)"]
    with pytest.raises(error, match=message):
        run_command(command, timeout_s, installs=True)
