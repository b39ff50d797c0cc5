import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import asv.benchmark
import pytest
import torch

from benchmarks.training import BenchmarkJade
from torchspeed.training import cases
from torchspeed.workloads import get_workload


def measure(root: Path, tmp_path: Path, benchmark: str, folder: Path | None = None) -> Any:
    """Measure one case as asv does, in a process of its own, in a folder with its cache."""
    file = tmp_path / "result.json"
    done = subprocess.run(
        [sys.executable, asv.benchmark.__file__, "run", str(root / "benchmarks"), benchmark,
         "{}", "None", str(file)],
        cwd=folder or root,
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


def test_five_steps_are_adams_from_the_beginning_each_time() -> None:
    torch.set_num_threads(1)
    case = cases.AdamSteps("lstnet_solar", "cpu")
    ends = []
    for _ in range(2):
        case.run()
        ends.append([p.detach().clone() for p in case._parameters])
    recipe = get_workload("lstnet_solar")
    model = recipe.create_model()
    adam = torch.optim.Adam(model.parameters(), lr=0.007)
    for _ in range(5):
        loss = torch.nn.functional.mse_loss(
            model(recipe.example_inputs()), recipe.example_targets()
        )
        adam.zero_grad()
        loss.backward()
        adam.step()
    for once, again, by_hand in zip(*ends, model.parameters(), strict=True):
        assert torch.equal(once, again), "nothing creeps from one sample to the next"
        torch.testing.assert_close(once, by_hand.detach())


def test_published_batches_are_for_gpus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for device, reason in (("cpu", "batches of 128 are for GPUs"), ("cuda", "not on this mach")):
        with pytest.raises(NotImplementedError, match=reason):
            BenchmarkJade().setup(str(tmp_path), "train", device, "published")


def test_asv_hands_the_phases_of_one_run_to_every_case(root: Path, tmp_path: Path) -> None:
    # As the first case leaves it behind for the others. Set 8 is smooth inference: cpu, small.
    seconds = {"data loading": 1.5, "data processing": 2.5, "forward": 3.5}
    name = "benchmarks.training-BenchmarkJade-smooth-inference-cpu-small.json"
    (tmp_path / name).write_text(json.dumps(seconds))
    (tmp_path / "cache.pickle").write_bytes(pickle.dumps(str(tmp_path)))
    for phase, figure in (("data_processing", 2.5), ("forward", 3.5)):
        benchmark = f"training.BenchmarkJade.track_{phase}-8"
        assert measure(root, tmp_path, benchmark, folder=tmp_path) == figure
