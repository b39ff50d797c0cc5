"""Real ranks: processes on this machine that meet through gloo."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, program, run
from torchspeed.training.config import RunConfig
from torchspeed.training.train import train

ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}


def test_two_ranks_of_a_slurm_job_train_as_one_with_twice_the_batch(tmp_path: Path) -> None:
    file = tmp_path / "two.json"
    alone = train(RunConfig(
        data="dummy", items=1000, batch_size=64, optimiser="sgd",
        epochs=2, limit_batches=4,
    ))  # fmt: skip
    # As on a cluster: our batch file and torchrun are real, Slurm's two commands are not.
    program(tmp_path / "srun", 'test "$SRUN_CPUS_PER_TASK" = 3 && shift && exec "$@"')
    program(tmp_path / "scontrol", "echo localhost")
    slurm = {
        "PATH": f"{tmp_path}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "SLURM_JOB_NODELIST": "node[1]",
        "SLURM_JOB_ID": str(os.getpid()),
        "SLURM_NNODES": "1",
        "SLURM_CPUS_PER_TASK": "3",
        "SLURM_GPUS_ON_NODE": "2",
    }
    done = run(
        "bash", ROOT / "docs/train.sbatch", "--device", "cpu", "-d", "dummy", "-b", "32",
        "--items", "1000", "-e", "2", "--limit-batches", "4", "--json", file,
        "--optimiser", "sgd", "-q", env=ENVIRONMENT | slurm, cwd=tmp_path, timeout=180,
    )  # fmt: skip
    two = json.loads(file.read_text())
    for ours, theirs in zip(two["epochs"], alone.epochs, strict=True):
        assert ours["train_loss"] == pytest.approx(theirs.train_loss, rel=1e-5)
        assert ours["held_out_loss"] == pytest.approx(theirs.held_out_loss, rel=1e-3)
    assert [rank["rank"] for rank in two["ranks"]] == [0, 1]
    assert [rank["steps"] for rank in two["ranks"]] == [7, 7]
    for text in ("medians over 2 ranks", "slowest", "of rank", "spread"):
        assert text in done.stdout
    assert done.stdout.count("medians over") == 1


def test_ranks_measure_a_table_together_and_refuse_in_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
               "2", "-m", "torchspeed.cli", "reproduce"]  # fmt: skip
    small = ["--limit-batches", "2", "--rounds", "1"]
    done = run(*command, "inference", *small, cwd=tmp_path, env=ENVIRONMENT, timeout=180)
    assert "here, cpu, dummy, batch 4, devices 2" in done.stdout
    assert len((tmp_path / "inference.jsonl").read_text().splitlines()) == 1
    done = run(*command, "workers", cwd=tmp_path, env=ENVIRONMENT, status=1, timeout=180)
    assert "torchspeed: workers runs on one device; start it without torchrun\n" in done.stderr
