"""Sweeps: every point once, whoever works on it, and nothing lost when a process dies."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from optuna.trial import TrialState

from tests.conftest import ROOT, refused
from torchspeed.cli.main import main
from torchspeed.errors import TorchspeedError
from torchspeed.studies import sweep as sweeps
from torchspeed.studies.sweep import Axes, Outcome, cost, grid, open_study, outcomes, run
from torchspeed.training.config import RunConfig
from torchspeed.training.train import train

CONFIG = RunConfig(optimiser="sgd", rate=0.1, epochs=2)
AXES: Axes = {"workers": [0, 1], "batch_size": [32, 64, 128]}


@cache
def trained() -> dict[str, Any]:
    return train(RunConfig(epochs=2, limit_batches=2)).as_dict()


def result(seconds: float) -> dict[str, Any]:
    """What is stored of a training that reached its target in so many seconds."""
    took = {"training_function_s": seconds, "target_accuracy": 0.9, "seconds_to_target": seconds}
    return trained() | {"time_to_accuracy": trained()["time_to_accuracy"] | took}


def faster_in_large_batches(config: RunConfig) -> Outcome:
    if config.batch_size == 128 and config.workers == 1:
        return "no memory"
    return result(10.0 / config.batch_size)


@pytest.fixture
def trainings(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """Stands in for all trainings; ``side_effect`` makes their outcomes."""
    stand_in = Mock(side_effect=faster_in_large_batches)
    monkeypatch.setattr(sweeps, "_train", stand_in)
    return stand_in


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(tmp_path / "x.db")


def swept(
    storage: str, axes: Axes, config: RunConfig = CONFIG, search: int | None = None
) -> list[tuple[sweeps.Point, Outcome]]:
    """The outcomes of a sweep, in which the search has a study of its own."""
    name, among = ("grid", None) if search is None else ("search", axes)
    study = open_study(storage, name, config, among)
    run(study, config, axes, search)
    return outcomes(study)


def test_a_sweep_continues_may_grow_and_repeats_failures(file: str, trainings: Mock) -> None:
    swept(file, AXES | {"workers": [0]})
    found = swept(file, AXES)
    configs = [call.args[0] for call in trainings.call_args_list]
    assert [(c.workers, c.batch_size, c.rate) for c in configs] == [
        (workers, size, 0.1) for workers in (0, 1) for size in (32, 64, 128)
    ]
    assert [point for point, _ in found] == grid(AXES)
    assert found[-1][1] == "no memory"
    swept(file, AXES)
    assert trainings.call_count == 7  # the failed point alone
    trainings.side_effect = lambda _config: result(1.0)
    assert not any(isinstance(outcome, str) for _, outcome in swept(file, AXES))


def test_a_point_that_was_interrupted_is_run_again(file: str, trainings: Mock) -> None:
    trainings.side_effect = KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        swept(file, AXES)
    trainings.side_effect = faster_in_large_batches
    swept(file, AXES)
    assert trainings.call_count == 1 + 6


def test_points_that_two_processes_enqueue_train_once(file: str, trainings: Mock) -> None:
    study = open_study(file, "grid", CONFIG)
    for point in [*grid(AXES), *grid(AXES)]:
        study.enqueue_trial({}, user_attrs={"point": point})

    def train_beside_another_process(_config: RunConfig) -> Outcome:
        if trainings.call_count == 1:
            swept(file, AXES)
        return result(1.0)

    trainings.side_effect = train_beside_another_process
    swept(file, AXES)
    configs = [call.args[0] for call in trainings.call_args_list]
    assert sorted((c.workers, c.batch_size) for c in configs) == [
        (workers, size) for workers in (0, 1) for size in (32, 64, 128)
    ]


@pytest.mark.usefixtures("trainings")
def test_another_configuration_is_refused(file: str) -> None:
    swept(file, AXES)
    with refused(r"another rate \(0.1, now 0.2\); give the same"):
        swept(file, AXES, RunConfig(optimiser="sgd", rate=0.2, epochs=2))
    with refused("has no sweep 'b'; give another --name"):
        open_study(file, "b")
    swept(file, AXES, search=1)
    with refused("other settings to search among"):
        swept(file, {"workers": [0, 1, 2]}, search=1)


def test_a_file_that_is_no_storage_stays_as_it_is(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.write_text("a,b\n1,2\n" * 100)
    with refused("notes cannot be opened .*not a database"):
        open_study(str(notes), "a", CONFIG)
    assert notes.read_text() == "a,b\n1,2\n" * 100


def test_search_finds_the_fastest_and_can_be_taken_up(tmp_path: Path, trainings: Mock) -> None:
    axes: Axes = {"batch_size": [8, 16, 32, 64, 128, 256], "workers": list(range(6))}
    trainings.side_effect = lambda config: result(
        1 + abs(config.batch_size - 64) / 10 + abs(config.workers - 2)
    )
    whole: Any = swept(str(tmp_path / "whole.db"), axes, search=24)
    costs = [cost(outcome) for _, outcome in whole]
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
    parent = owner.pw_dir if is_root else None
    with tempfile.TemporaryDirectory(prefix="torchspeed-", dir=parent) as folder:
        shutil.chown(folder, owner.pw_uid)

        def run(program: str, *arguments: str) -> None:
            command = [str(programs.with_name(program)), "-D", f"{folder}/data", *arguments]
            output = subprocess.DEVNULL
            subprocess.run(command, user=owner.pw_uid, cwd=folder, check=True, stdout=output)

        run("initdb", "-A", "trust", "-U", owner.pw_name)
        settings = f"-k {folder} -c listen_addresses= -c fsync=off"
        run("pg_ctl", "-w", "-o", settings, "-l", f"{folder}/log", "start")
        try:
            yield f"postgresql://{owner.pw_name}@/postgres?host={folder}"
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "stop")


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
    tmp_path: Path, file: str, capsys: pytest.CaptureFixture[str], trainings: Mock
) -> None:
    arguments = ["sweep", file, "-w", "0,1", "-b", "64,128", "--target-accuracy", "90"]
    assert main(arguments) == 3
    shown = capsys.readouterr()
    assert shown.err.splitlines() == [
        "batch_size 64, workers 0: done",
        "batch_size 64, workers 1: done",
        "batch_size 128, workers 0: done",
        "batch_size 128, workers 1: failed: no memory",
    ]
    assert trainings.call_args.args[0].target_accuracy == 90
    table, failures = shown.out.split("failed")
    assert "78.1 ms" in table
    assert "no memory" not in table
    assert "no memory" in failures
    assert main(["sweep", file, "--report", "--figures", str(tmp_path)]) == 3
    assert f"{tmp_path}/against_workers.svg" in capsys.readouterr().out
    assert "mean time of an epoch" in (tmp_path / "against_workers.svg").read_text()
    assert main(["sweep", str(tmp_path / "z.db"), "-b", "32,64", "--search", "4"]) == 0
    shown = capsys.readouterr()
    assert shown.err.count(": done\n") == trainings.call_count - 4 == 2
    assert "4 trials chose 2 points; none is trained twice" in shown.out
    trainings.side_effect = lambda _config: "no [/luck]"
    assert main(["sweep", str(tmp_path / "y.db"), "-w", "0"]) == 1
    shown = capsys.readouterr()
    assert "every point failed (no [/luck]); correct that" in shown.err
    assert shown.out.rstrip().splitlines()[-2].split("│")[-2].strip() == "no [/luck]"
