"""Real ranks: processes on this machine that meet through gloo."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

import psutil
import pytest
import torch
from torch import Tensor, nn

from tests.conftest import run
from tests.gpu import needs_gpu
from torchspeed.data.options import DataOptions
from torchspeed.errors import TorchspeedError
from torchspeed.training.config import RunConfig, Strategy
from torchspeed.training.context import RunContext
from torchspeed.training.group import Group, launch
from torchspeed.training.train import train

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60
"""How long a stop may take before it counts as a hang."""


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}


@contextmanager
def endless_run() -> Iterator[subprocess.Popen[str]]:
    """Two ranks that train until they are stopped; entered once they do."""
    process = subprocess.Popen(
        [sys.executable, "-m", "torchspeed.cli", "train", "-d", "dummy", "--devices", "2",
         "-e", "100000", "-b", "32", "--limit-batches", "2"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip
    try:
        assert process.stderr is not None
        while not process.stderr.readline().startswith("epoch 1:"):
            assert process.poll() is None
        yield process
    finally:
        for child in descendants(process.pid):
            child.kill()
        process.kill()
        process.communicate()


def descendants(pid: int) -> list[psutil.Process]:
    try:
        children: list[psutil.Process] = psutil.Process(pid).children(recursive=True)
        return children
    except psutil.NoSuchProcess:
        return []


def rank_process(pid: int, rank: int) -> psutil.Process:
    ranks = [p for p in descendants(pid) if "spawn_main" in " ".join(p.cmdline())]
    return sorted(ranks, key=lambda process: process.create_time())[rank]


def all_gone(processes: list[psutil.Process]) -> bool:
    return not psutil.wait_procs(processes, timeout=PATIENCE_S)[1]


def last_line(errors: str) -> str:
    return errors.strip().splitlines()[-1]


def said(errors: str) -> int:
    """How many lines there are beside those of the epochs."""
    return sum(not line.startswith("epoch") for line in errors.splitlines())


def test_two_ranks_of_a_slurm_job_train_as_one_with_twice_the_batch(tmp_path: Path) -> None:
    file = tmp_path / "two.json"
    torch.set_num_threads(1)
    alone = train(
        RunConfig(
            data="dummy",
            data_options=DataOptions(items=1000),
            batch_size=64,
            optimiser="sgd",
            epochs=2,
            limit_batches=4,
        )
    )
    # As on a cluster: our batch file and torchrun are real, Slurm's two commands are not.
    for name, script in (
        ("srun", 'test "$SRUN_CPUS_PER_TASK" = 3 && shift && exec "$@"'),
        ("scontrol", "echo localhost"),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
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
        "--optimiser", "sgd", "-q", env={**environment(), **slurm}, cwd=tmp_path, timeout=180,
    )  # fmt: skip
    two = json.loads(file.read_text())
    for ours, theirs in zip(two["epochs"], alone.epochs, strict=True):
        assert ours["train_loss"] == pytest.approx(theirs.train_loss, rel=1e-5)
        assert ours["test_loss"] == pytest.approx(theirs.test_loss, rel=1e-3)
    assert two["world"] == 2
    assert [rank["rank"] for rank in two["ranks"]] == [0, 1]
    assert [rank["steps"] for rank in two["ranks"]] == [7, 7]
    for text in ("medians over 2 ranks", "slowest", "of rank", "spread"):
        assert text in done.stdout
    assert done.stdout.count("medians over") == 1


def train_whole_and_in_two_parts(folder: Path, *, group: Group) -> None:
    """Write the losses of a whole run, of its first epoch, and of the run resumed after it.

    The five test items are two batches of one rank and one of the other.
    """
    config = RunConfig(
        model="squeezenet1_1",
        data="dummy",
        data_options=DataOptions(items=25),
        image_size=64,
        batch_size=2,
        clip_norm=1.0,
        epochs=2,
        limit_batches=3,
    )
    checkpoint = folder / "run.pt"
    runs = [
        train(config, group=group),
        train(replace(config, epochs=1), group=group, checkpoint=checkpoint),
        train(config, group=group, checkpoint=checkpoint, resume=True),
    ]
    losses = [[epoch.train_loss for epoch in run.epochs] for run in runs]
    (folder / f"losses-{group.rank}.json").write_text(json.dumps(losses))


def test_two_ranks_with_dropout_resume_exactly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    launch(partial(train_whole_and_in_two_parts, tmp_path), "cpu", 2)
    for rank in (0, 1):
        whole, first, resumed = json.loads((tmp_path / f"losses-{rank}.json").read_text())
        assert first == whole[:1]
        assert resumed == whole


def fail(*, group: Group) -> None:
    """Raise the error of a person in one rank."""
    if group.rank == 1:
        raise TorchspeedError("no file x; give one that exists")
    time.sleep(PATIENCE_S)


def test_an_error_of_a_rank_is_one_line_with_its_number() -> None:
    environment = dict(os.environ)
    with pytest.raises(TorchspeedError, match="rank 1 failed: no file x; give one"):
        launch(fail, "cpu", 2)
    assert os.environ == environment


def test_a_rank_that_dies_stops_the_others_with_one_line() -> None:
    with endless_run() as process:
        everyone = descendants(process.pid)
        rank_process(process.pid, 1).send_signal(signal.SIGKILL)
        _, errors = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 1
        assert last_line(errors) == (
            "torchspeed: rank 1 was ended by SIGKILL; all ranks are stopped"
        )
        assert said(errors) == 1
        assert all_gone(everyone)


def test_an_interrupted_launcher_stops_its_ranks_in_one_line() -> None:
    with endless_run() as process:
        everyone = descendants(process.pid)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130
        assert last_line(errors) == "torchspeed: interrupted"
        assert said(errors) == 1
        assert all_gone(everyone)


class HalvesInThreads(nn.Module):
    """What DataParallel does on two GPUs: a thread for each half of a batch, the same weights."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module
        self.sizes: list[int] = []

    def forward(self, x: Tensor) -> Tensor:
        halves = x.chunk(2)
        self.sizes += [len(half) for half in halves]
        with ThreadPoolExecutor() as threads:
            return torch.cat(list(threads.map(self.module, halves)))


