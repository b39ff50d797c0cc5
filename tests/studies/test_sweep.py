"""Sweeps: every point once, whoever works on it, and nothing lost when a worker dies."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
import pytest
from optuna.trial import TrialState

from tests.studies.postgresql import postgresql
from torchspeed.cli.main import main
from torchspeed.errors import TorchspeedError
from torchspeed.studies import sweep as sweeps
from torchspeed.studies.point import Outcome
from torchspeed.studies.sweep import Sweep, cost, grid
from torchspeed.training.config import RunConfig
from torchspeed.training.train import train

ROOT = Path(__file__).parents[2]
CONFIG = RunConfig(optimiser="sgd", rate=0.1, epochs=2)
AXES: dict[str, list[Any]] = {"workers": [0, 1], "batch_size": [32, 64, 128]}


def result(seconds: float, batch: int = 64) -> dict[str, Any]:
    """What is stored of a training that reached its target, as far as sweeps read it."""
    columns = {
        "training_function_s": seconds,
        "data_loading_s": seconds / 4,
        "epoch_training_s": seconds / 2,
        "average_training_loss": 0.5,
        "best_training_accuracy": 0.9,
        "best_test_accuracy": 0.9,
        "target_accuracy": 0.9,
        "seconds_to_target": seconds,
    }
    return {
        "config": {"model": "lenet5", "data": "digits", "batch_size": batch},
        "epochs": [{"wall_s": seconds}] * 2,
        "items_per_s": 64 / seconds,
        "time_to_accuracy": columns,
    }


Measured = Callable[[RunConfig], Outcome]


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch) -> Callable[[Measured], list[RunConfig]]:
    """Put a function in place of trainings; what it was called with is in the list."""

    def replace_trainings(outcome_of: Measured) -> list[RunConfig]:
        calls: list[RunConfig] = []

        def run_point(config: RunConfig, *_: Any) -> Outcome:
            calls.append(config)
            return outcome_of(config)

        monkeypatch.setattr(sweeps, "run_point", run_point)
        return calls

    return replace_trainings


def faster_in_large_batches(config: RunConfig) -> Outcome:
    if config.batch_size == 128 and config.workers == 1:
        return Outcome(None, "no memory")
    return Outcome(result(10.0 / config.batch_size, config.batch_size))


def test_a_sweep_continues_where_it_stopped_and_may_grow(
    tmp_path: Path, measure: Callable[[Measured], list[RunConfig]]
) -> None:
    journal = str(tmp_path / "x.journal")
    calls = measure(faster_in_large_batches)
    Sweep(journal, "a", CONFIG).run(grid(AXES)[:2])
    Sweep(journal, "a", CONFIG).run(grid(AXES))
    assert [(c.workers, c.batch_size, c.rate) for c in calls] == [
        (workers, size, 0.1) for workers in (0, 1) for size in (32, 64, 128)
    ]
    again = Sweep(journal, "a", CONFIG)
    again.run(grid(AXES))
    assert len(calls) == 6
    assert [point for point, _ in again.outcomes()] == grid(AXES)
    assert again.outcomes()[-1][1] == Outcome(None, "no memory")
    again.retry_failed()
    measure(lambda config: Outcome(result(1.0)))
    again.run(grid(AXES))
    assert len(again.outcomes()) == 6
    assert all(outcome.result for _, outcome in again.outcomes())


def test_another_configuration_is_refused(
    tmp_path: Path, measure: Callable[[Measured], list[RunConfig]]
) -> None:
    measure(faster_in_large_batches)
    journal = str(tmp_path / "x.journal")
    Sweep(journal, "a", CONFIG).run(grid(AXES)[:1])
    with pytest.raises(TorchspeedError, match=r"another rate \(0.1, now 0.2\); give the same"):
        Sweep(journal, "a", RunConfig(optimiser="sgd", rate=0.2, epochs=2))
    with pytest.raises(TorchspeedError, match="has no sweep 'b'; give another --name"):
        Sweep(journal, "b", None)
    Sweep(journal, "b", RunConfig()).run(grid(AXES)[:1])  # a storage holds any number


@pytest.mark.parametrize("content", ["a,b\n1,2\n", '{"model": 1}\n'])
def test_a_file_that_is_no_journal_is_left_as_it_is(tmp_path: Path, content: str) -> None:
    file = tmp_path / "notes"
    file.write_text(content)
    with pytest.raises(TorchspeedError, match="is not a journal of Optuna; it was left as it is"):
        Sweep(str(file), "a", CONFIG)
    assert file.read_text() == content


def test_a_line_that_a_full_disk_cut_short_is_dropped(
    tmp_path: Path, measure: Callable[[Measured], list[RunConfig]]
) -> None:
    calls = measure(faster_in_large_batches)
    file = tmp_path / "x.journal"
    Sweep(str(file), "a", CONFIG).run(grid(AXES)[:3])
    with file.open("a") as stream:
        stream.write('{"op_code": 5, "trial')
    for count in (4, 5):  # what is written after the line was dropped can be read again
        Sweep(str(file), "a", CONFIG).run(grid(AXES)[:count])
        assert len(calls) == count


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("postgresql://nobody@127.0.0.1:9/none", "the database cannot be opened"),
        ("/nowhere/x.journal", "no folder /nowhere for x.journal"),
    ],
)
def test_a_storage_out_of_reach_is_one_line(address: str, message: str) -> None:
    with pytest.raises(TorchspeedError, match=message) as caught:
        Sweep(address, "a", CONFIG)
    assert "\n" not in str(caught.value)


def test_search_finds_the_fastest_and_a_search_taken_up_again_is_the_same(
    tmp_path: Path, measure: Callable[[Measured], list[RunConfig]]
) -> None:
    axes = {"batch_size": [8, 16, 32, 64, 128, 256], "workers": list(range(6))}

    def slower_off_the_best(config: RunConfig) -> Outcome:
        return Outcome(result(1 + abs(config.batch_size - 64) / 10 + abs(config.workers - 2)))

    measure(slower_off_the_best)
    whole = Sweep(f"sqlite:///{tmp_path}/x.db", "whole", CONFIG)
    whole.search(axes, trials=24, seed=1)
    costs = [cost(outcome.result or {}) for _, outcome in whole.outcomes()]
    assert min(costs) <= 3.0  # the grid's 36 points reach from 1 to 23.2
    taken_up = Sweep(f"sqlite:///{tmp_path}/x.db", "taken up", CONFIG)
    taken_up.search(axes, trials=10, seed=1)
    Sweep(f"sqlite:///{tmp_path}/x.db", "taken up", CONFIG).search(axes, trials=24, seed=1)
    assert [point for point, _ in taken_up.outcomes()] == [point for point, _ in whole.outcomes()]


SHARED = ["--name", "shared", "-d", "dummy", "--items", "100", "-e", "1", "--limit-batches", "3"]
"""Options of a sweep whose points take a few seconds each, most of them to import torch."""


@contextmanager
def workers(
    folder: Path, storage: str, count: int, *axes: str
) -> Iterator[list[subprocess.Popen[str]]]:
    """Some workers of one sweep, as tasks of the Slurm array, which end with the test."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {
        "PATH": path,
        "PYTHONPATH": str(ROOT / "src"),
        "OMP_NUM_THREADS": "1",
    }
    command = ["bash", str(ROOT / "docs" / "sweep.sbatch"), storage, *SHARED, *axes]
    processes = [
        subprocess.Popen(
            command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(count)
    ]  # fmt: skip
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def wait_until_it_trains(process: subprocess.Popen[str]) -> psutil.Process:
    """The process of the point that a worker runs."""
    while process.poll() is None:
        for child in psutil.Process(process.pid).children():
            if "spawn_main" in " ".join(child.cmdline()):
                return child
        time.sleep(0.05)
    raise AssertionError(process.communicate()[1])


def finish(processes: list[subprocess.Popen[str]]) -> None:
    for process in processes:
        _, errors = process.communicate(timeout=1500)
        assert process.returncode == 0, errors


def losses(storage: str) -> dict[str, float]:
    return {
        str(point): (outcome.result or {})["loss"]
        for point, outcome in Sweep(storage, "shared", None).outcomes()
    }


@pytest.mark.timeout(1800)
def test_four_workers_share_a_postgresql_and_one_dies_in_a_point(
    tmp_path: Path, measure: Callable[[Measured], list[RunConfig]]
) -> None:
    axes = ["-b", "4,8,16,32"]
    with postgresql() as storage:
        with workers(tmp_path, storage, 4, *axes) as four:
            trained = wait_until_it_trains(four[0])
            four[0].kill()
            finish(four[1:])
        assert psutil.wait_procs([trained], timeout=30)[1] == []  # its training ended with it
        states = Counter(t.state for t in Sweep(storage, "shared", None).study.trials)
        assert states[TrialState.COMPLETE] == 4  # each point once
        assert states[TrialState.FAIL]  # what the dead worker ran was given back, and run again
        shared = losses(storage)
    measure(lambda config: Outcome(train(config).as_dict()))
    alone = str(tmp_path / "alone.journal")
    # Of one thread, as the workers: sums of two differ in their last digits.
    assert main(["sweep", alone, *SHARED, *axes, "--threads", "1"]) == 0
    assert shared == losses(alone)
    assert len(shared) == 4


EIGHT_CORES = """
from torchspeed.training import cores
cores.cores = lambda: 8
cores._NAME = {name!r}
"""
"""Python runs it first in each process: a machine of eight cores, and runs of this test alone."""


@pytest.mark.timeout(1800)
def test_workers_that_start_together_share_the_cores_from_their_first_point_on(
    tmp_path: Path,
) -> None:
    name = f"torchspeed-test-{uuid4()}"
    (tmp_path / "sitecustomize.py").write_text(EIGHT_CORES.format(name=name))
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}:{ROOT / 'src'}"}
    environment.pop("OMP_NUM_THREADS", None)
    journal = str(tmp_path / "x.journal")
    command = [sys.executable, "-m", "torchspeed.cli", "sweep", journal, *SHARED, "-b", "4,8"]
    started = []
    for number in (1, 2):
        started.append(
            subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        )
        while Path("/proc/net/unix").read_text().count(f"@{name}") < number:
            assert started[-1].poll() is None
            time.sleep(0.01)
    finish(started)
    outcomes = Sweep(journal, "shared", None).outcomes()
    assert [(outcome.result or {})["threads"] for _, outcome in outcomes] == [4, 4]


