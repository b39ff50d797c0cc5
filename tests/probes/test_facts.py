"""What torch adds to the facts of a run, with torch and without."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import torch

from tests.conftest import run
from torchspeed.probes import facts as script

FACTS = Path(script.__file__)


def facts_of(folder: Path, **variables: str) -> Any:
    """What the script says as it is run by `asv run`: from elsewhere, without this package."""
    environment = {"PATH": os.environ["PATH"], **variables}
    return json.loads(run(sys.executable, "-P", FACTS, cwd=folder, env=environment).stdout)


def test_torch_its_build_threads_and_variables_are_told(tmp_path: Path) -> None:
    output = facts_of(tmp_path, OMP_NUM_THREADS="1", TORCH_SHOW_CPP_STACKTRACES="0", EDITOR="hush")
    facts = output["facts"]
    assert facts["torch build"].startswith(torch.__version__)
    assert facts["threads"].startswith("1 within operators")
    built = {"compiler", "BLAS", "oneDNN", "OpenMP", "vector instructions", "CUDA of torch"}
    assert built <= facts.keys()
    assert "ATen parallel backend" in output["details"]["torch.__config__.parallel_info()"]


def test_an_environment_without_torch_is_told_too(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('libcudart.so: cannot open')")
    output = facts_of(tmp_path, PYTHONPATH=str(tmp_path))
    assert output["facts"]["torch build"] == "none (libcudart.so: cannot open)"
    assert output["details"] == {}
