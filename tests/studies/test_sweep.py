"""Sweeps: every point once, whoever works on it, and nothing lost when a process dies."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from optuna.trial import TrialState

from tests.conftest import ROOT
from torchspeed.cli.main import main
from torchspeed.errors import TorchspeedError
from torchspeed.studies import sweep as sweeps
from torchspeed.studies.sweep import Axes, Outcome, cost, grid, open_study, outcomes, run
from torchspeed.training.config import RunConfig

CONFIG = RunConfig(optimiser="sgd", rate=0.1, epochs=2)
AXES: Axes = {"workers": [0, 1], "batch_size": [32, 64, 128]}


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
Measure = Callable[[Measured], list[RunConfig]]


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch) -> Measure:
    """Put a function in place of trainings; what it was called with is in the list."""

    def replace_trainings(outcome_of: Measured) -> list[RunConfig]:
        calls: list[RunConfig] = []

        def train(config: RunConfig) -> Outcome:
            calls.append(config)
            return outcome_of(config)

        monkeypatch.setattr(sweeps, "_train", train)
        return calls

    return replace_trainings


def faster_in_large_batches(config: RunConfig) -> Outcome:
    if config.batch_size == 128 and config.workers == 1:
        return Outcome(None, "no memory")
    return Outcome(result(10.0 / config.batch_size, config.batch_size))


def swept(
    storage: str, axes: Axes, config: RunConfig = CONFIG, search: int | None = None
) -> list[tuple[sweeps.Point, Outcome]]:
    """The outcomes of a sweep, in which the search has a study of its own."""
    name, among = ("grid", None) if search is None else ("search", axes)
    study = open_study(storage, name, config, among)
    run(study, config, axes, search)
    return outcomes(study)


def test_a_sweep_continues_where_it_stopped_and_may_grow_and_repeats_failures(
    tmp_path: Path, measure: Measure
) -> None:
    file = str(tmp_path / "x.db")
    calls = measure(faster_in_large_batches)
    swept(file, AXES | {"workers": [0]})
    found = swept(file, AXES)
    assert [(c.workers, c.batch_size, c.rate) for c in calls] == [
        (workers, size, 0.1) for workers in (0, 1) for size in (32, 64, 128)
    ]
    assert [point for point, _ in found] == grid(AXES)
    assert found[-1][1] == Outcome(None, "no memory")
    swept(file, AXES)
    assert len(calls) == 7  # the failed point alone
    measure(lambda config: Outcome(result(1.0)))
    assert all(outcome.result for _, outcome in swept(file, AXES))


def test_a_point_that_was_interrupted_is_run_again(tmp_path: Path, measure: Measure) -> None:
    def interrupt(_config: RunConfig) -> Outcome:
        raise KeyboardInterrupt

    file = str(tmp_path / "x.db")
    measure(interrupt)
    with pytest.raises(KeyboardInterrupt):
        swept(file, AXES)
    calls = measure(faster_in_large_batches)
    swept(file, AXES)
    assert len(calls) == 6


def test_points_that_two_processes_enqueue_at_once_are_trained_once(
    tmp_path: Path, measure: Measure
) -> None:
    file = str(tmp_path / "x.db")
    study = open_study(file, "grid", CONFIG)
    for point in [*grid(AXES), *grid(AXES)]:
        study.enqueue_trial({}, user_attrs={"point": point})

    def train_beside_another_process(config: RunConfig) -> Outcome:
        if len(calls) == 1:
            swept(file, AXES)
        return Outcome(result(1.0))

    calls = measure(train_beside_another_process)
    swept(file, AXES)
    assert sorted((c.workers, c.batch_size) for c in calls) == [
        (workers, size) for workers in (0, 1) for size in (32, 64, 128)
    ]


def test_another_configuration_is_refused(tmp_path: Path, measure: Measure) -> None:
    measure(faster_in_large_batches)
    file = str(tmp_path / "x.db")
    swept(file, AXES)
    with pytest.raises(TorchspeedError, match=r"another rate \(0.1, now 0.2\); give the same"):
        swept(file, AXES, RunConfig(optimiser="sgd", rate=0.2, epochs=2))
    with pytest.raises(TorchspeedError, match="has no sweep 'b'; give another --name"):
        open_study(file, "b")
    swept(file, AXES, search=1)
    with pytest.raises(TorchspeedError, match="other settings to search among"):
        swept(file, {"workers": [0, 1, 2]}, search=1)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("postgresql://nobody@127.0.0.1:9/none", "cannot be opened"),
        ("/nowhere/x.db", "give a SQLite file in a folder that exists"),
        ("notes", "notes cannot be opened .*not a database"),
    ],
)
def test_a_storage_out_of_reach_is_one_line(
    address: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes").write_text("a,b\n1,2\n" * 100)
    with pytest.raises(TorchspeedError, match=message) as caught:
        open_study(address, "a", CONFIG)
    assert "\n" not in str(caught.value)
    assert Path("notes").read_text() == "a,b\n1,2\n" * 100


def test_search_finds_the_fastest_and_a_search_taken_up_again_is_the_same(
    tmp_path: Path, measure: Measure
) -> None:
    axes: Axes = {"batch_size": [8, 16, 32, 64, 128, 256], "workers": list(range(6))}

    def slower_off_the_best(config: RunConfig) -> Outcome:
        return Outcome(result(1 + abs(config.batch_size - 64) / 10 + abs(config.workers - 2)))

    measure(slower_off_the_best)
    whole = swept(str(tmp_path / "whole.db"), axes, search=24)
    costs = [cost(outcome.result or {}) for _, outcome in whole]
    assert min(costs) <= 3.0  # the grid's 36 points reach from 1 to 23.2
    swept(str(tmp_path / "two.db"), axes, search=10)
    assert swept(str(tmp_path / "two.db"), axes, search=24) == whole


@contextmanager
def postgresql() -> Iterator[str]:
    """Start a server of Debian's on a socket of its own, yield its database's address, stop it."""
    programs = max(Path("/usr/lib/postgresql").glob("*/bin/initdb"), default=None)
    if programs is None:
        pytest.skip("needs postgresql")
    # PostgreSQL refuses to run as root, and Debian's user cannot enter root's folders.
    is_root = os.getuid() == 0
    owner = pwd.getpwnam("postgres") if is_root else pwd.getpwuid(os.getuid())
    folder = Path(tempfile.mkdtemp(prefix="torchspeed-", dir=owner.pw_dir if is_root else None))
    shutil.chown(folder, owner.pw_uid)

    def run(program: str, *arguments: str) -> None:
        command = [str(programs.with_name(program)), "-D", str(folder / "data"), *arguments]
        subprocess.run(
            command, user=owner.pw_uid, cwd=folder, check=True, stdout=subprocess.DEVNULL
        )

    try:
        run("initdb", "-A", "trust", "-U", owner.pw_name)
        settings = f"-k {folder} -c listen_addresses= -c fsync=off"
        run("pg_ctl", "-w", "-o", settings, "-l", str(folder / "log"), "start")
        try:
            yield f"postgresql://{owner.pw_name}@/postgres?host={folder}"
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


@pytest.mark.timeout(1800)
def test_processes_share_a_postgresql_and_one_dies_in_a_point(tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT / "src")}
    options = ["-d", "dummy", "--items", "100", "-b", "4,8,16", "-e", "100", "--threads", "1"]
    with postgresql() as storage:
        command = ["bash", str(ROOT / "docs" / "sweep.sbatch"), storage, *options]

        def start() -> "subprocess.Popen[str]":
            return subprocess.Popen(
                command, cwd=tmp_path, env=environment, text=True, stderr=subprocess.PIPE
            )

        def states() -> Counter[TrialState]:
            return Counter(trial.state for trial in open_study(storage, "sweep").trials)

        dies = start()
        while True:  # until it trains
            assert dies.poll() is None
            try:
                if states()[TrialState.RUNNING]:
                    break
            except TorchspeedError:  # it has not begun
                time.sleep(0.1)
        time.sleep(2)  # its first heartbeat
        dies.kill()
        dies.wait()
        time.sleep(sweeps.DEAD_AFTER_S)
        for process in [start(), start()]:
            _, errors = process.communicate(timeout=600)
            assert process.returncode == 0, errors
        assert states()[TrialState.COMPLETE] == 3  # each point once
        assert states()[TrialState.FAIL] == 1
        assert len(outcomes(open_study(storage, "sweep"))) == 3


def test_the_command_keeps_failures_apart_and_says_what_became_of_each_trial(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], measure: Measure
) -> None:
    calls = measure(faster_in_large_batches)
    file = str(tmp_path / "x.db")
    arguments = ["sweep", file, "-w", "0,1", "-b", "64,128", "--target-accuracy", "90"]
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
    assert main(["sweep", file, "--report", "--figures", str(tmp_path)]) == 3
    assert f"{tmp_path}/against_workers.svg" in capsys.readouterr().out
    assert "mean time of an epoch" in (tmp_path / "against_workers.svg").read_text()
    assert main(["sweep", str(tmp_path / "z.db"), "-b", "32,64", "--search", "4"]) == 0
    shown = capsys.readouterr()
    assert shown.err.count(": done\n") == len(calls) - 4 == 2
    assert "4 trials chose 2 points; none is trained twice" in shown.out
    measure(lambda _config: Outcome(None, "no [/luck]"))
    assert main(["sweep", str(tmp_path / "y.db"), "-w", "0"]) == 1
    shown = capsys.readouterr()
    assert "every point failed (no [/luck]); correct that" in shown.err
    assert shown.out.rstrip().splitlines()[-2].split("│")[-2].strip() == "no [/luck]"
