"""What torch adds to the facts of a run, with torch and without."""

from __future__ import annotations

from pathlib import Path

import torch

from tests.asv_watch.probes.test_environment import run_probe
from torchspeed.probes import facts as script

FACTS = Path(script.__file__)


def test_torch_its_build_threads_and_variables_are_told(tmp_path: Path) -> None:
    output = run_probe(
        FACTS, tmp_path, OMP_NUM_THREADS="1", TORCH_SHOW_CPP_STACKTRACES="0", EDITOR="hush"
    )
    facts = output["facts"]
    assert facts["torch build"].startswith(torch.__version__)
    assert facts["threads"].startswith("1 within operators")
    built = {"compiler", "BLAS", "oneDNN", "OpenMP", "vector instructions", "CUDA of torch"}
    assert built <= facts.keys()
    assert "ATen parallel backend" in output["details"]["torch.__config__.parallel_info()"]


def test_an_environment_without_torch_is_told_too(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('libcudart.so: cannot open')")
    output = run_probe(FACTS, tmp_path, PYTHONPATH=str(tmp_path))
    assert output["facts"]["torch build"] == "none (libcudart.so: cannot open)"
    assert output["details"] == {}