def test_parallel_threads_take_parts_of_each_batch_and_train_the_model_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made: list[HalvesInThreads] = []
    prepared = RunContext.prepared

    def in_threads(model: nn.Module) -> HalvesInThreads:
        made.append(HalvesInThreads(model))
        return made[-1]

    def on_cpu(config: RunConfig, *rest: Any, **options: Any) -> RunContext:
        run = prepared(replace(config, strategy="ddp"), *rest, **options)
        return replace(run, config=replace(run.config, strategy=config.strategy))

    monkeypatch.setattr("torchspeed.training.train.DataParallel", in_threads)
    monkeypatch.setattr(RunContext, "prepared", on_cpu)  # whose check asks for GPUs
    config = RunConfig(data="dummy", epochs=2, limit_batches=3, batch_size=10)
    alone, threads = (
        train(replace(config, strategy=how), save_best=tmp_path / how).epochs
        for how in get_args(Strategy)
    )
    assert [epoch.train_loss for epoch in threads] == pytest.approx(
        [epoch.train_loss for epoch in alone], rel=1e-3
    )
    assert made[0].sizes == [5] * 12
    one, other = (torch.load(tmp_path / how, weights_only=True) for how in get_args(Strategy))
    assert one.keys() == other.keys()


@needs_gpu
def test_threads_of_one_process_train_as_one_gpu_does() -> None:
    config = RunConfig(data="dummy", device="cuda", epochs=1, limit_batches=3, warmup=0)
    losses = [train(replace(config, strategy=how)).epochs[0].train_loss for how in ("ddp", "dp")]
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)
