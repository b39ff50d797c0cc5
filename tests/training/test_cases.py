import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import asv.benchmark
import pytest
import torch

from torchspeed.training import cases


def measure(root: Path, tmp_path: Path, benchmark: str) -> Any:
    """Measure one case as asv does, in a process of its own."""
    file = tmp_path / "result.json"
    done = subprocess.run(
        [sys.executable, asv.benchmark.__file__, "run", str(root / "benchmarks"), benchmark,
         "{}", "None", str(file)],
        cwd=root,
        env={**os.environ, "ASV_PYTHONPATH": str(root / "src"), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(file.read_text())


@pytest.mark.parametrize("name", ["lenet5", "tpa_lstm", "lstnet"])
def test_a_step_moves_every_parameter(name: str) -> None:
    case = cases.Training(name, "cpu", batches=2)
    before = [p.clone() for p in case._model.parameters()]
    case.epoch()
    after = list(case._model.parameters())
    assert all(not torch.equal(a, b) for a, b in zip(after, before, strict=True))


def test_loading_takes_every_item(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    original = torch.utils.data.DataLoader.__iter__

    def counted(self: Any) -> Any:
        for inputs, targets in original(self):
            seen.append(len(inputs))
            yield inputs, targets

    monkeypatch.setattr(torch.utils.data.DataLoader, "__iter__", counted)
    cases.Loading(0)
    assert sum(seen) == cases.LOADED_ITEMS


def test_time_to_accuracy_repeats_in_epochs_and_accuracy() -> None:
    torch.set_num_threads(1)
    first, second = (cases.time_to_accuracy_of("lenet5", "cpu") for _ in range(2))
    assert first.epochs_to_target == second.epochs_to_target
    assert first.best_test_accuracy == second.best_test_accuracy >= 0.8
    assert first.seconds_to_target > 0


def test_asv_measures_the_phases_of_resnet50(root: Path, tmp_path: Path) -> None:
    # Parameter set 8 is the first of smooth-inference: cpu, small.
    name = "training.BenchmarkJade.track_data_processing-8"
    assert 0 < measure(root, tmp_path, name) < 1


def test_asv_times_data_loading(root: Path, tmp_path: Path) -> None:
    measured = measure(root, tmp_path, "training.DataLoading.time_load-1")
    assert all(0 < sample < 60 for sample in measured["samples"])
