"""The wheel of torchspeed in an environment without torch."""

import os
import re
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, run


@pytest.mark.timeout(900)  # what the wheel requires is downloaded
def test_the_wheel_answers_without_torch(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": "", "PIP_NO_COMPILE": "0"}

    def printed(*command: str | Path) -> str:
        return run(*command, cwd=tmp_path, env=environment).stdout

    pip = [sys.executable, "-m", "pip", "--quiet"]
    printed(*pip, "wheel", "--no-deps", "--wheel-dir", "wheels", ROOT)
    printed(sys.executable, "-m", "venv", "--without-pip", "env")
    [wheel] = (tmp_path / "wheels").glob("*.whl")
    printed(*pip, "--python", "env/bin/python", "install", wheel)
    expression = "from torchspeed.workloads import list_workloads; print(*list_workloads())"
    assert "darnn" in printed("env/bin/python", "-c", expression)
    assert "--epochs" in printed("env/bin/torchspeed", "train", "--help")
    listed = printed("env/bin/torchspeed", "--help")
    commands = "train", "inference", "smooth-inference", "sweep", "reproduce", "list", "info"
    for command in commands:
        assert re.search(rf"\s{command}\s", listed)
    refused = run("env/bin/torchspeed", "train", cwd=tmp_path, env=environment, status=1)
    remedy = "run `pip install 'torchspeed[measure,train]'`"
    assert refused.stderr == f"torchspeed: the Python package torch is missing; {remedy}\n"
