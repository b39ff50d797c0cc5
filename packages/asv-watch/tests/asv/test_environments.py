"""Environments have one asv_runner and what a commit is built with; commands there end."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import asv.environment
import pytest

from asv_watch.asv import environments
from asv_watch.asv.conf import load_settings
from asv_watch.asv.environments import create
from asv_watch.asv.settings import pinned_asv_runner
from asv_watch.errors import ExitStatus, MachineError, WatchError
from asv_watch.machine.children import MEMORY_LIMIT
from asv_watch.machine.commands import run_command
from tests import torchless
from tests.interruptible import run_driver

RUNNER = f"asv_runner=={pinned_asv_runner()}"


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
    assert installed == ["install", RUNNER]


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
