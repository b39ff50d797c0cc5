import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import psutil
import pytest

from torchspeed.errors import TorchspeedError
from torchspeed.training.figures import draw_figures
from torchspeed.training.sweep import MeasuredPoint, Sweep, cost, grid

AXES: dict[str, list[Any]] = {
    "workers": [0, 1, 2, 4],
    "batch_size": [32, 128],
    "optimiser": ["sgd"],
    "rate": [0.1, 1.0],
}
ARGUMENTS = ["--model=lenet5"]


def result(
    seconds: float, reached: float | None = None, accuracy: float = 0.5, target: float | None = 0.9
) -> dict[str, Any]:
    return {
        "config": {"model": "lenet5", "data": "digits"},
        "epochs": [{"wall_s": seconds / 2}, {"wall_s": seconds / 2}],
        "time_to_accuracy": {
            "training_function_s": seconds,
            "seconds_to_target": reached,
            "target_accuracy": target,
            "best_test_accuracy": accuracy,
        },
    }


def line(point: dict[str, Any], outcome: dict[str, Any] | None, reason: str = "") -> str:
    entry = {"arguments": ARGUMENTS, "point": point, "result": outcome, "reason": reason}
    return json.dumps(entry) + "\n"


def seconds_of(point: dict[str, Any]) -> float:
    """A landscape with its least time at 2 workers, batch 128, rate 0.1."""
    distance: float = abs(point["workers"] - 2) + 5 * point["rate"]
    return 1.0 + distance + int(point["batch_size"] == 32)


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """A file in which every point of the grid is known; one of them failed."""
    file = tmp_path / "sweep.jsonl"
    with file.open("w") as lines:
        for point in grid(AXES):
            seconds = seconds_of(point)
            failed = point["workers"] == 4 and point["batch_size"] == 32
            known = None if failed else result(2 * seconds, reached=seconds)
            lines.write(line(point, known, "killed by signal 9" if failed else ""))
    return file


def test_grid_is_every_combination_once() -> None:
    points = grid(AXES)
    assert len(points) == 16
    assert {tuple(point.values()) for point in points} == set(itertools.product(*AXES.values()))


def test_known_points_are_not_run_again(measured: Path) -> None:
    before = measured.read_bytes()
    messages: list[bool] = []
    outcomes = Sweep(measured, ARGUMENTS).run(grid(AXES), lambda _, known: messages.append(known))
    assert messages == [True] * 16
    assert measured.read_bytes() == before
    assert [o.reason for o in outcomes if o.result is None] == ["killed by signal 9"] * 2


def test_a_line_cut_short_by_a_kill_is_dropped(measured: Path) -> None:
    whole = measured.read_bytes()
    measured.write_bytes(whole[:-40])
    assert len(Sweep(measured, ARGUMENTS).outcomes) == 15
    assert measured.read_bytes() == whole[: whole[:-1].rfind(b"\n") + 1]


def test_file_of_another_sweep_or_garbage_is_refused(measured: Path) -> None:
    with pytest.raises(TorchspeedError, match="is of a sweep of 'train --model=lenet5'"):
        Sweep(measured, ["--model=flux_cnn"])
    with measured.open("a") as file:
        file.write("{}\n")
    with pytest.raises(TorchspeedError, match=r"sweep\.jsonl, line 17: no outcome"):
        Sweep(measured, ARGUMENTS)


@pytest.mark.parametrize("text", ["notes of mine", "notes\nof mine", "a line\n", "{", "\0\n"])
def test_a_file_that_is_not_ours_is_never_changed(tmp_path: Path, text: str) -> None:
    file = tmp_path / "notes.txt"
    file.write_text(text)
    if text == "{":  # what a kill may have left of our first line
        assert not Sweep(file, ARGUMENTS).outcomes
        return
    with pytest.raises(TorchspeedError, match=r"notes\.txt"):
        Sweep(file, ARGUMENTS)
    assert file.read_text() == text


