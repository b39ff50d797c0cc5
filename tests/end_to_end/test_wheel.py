"""The wheel of torchspeed in an environment without torch."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, run

BUILT_FROM = ("pyproject.toml", "README.md", "LICENSE")


@pytest.mark.timeout(900)  # what the wheel requires is downloaded
def test_the_wheel_answers_without_torch(tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in BUILT_FROM:
        shutil.copy(ROOT / name, source)
    environment = os.environ | {"PYTHONPATH": "", "PIP_NO_COMPILE": "0"}

    def printed(*command: str | Path) -> str:
        return run(*command, cwd=tmp_path, env=environment).stdout

    pip = [sys.executable, "-m", "pip", "--quiet"]
    printed(*pip, "wheel", "--no-deps", "--wheel-dir", "wheels", "./source")
    printed(sys.executable, "-m", "venv", "--without-pip", "env")
    [wheel] = (tmp_path / "wheels").glob("*.whl")
    printed(*pip, "--python", "env/bin/python", "install", wheel)
    expression = "from torchspeed.workloads import list_workloads; print(*list_workloads())"
    assert "darnn" in printed("env/bin/python", "-c", expression)
    assert "--epochs" in printed("env/bin/torchspeed", "train", "--help")
