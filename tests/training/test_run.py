"""Training and inference: what they learn, keep and refuse, and what their suites measure."""

import io
import math
import multiprocessing
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
import torch
from torch import nn

from tests.conftest import refused
from torchspeed.training import cases
from torchspeed.training.config import NOBODY, PATIENCE, Mode, Observer, Precision, RunConfig
from torchspeed.training.run import Run, infer_smoothly
from torchspeed.training.train import Trainer, train
from torchspeed.training.window_loading import WAYS, windows_per_second
from torchspeed.workloads import get_workload

LENET = RunConfig(
    model="lenet5", data="digits", batch_size=64, optimiser="sgd", rate=0.1, epochs=1
)
DARNN = RunConfig(model="darnn", data="eeg", batch_size=64, optimiser="sgd", rate=0.01, epochs=1,
                  limit_batches=3)  # fmt: skip


def test_training_learns_real_digits_and_stops_at_the_target() -> None:
    result = train(replace(LENET, epochs=12, target_accuracy=80))
    columns: Any = result.time_to_accuracy
    assert columns.epochs_to_target == len(result.epochs) < 12
    accuracies: list[Any] = [epoch.test_accuracy for epoch in result.epochs]
    assert accuracies[-1] >= 0.8 > accuracies[0]
    assert columns.seconds_to_target == sum(epoch.wall_s for epoch in result.epochs)
    assert columns.best_test_accuracy == accuracies[-1]
    assert columns.seconds_to_target == columns.training_function_s
    worked = columns.data_loading_s + columns.epoch_training_s
    assert 0.9 * columns.training_function_s < worked <= columns.training_function_s


def test_a_forecaster_stops_when_nothing_improves_also_when_it_was_resumed(tmp_path: Path) -> None:
    config = RunConfig(model="dlinear", rate=1e-30, epochs=PATIENCE + 3)  # it learns nothing
    file = tmp_path / "run.pt"
    train(replace(config, epochs=5), checkpoint=file)
    result = train(config, checkpoint=file, resume=True)
    assert len(result.epochs) == 1 + PATIENCE
    assert result.stopped == f"stopped after epoch {1 + PATIENCE}: no improvement since epoch 1"
    images = replace(LENET, rate=1e-30, epochs=config.epochs, limit_batches=2)
    for goes_on in (replace(config, patience=0), replace(config, cosine=True), images):
        result = train(goes_on)
        assert (len(result.epochs), result.stopped) == (config.epochs, None)
    assert len(train(replace(images, patience=2)).epochs) == 3


@pytest.mark.parametrize("config", [LENET, DARNN])
def test_a_seed_decides_the_losses(config: RunConfig) -> None:
    config = replace(config, epochs=2, limit_batches=3)
    losses = [[e.train_loss for e in train(config).epochs] for _ in range(2)]
    assert losses[0] == losses[1]
    assert losses[0] != [e.train_loss for e in train(replace(config, seed=1)).epochs]


@pytest.mark.needs("CUDA")
@pytest.mark.parametrize("device", ["cuda", "cuda:0"])
@pytest.mark.parametrize("config", [LENET, DARNN])
def test_a_gpu_learns_what_the_cpu_does(config: RunConfig, device: str, tmp_path: Path) -> None:
    config = replace(config, epochs=2, limit_batches=5)
    losses = [epoch.train_loss for epoch in train(config).epochs]
    config = replace(config, device=device, workers=1)
    train(replace(config, epochs=1), checkpoint=tmp_path / "run.pt")
    result = train(config, checkpoint=tmp_path / "run.pt", resume=True)
    assert [epoch.train_loss for epoch in result.epochs] == pytest.approx(losses, rel=0.01)
    assert result.device_name == torch.cuda.get_device_name()
    assert infer_smoothly(config).device_name == result.device_name


def test_a_resumed_run_is_the_uninterrupted_one(tmp_path: Path) -> None:
    config = RunConfig(
        model="squeezenet1_1", data="dummy", items=25, batch_size=2,
        weight_decay=0.1, clip_norm=1.0, epochs=3, limit_batches=2,
    )  # fmt: skip
    whole, file = train(config), tmp_path / "run.pt"
    train(replace(config, epochs=2), checkpoint=file)
    resumed = train(config, checkpoint=file, resume=True)
    losses = [[(e.train_loss, e.held_out_loss) for e in run.epochs] for run in (resumed, whole)]
    assert losses[0] == losses[1]  # with its dropout and its order
    assert resumed.ranks[0].steps == 1
    # A run that is complete has nothing more to measure.
    again = train(config, checkpoint=file, resume=True)
    assert again.loss == whole.loss
    assert again.as_dict()["items_per_s"] is None


def test_the_rate_follows_a_cosine_to_the_end() -> None:
    epochs = train(replace(LENET, cosine=True, epochs=3, limit_batches=2)).epochs
    assert [epoch.rate for epoch in epochs] == pytest.approx([0.1, 0.075, 0.025])


def test_a_clipped_gradient_moves_the_parameters_by_its_norm() -> None:
    run = Run.prepared(replace(LENET, clip_norm=0.01, limit_batches=2), NOBODY, trains=True)
    before = nn.utils.parameters_to_vector(run.model.parameters()).detach()
    Trainer(run).epoch()
    after = nn.utils.parameters_to_vector(run.model.parameters()).detach()
    # Two steps in about one direction, the second with a momentum of 0.9.
    assert 0.5 * 0.0029 < (after - before).norm().item() <= 1.0001 * 0.0029