def test_search_finds_the_fastest_in_fewer_trials_than_the_grid(measured: Path) -> None:
    outcomes = Sweep(measured, ARGUMENTS).search(AXES, 12, seed=0, on_outcome=lambda *_: None)
    best = min((o for o in outcomes if o.result), key=lambda o: cost(o.result or {}))
    assert best.point["workers"] == 2
    assert best.point["rate"] == 0.1
    again = Sweep(measured, ARGUMENTS).search(AXES, 12, seed=0, on_outcome=lambda *_: None)
    assert [o.point for o in again] == [o.point for o in outcomes]


def test_cost_ranks_reached_before_near_before_far() -> None:
    reached = cost(result(100.0, reached=90.0))
    near, far = cost(result(10.0, accuracy=0.89)), cost(result(10.0, accuracy=0.1))
    assert reached == 90.0
    assert reached < near < far
    assert cost(result(7.0, target=None)) == 7.0


def test_figures_leave_failed_points_out(measured: Path, tmp_path: Path) -> None:
    outcomes = Sweep(measured, ARGUMENTS).run(grid(AXES), lambda *_: None)
    files = draw_figures(outcomes, tmp_path)
    assert [file.name for file in files] == ["against_workers.svg", "against_batch_size.svg"]
    for file in files:
        assert ElementTree.parse(file).getroot().tag.endswith("svg")  # noqa: S314 - our own
    only: dict[str, int | float | str] = {
        "workers": 0,
        "batch_size": 32,
        "optimiser": "sgd",
        "rate": 0.1,
    }
    assert draw_figures([MeasuredPoint(only, result(1.0), "")], tmp_path) == []


def command(file: Path) -> list[str]:
    # The last batch size leaves one step, which would be warm-up: a point that fails.
    return [sys.executable, "-m", "torchspeed.cli", "sweep", str(file), "-d", "dummy",
            "-b", "64,2000", "--items", "1000", "--limit-batches", "3", "-e", "1"]  # fmt: skip


def test_a_killed_sweep_goes_on_where_it_stopped(root: Path, tmp_path: Path) -> None:
    file = tmp_path / "sweep.jsonl"
    variables = {"PYTHONPATH": str(root / "src"), "OMP_NUM_THREADS": "1", "COLUMNS": "160"}
    variables["TMPDIR"] = str(tmp_path)  # a killed sweep leaves the folder of a point
    with subprocess.Popen(
        command(file), stderr=subprocess.PIPE, text=True, env=variables
    ) as first:
        assert first.stderr is not None
        assert first.stderr.readline().startswith("1 of 2: workers 0, batch_size 64")
        first.kill()
    assert len(file.read_text().splitlines()) == 1
    second = subprocess.run(
        command(file), capture_output=True, text=True, env=variables, check=False
    )
    assert second.returncode == 3  # one of the two points cannot be measured
    messages = [entry.rsplit(": ", 1)[1] for entry in second.stderr.splitlines()]
    assert messages[0] == "known"
    assert messages[1].startswith("the only step would be warm-up")
    table, failures = second.stdout.split("failed")
    assert "sgd" in table
    assert "2000" not in table
    assert "2000" in failures
    assert len(file.read_text().splitlines()) == 2


def test_a_point_ends_with_the_sweep_that_started_it(root: Path) -> None:
    # A launcher that is killed while its child, of our own, runs on.
    child = (
        "import time\n"
        "from torchspeed.training.launch import die_with_launcher\n"
        "die_with_launcher()\n"
        "print('ready', flush=True)\n"
        "time.sleep(600)\n"
    )
    launcher = (
        "import os, subprocess, sys\n"
        "os.environ['TORCHSPEED_LAUNCHER'] = str(os.getpid())\n"
        "child = subprocess.Popen([sys.executable, '-c', sys.argv[1]])\n"
        "print(child.pid, flush=True)\n"
        "child.wait()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", launcher, child],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(root / "src")},
    ) as process:
        assert process.stdout is not None
        orphan = psutil.Process(int(process.stdout.readline()))
        assert process.stdout.readline() == "ready\n"
        process.kill()
    assert psutil.wait_procs([orphan], timeout=30)[1] == []