@pytest.mark.timeout(1800)
def test_a_worker_that_is_stopped_gives_its_point_back_at_once(tmp_path: Path) -> None:
    # With B: alone Slurm signals the task's script, which the worker replaced.
    assert "#SBATCH --signal=B:TERM@60\n" in (ROOT / "docs" / "sweep.sbatch").read_text()
    storage = str(tmp_path / "x.journal")
    with workers(tmp_path, storage, 1, "-b", "16,32") as [process]:
        wait_until_it_trains(process)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
    trials = Sweep(storage, "shared", None).study.trials
    states = [t.state for t in trials if t.user_attrs["point"]["batch_size"] == 16]
    assert states == [TrialState.FAIL, TrialState.WAITING]
    with workers(tmp_path, storage, 2, "-b", "16,32") as two:
        finish(two)
    counts = Counter(t.state for t in Sweep(storage, "shared", None).study.trials)
    assert counts[TrialState.COMPLETE] == len(losses(storage)) == 2


def test_the_command_keeps_failures_apart_and_reports_what_is_stored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    measure: Callable[[Measured], list[RunConfig]],
) -> None:  # fmt: skip
    monkeypatch.setenv("COLUMNS", "160")
    calls = measure(faster_in_large_batches)
    journal = str(tmp_path / "x.journal")
    arguments = ["sweep", journal, "-w", "0,1", "-b", "64,128", "--target-accuracy", "90"]
    assert main(arguments) == 3
    shown = capsys.readouterr()
    assert shown.err.splitlines() == [
        "batch_size 64, workers 0: done",
        "batch_size 64, workers 1: done",
        "batch_size 128, workers 0: done",
        "batch_size 128, workers 1: failed: no memory",
    ]
    assert calls[0].target_accuracy == 90
    table, failures = shown.out.split("failed")
    assert "78.1 ms" in table
    assert "no memory" not in table
    assert "no memory" in failures
    assert main([*arguments, "-e", "2"]) == 3
    assert main(["sweep", journal, "--report", "--figures", str(tmp_path)]) == 3
    assert f"{tmp_path}/against_workers.svg" in capsys.readouterr().out
    assert "mean time of an epoch" in (tmp_path / "against_workers.svg").read_text()
    measure(lambda _config: Outcome(None, "no luck"))
    assert main(["sweep", str(tmp_path / "y.journal"), "-w", "0"]) == 1
    assert "every point failed (no luck); correct that" in capsys.readouterr().err
