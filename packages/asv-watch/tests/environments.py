from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import torchless


def make_once(name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder that one of the workers of xdist makes, for all of them. Read it only."""
    folder = Path(tempfile.gettempdir(), name)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            folder.mkdir()
            make(folder)
    return folder


@pytest.fixture(scope="session")
def made_environment() -> Path:
    """The environment of `torchless.CONFIGURATION`."""
    folder = make_once("made-environment", torchless.make_environment)
    [made] = (folder / ".asv" / "env").glob("*/asv-env-info.json")
    return made.parent


@pytest.fixture
def make_project(
    make_repository: Callable[[dict[str, str]], Path], made_environment: Path
) -> Callable[..., Path]:
    """Makes repositories of a suite that can be measured at once, from `project_files`."""

    def make(suite: str, files: dict[str, str] | None = None, **settings: Any) -> Path:
        folder = make_repository(torchless.project_files(suite, files, **settings))
        torchless.give_environment(folder, made_environment)
        return folder

    return make
