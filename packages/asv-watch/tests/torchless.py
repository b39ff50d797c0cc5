"""A project whose environment is made in seconds: without torch, and with nothing to build."""

import fcntl
import json
import os
import shutil
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import asv_runner
import pytest

from tests import wheels
from tests.conftest import commit, git, run, write_program

CONFIGURATION: dict[str, Any] = {
    "version": 1,
    "project": "p",
    "repo": ".",
    "branches": ["main"],
    "environment_type": "virtualenv",
    "env_dir": ".asv/env",
    "results_dir": "results",
    "pythons": [f"{sys.version_info.major}.{sys.version_info.minor}"],
    "matrix": {"env_nobuild": {"OMP_NUM_THREADS": ["1"]}},
    "build_command": [],
    "install_command": ["python --version"],
    "uninstall_command": ["python --version"],
    "measured_paths": ["benchmarks", "src", "asv.conf.json"],
    "plugins": [".asv_watch"],
}

_BACKEND = """
def build_wheel(to, settings=None, metadata=None):
    write_wheel(Path(to), "package", "1", Path("package.py").read_text(), "asv_runner")
    return "package-1-py3-none-any.whl"
"""
BUILD = {
    "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\n'
    'backend-path = ["."]\n',
    "backend.py": Path(wheels.__file__).read_text() + _BACKEND,
}
"""Files that build a wheel of ``package.py``, which requires what every environment holds."""
_OF_ASV = {"branches", "build_command", "install_command"}
BUILT = {key: value for key, value in CONFIGURATION.items() if key not in _OF_ASV} | {
    "project": "package",
    "measured_paths": [],
    "uninstall_command": ["return-code=any python -m pip uninstall -y package"],
}
"""The same for a package that lies beside its suites and has to be built, which asv knows how."""

INSTALLED: dict[str, Any] = {
    "build_command": None,
    "install_command": None,
    "matrix": {"req": {"engine": ["1.0"]}},
}
"""Settings for a package that is installed in what `make_interpreter` makes."""


def project_files(
    suite: str, files: dict[str, str] | None = None, **settings: Any
) -> dict[str, str]:
    """The files of a repository with one suite.

    Settings are added to asv.conf.json, and files replace those of the same name.
    """
    return {
        "asv.conf.json": json.dumps(CONFIGURATION | settings),
        "benchmarks/__init__.py": "",
        "benchmarks/suite.py": suite,
        ".gitignore": ".asv/\nresults/\nhtml/\n",
        **(files or {}),
    }


def give_environment(project: Path, made: Path, env_dir: str | Path = ".asv/env") -> None:
    """Put an environment where a project would make the same one."""
    folder = project / env_dir / made.name
    shutil.copytree(made, folder, symlinks=True, copy_function=os.link)


def give_command(checkout: Path) -> None:
    """Let a checkout have asv-watch in .venv/bin, as `make setup` would install it."""
    run(sys.executable, "-m", "venv", "--without-pip", ".venv", cwd=checkout)
    [packages] = checkout.glob(".venv/lib/python*/site-packages")
    installed = sysconfig.get_path("purelib")
    (packages / "installed.pth").write_text(f"import site; site.addsitedir({installed!r})\n")
    program = '#!/bin/sh\nexec "$(dirname "$0")/python" -m asv_watch.cli "$@"\n'
    write_program(checkout / ".venv/bin/asv-watch", program)


def make_interpreter(folder: Path, release: str, seconds: float, *, runner: bool = True) -> str:
    """Make an environment by hand that holds a release of a package; return its Python."""
    venv.create(folder, symlinks=True)
    [packages] = folder.glob("lib/python*/site-packages")
    if runner:
        (packages / "asv_runner").symlink_to(Path(asv_runner.__file__).parent)
        about = Path(str(metadata.distribution("asv_runner")._path))  # type: ignore[attr-defined]
        shutil.copytree(about, packages / about.name)
    (packages / "engine.py").write_text(f"SECONDS = {seconds}\n")
    about = packages / f"engine-{release}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: engine\nVersion: {release}\n")
    return str(folder / "bin" / "python")


@pytest.fixture(scope="session")
def made_environment() -> Path:
    """The environment of `CONFIGURATION`, made by one worker of xdist for all. Read it only."""
    folder = Path(tempfile.gettempdir(), "made-environment")
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            git(folder.parent, "init", "--quiet", "--initial-branch=main", folder.name)
            commit(folder, project_files(""), "Begin")
            for command in ("machine --yes", "setup"):
                asv = sys.executable, "-m", "asv", *command.split()
                # `asv setup` ends with 1 whatever happens.
                run(*asv, cwd=folder, env=os.environ | {"HOME": str(folder)}, status=None)
    [made] = (folder / ".asv" / "env").glob("*/asv-env-info.json")
    return made.parent


@pytest.fixture
def make_project(
    make_repository: Callable[[dict[str, str]], Path], made_environment: Path
) -> Callable[..., Path]:
    """Makes repositories of a suite that can be measured at once, from `project_files`."""

    def make(suite: str, files: dict[str, str] | None = None, **settings: Any) -> Path:
        folder = make_repository(project_files(suite, files, **settings))
        give_environment(folder, made_environment)
        return folder

    return make