def test_a_checkpoint_is_not_overwritten_and_another_run_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "run.pt"
    config = replace(LENET, limit_batches=2)
    with refused(r"no checkpoint .*run\.pt; leave out --resume"):
        train(config, checkpoint=file, resume=True)
    train(config, checkpoint=file)
    saved = file.read_bytes()
    with refused(r"run\.pt exists already; give --resume"):
        train(config, checkpoint=file)
    with refused(r"another rate \(0.1, now 0.2\)"):
        train(replace(config, rate=0.2), checkpoint=file, resume=True)
    with refused(r"another model .*give the same, or another"):
        train(replace(config, model="resnet18_mnist"), checkpoint=file, resume=True)
    elsewhere = replace(config, data_dir=Path("elsewhere"), download=True)
    train(elsewhere, checkpoint=file, resume=True)
    for damaged in (saved[:-3000], saved[:100] + saved[140:], b"notes of mine\n", b""):
        file.write_bytes(damaged)
        with refused(r"run\.pt is damaged or not a checkpoint"):
            train(config, checkpoint=file, resume=True)
        assert file.read_bytes() == damaged
    state = torch.load(io.BytesIO(saved), weights_only=True)
    state["model"].popitem()  # of another version
    torch.save(state, file)
    with refused(r"does not fit the model .* begin anew"):
        train(config, checkpoint=file, resume=True)


def test_a_worker_that_is_killed_during_a_step_is_one_line() -> None:
    class Kills(Observer):
        def step(self) -> None:
            multiprocessing.active_children()[0].kill()
            time.sleep(30)  # the signal of its end comes meanwhile

    with refused(r"worker died \(.*Killed.*--workers"):
        train(replace(LENET, workers=1, limit_batches=3), observer=Kills())


def test_a_loss_that_is_not_finite_stops_the_run_and_keeps_the_checkpoint(tmp_path: Path) -> None:
    file = tmp_path / "run.pt"
    config = replace(LENET, limit_batches=2, epochs=2)
    train(replace(config, epochs=1), checkpoint=file)
    saved = torch.load(file, weights_only=True)
    saved["model"]["dense3.bias"].fill_(math.nan)
    torch.save(saved, file)
    before = file.read_bytes()
    with refused(r"in epoch 2; .*run\.pt holds the epoch before"):
        train(config, checkpoint=file, resume=True)
    assert file.read_bytes() == before


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.needs("CUDA"))])
@pytest.mark.parametrize("precision", get_args(Precision))
def test_every_precision_trains(precision: Precision, device: str) -> None:
    result = train(replace(LENET, device=device, precision=precision, limit_batches=3))
    assert result.loss == pytest.approx(2.3, abs=0.1)


@pytest.mark.needs("g++")
def test_every_mode_trains_the_same_model() -> None:
    losses = [train(replace(LENET, mode=mode, limit_batches=3)).loss for mode in get_args(Mode)]
    assert losses == pytest.approx([losses[0]] * len(losses), rel=1e-4)


def test_compiling_needs_a_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with refused(r"no C\+\+ compiler .* or give another --mode"):
        train(RunConfig(mode="compiled"))


@pytest.mark.parametrize("name", ["lenet5", "tpa_lstm", "lstnet"])
def test_a_step_moves_every_parameter(name: str) -> None:
    case = cases.Training(name, "cpu", batches=2)
    before = [p.clone() for p in case._model.parameters()]
    case.epoch()
    after = list(case._model.parameters())
    assert all(not torch.equal(a, b) for a, b in zip(after, before, strict=True))


def test_five_steps_are_adams_from_the_beginning_each_time() -> None:
    case = cases.AdamSteps("lstnet_solar", "cpu")
    ends = []
    for _ in range(2):
        case.run()
        ends.append([p.detach().clone() for p in case._parameters])
    recipe = get_workload("lstnet_solar")
    model = recipe.create_model()
    adam = torch.optim.Adam(model.parameters(), lr=0.007)
    for _ in range(5):
        output = model(recipe.example_inputs())
        loss = torch.nn.functional.mse_loss(output, recipe.example_targets())
        adam.zero_grad()
        loss.backward()
        adam.step()
    for once, again, by_hand in zip(*ends, model.parameters(), strict=True):
        assert torch.equal(once, again), "nothing creeps from one sample to the next"
        torch.testing.assert_close(once, by_hand.detach())


@pytest.mark.parametrize("way", WAYS)
def test_an_epoch_has_every_window_once_with_what_follows_it(way: str) -> None:
    values = torch.arange(300 * 7, dtype=torch.float32).view(300, 7)
    starts, orders = [], []
    for number in (0, 1):
        order = []
        for inputs, targets in WAYS[way](values, number):
            assert inputs.shape[1:] == targets.shape[1:] == (96, 7)
            for window, future in zip(inputs, targets, strict=True):
                start = int(window[0, 0]) // 7
                assert torch.equal(torch.cat((window, future)), values[start : start + 192])
                order.append(start)
        starts.append(sorted(order))
        orders.append(order)
    assert starts == [list(range(300 - 192 + 1))] * 2
    assert orders[0] != orders[1], "not shuffled anew"
    assert windows_per_second(way, rows=500) > 0
