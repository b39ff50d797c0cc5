"""One release of asv_runner takes all samples, and pip keeps to it."""

from __future__ import annotations

import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from asv_watch.asv.environments import constrain_pip, pinned_asv_runner
from tests.conftest import run


def test_one_release_is_pinned_everywhere(root: Path) -> None:
    project = tomllib.loads((root / "src/asv_watch/pyproject.toml").read_text())["project"]
    pins = [pin for pin in project["dependencies"] if pin.startswith("asv_runner")]
    assert pins == [f"asv_runner=={pinned_asv_runner()}"]
    assert metadata.version("asv_runner") == pinned_asv_runner()


def test_pip_heeds_the_pins_in_a_folder_with_a_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pins = tmp_path / "a folder" / "constraints.txt"
    pins.parent.mkdir()
    pins.write_text("psutil==0.0.1\n")
    others = tmp_path / "others.txt"
    others.write_text("orjson==0.0.2\n")
    monkeypatch.setenv("PIP_CONSTRAINT", str(others))
    constrain_pip(pins)
    for name in ("psutil", "orjson"):
        pip = sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", name
        done = run(*pip, status=1)
        assert f"{name}==0.0." in done.stdout + done.stderr, "the constraint is what it refuses"
