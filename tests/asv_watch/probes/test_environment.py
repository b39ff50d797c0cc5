"""An environment tells about itself, whatever commit it holds, and with torch or without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from asv_watch.probes import environment as where


def run_probe(folder: Path, **variables: str) -> dict[str, Any]:
    """What the script says as it is run by `asv run`: from elsewhere, without this package."""
    done = subprocess.run(
        [sys.executable, "-P", where.__file__],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    output: dict[str, Any] = json.loads(done.stdout)
    return output


def test_torch_its_build_threads_and_variables_are_told(tmp_path: Path) -> None:
    output = run_probe(tmp_path, OMP_NUM_THREADS="1", MALLOC_TOP_PAD_="65536", EDITOR="hush")
    facts = output["facts"]
    assert facts["torch build"].startswith(torch.__version__)
    assert facts["threads"].startswith("1 within operators")
    assert facts["variable MALLOC_TOP_PAD_"] == "65536"
    assert "hush" not in json.dumps(output)
    built = {"compiler", "BLAS", "oneDNN", "OpenMP", "vector instructions", "CUDA of torch"}
    assert built <= facts.keys()
    assert all(isinstance(value, str) and value for value in facts.values())
    assert "ATen parallel backend" in output["details"]["torch.__config__.parallel_info()"]


def test_an_environment_without_torch_is_told_too(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('libcudart.so: cannot open')")
    output = run_probe(tmp_path, PYTHONPATH=str(tmp_path))
    assert output["facts"]["torch build"] == "none (libcudart.so: cannot open)"
    assert output["facts"]["interpreter"].startswith("CPython")
    assert output["details"] == {"asv_runner": metadata.version("asv_runner")}
