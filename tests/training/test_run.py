import json
import math
import multiprocessing
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
import torch

from tests.gpu import needs_gpu
from torchspeed.data.options import DataOptions
from torchspeed.errors import TorchspeedError
from torchspeed.models import create_model
from torchspeed.training.checkpoint import save_checkpoint
from torchspeed.training.config import Precision, RunConfig, complete
from torchspeed.training.context import Observer
from torchspeed.training.infer import infer, infer_smoothly
from torchspeed.training.phases import StepTimes
from torchspeed.training.state import TrainingState
from torchspeed.training.train import train

LENET = RunConfig(
    model="lenet5", data="digits", batch_size=64, optimiser="sgd", rate=0.1, epochs=1
)
DARNN = RunConfig(model="darnn", data="eeg", batch_size=64, optimiser="sgd", rate=0.01, epochs=1,
                  limit_batches=3)  # fmt: skip


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def test_training_learns_real_digits_and_stops_at_the_target() -> None:
    result = train(replace(LENET, epochs=12, target_accuracy=80))
    columns = result.time_to_accuracy
    assert columns is not None
    assert columns.epochs_to_target == len(result.epochs) < 12
    first, last = (result.epochs[index].test_accuracy for index in (0, -1))
    assert first is not None
    assert last is not None
    assert last >= 0.8 > first
    assert columns.seconds_to_target == sum(epoch.wall_s for epoch in result.epochs)
    assert columns.best_test_accuracy == result.epochs[-1].test_accuracy
    assert columns.seconds_to_target == columns.training_function_s
    assert columns.data_loading_s is not None
    assert columns.epoch_training_s is not None
    worked = columns.data_loading_s + columns.epoch_training_s
    assert 0.9 * columns.training_function_s < worked <= columns.training_function_s


def test_without_phases_the_same_is_learned_and_throughput_is_left() -> None:
    config = replace(LENET, limit_batches=4, epochs=2)
    timed, untimed = train(config), train(replace(config, phases=False))
    assert [e.train_loss for e in untimed.epochs] == [e.train_loss for e in timed.epochs]
    assert [e.test_accuracy for e in untimed.epochs] == [e.test_accuracy for e in timed.epochs]
    rank, columns = untimed.ranks[0], untimed.time_to_accuracy
    assert (rank.steps, rank.items, rank.phases) == (7, 7 * 64, {})
    assert 0 < rank.wall_s < rank.total_wall_s == sum(e.wall_s for e in untimed.epochs)
    assert columns is not None
    assert columns.data_loading_s is columns.epoch_training_s is None


@pytest.mark.parametrize("config", [LENET, DARNN])
def test_a_seed_decides_the_losses(config: RunConfig) -> None:
    config = replace(config, epochs=2, limit_batches=3)
    losses = [[e.train_loss for e in train(config).epochs] for _ in range(2)]
    assert losses[0] == losses[1]
    assert losses[0] != [e.train_loss for e in train(replace(config, seed=1)).epochs]


@needs_gpu
@pytest.mark.parametrize("device", ["cuda", "cuda:0"])
@pytest.mark.parametrize("config", [LENET, replace(LENET, phases=False), DARNN])
def test_a_gpu_learns_what_the_cpu_does(config: RunConfig, device: str, tmp_path: Path) -> None:
    config = replace(config, epochs=2, limit_batches=5)
    losses = [epoch.train_loss for epoch in train(config).epochs]
    config = replace(config, device=device, workers=1)
    train(replace(config, epochs=1), checkpoint=tmp_path / "run.pt")
    result = train(config, checkpoint=tmp_path / "run.pt", resume=True)
    assert [epoch.train_loss for epoch in result.epochs] == pytest.approx(losses, rel=0.01)
    assert result.device_name == torch.cuda.get_device_name()
    assert infer_smoothly(config).device_name == result.device_name


def test_workers_change_nothing_but_the_time() -> None:
    config = replace(LENET, limit_batches=3)
    assert train(config).loss == train(replace(config, workers=1)).loss


def test_checkpoint_of_another_run_or_damaged_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "run.pt"
    config = replace(LENET, limit_batches=2)
    with pytest.raises(TorchspeedError, match=r"no checkpoint .*run\.pt; leave out --resume"):
        train(config, checkpoint=file, resume=True)
    train(config, checkpoint=file)
    with pytest.raises(TorchspeedError, match=r"another rate \(0.1, now 0.2\)"):
        train(replace(config, rate=0.2), checkpoint=file, resume=True)
    elsewhere = DataOptions(data_dir=Path("elsewhere"), download=True)
    train(replace(config, data_options=elsewhere), checkpoint=file, resume=True)
    saved = file.read_bytes()
    flipped_bit = bytearray(saved)
    flipped_bit[-5000] ^= 1
    cut = saved[:100] + saved[140:]
    for damaged in (saved[:-3000], cut, bytes(flipped_bit), b"notes of mine\n", b""):
        file.write_bytes(damaged)
        with pytest.raises(TorchspeedError, match=r"run\.pt is damaged or not a checkpoint"):
            train(config, checkpoint=file, resume=True)
        assert file.read_bytes() == damaged


def test_a_checkpoint_from_before_an_option_existed_is_refused(tmp_path: Path) -> None:
    """Before --anomalies, el_nino was forecast without them; now its default takes them."""
    file = tmp_path / "run.pt"
    config = replace(DARNN, epochs=1, limit_batches=2)
    train(config, checkpoint=file)
    saved = torch.load(file, weights_only=True)
    del saved["config"]["data_options"]["anomalies"]
    torch.save(saved, file)
    before = file.read_bytes()
    with pytest.raises(
        TorchspeedError, match=r"earlier version, which had no 'anomalies'; .*another --checkpoint"
    ):
        train(config, checkpoint=file, resume=True)
    assert file.read_bytes() == before


def test_a_checkpoint_is_not_overwritten_and_keeps_the_span_of_its_schedule(
    tmp_path: Path,
) -> None:
    file = tmp_path / "run.pt"
    config = replace(LENET, limit_batches=2, schedule="cosine", schedule_epochs=4)
    train(config, checkpoint=file)
    saved = file.read_bytes()
    with pytest.raises(TorchspeedError, match=r"run\.pt exists already; give --resume"):
        train(config, checkpoint=file)
    with pytest.raises(TorchspeedError, match=r"spans 4 epochs, now 5; give --schedule-epochs 4"):
        train(replace(config, schedule_epochs=None, epochs=5), checkpoint=file, resume=True)
    assert file.read_bytes() == saved


def test_a_worker_that_is_killed_during_a_step_is_one_line() -> None:
    class Kills(Observer):
        def step(self, items: int, times: StepTimes) -> None:
            multiprocessing.active_children()[0].kill()
            time.sleep(30)  # the signal of its end comes meanwhile

    with pytest.raises(TorchspeedError, match=r"worker died \(.*Killed.*--workers") as caught:
        train(replace(LENET, workers=1, limit_batches=3), observer=Kills())
    assert "\n" not in str(caught.value)


def test_a_loss_that_is_not_finite_stops_the_run() -> None:
    with pytest.raises(
        TorchspeedError, match=r"not finite in epoch 1, step [2-5]; give a smaller"
    ):
        train(replace(LENET, rate=1e20, limit_batches=5))


def test_the_last_good_checkpoint_survives_a_loss_that_is_not_finite(tmp_path: Path) -> None:
    file = tmp_path / "run.pt"
    config = replace(LENET, limit_batches=2, epochs=2)
    model: Any = create_model("lenet5")
    state = TrainingState(model, config)
    state.epochs = train(replace(config, epochs=1)).epochs
    with torch.no_grad():
        model.dense3.bias.fill_(math.nan)
    save_checkpoint(
        file, complete(replace(config, device="cpu:0")), state.shared_state(), [state.rank_state()]
    )  # as a rank that has a device of its own
    saved = file.read_bytes()
    with pytest.raises(TorchspeedError, match=r"epoch 2, step 1; .*run\.pt holds the last good"):
        train(config, checkpoint=file, resume=True)
    assert file.read_bytes() == saved


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=needs_gpu)])
@pytest.mark.parametrize("precision", get_args(Precision))
def test_every_precision_trains(precision: Precision, device: str) -> None:
    result = train(replace(LENET, device=device, precision=precision, limit_batches=3))
    assert result.loss == pytest.approx(2.3, abs=0.1)


def test_inference_tells_what_training_learned_nothing_of() -> None:
    result = infer(replace(LENET, batch_size=90))
    assert (result.mode, result.ranks[0].steps, result.warmup_steps) == ("inference", 3, 1)
    assert result.accuracy is not None
    assert 0 <= result.accuracy <= 0.3  # an untrained model guesses among ten
    assert "backward" not in result.ranks[0].phases


def test_result_is_json_with_units(tmp_path: Path) -> None:
    result = train(replace(LENET, limit_batches=3)).as_dict()
    read = json.loads(json.dumps(result, allow_nan=False))
    assert read["config"]["data_options"]["data_dir"] == "data"
    assert set(read["ranks"][0]["phases"]["forward"]) == {"median_s", "iqr_s", "total_s"}
    assert read["ranks"][0]["phases_share"] == pytest.approx(1)
    assert read["parameters"] == 44426
    assert complete(replace(LENET, limit_batches=3)).difference(read["config"]) is None
    other = complete(replace(LENET, seed=1)).difference(read["config"])
    assert other == "another seed (0, now 1)"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (replace(LENET, model="lenet"), "no workload 'lenet'; did you mean lenet5"),
        (replace(LENET, data="el_nino"), "lenet5 takes images, and el_nino is"),
        (replace(DARNN, data="digits"), "darnn forecasts a series, and digits holds"),
        (replace(DARNN, model="lstnet", data_options=DataOptions(window=4)), "kernel"),
        (replace(LENET, limit_batches=1), "the only step would be warm-up"),
    ],
)
def test_impossible_run_is_one_line_with_the_remedy(config: RunConfig, message: str) -> None:
    with pytest.raises(TorchspeedError, match=message) as caught:
        train(config)
    assert "\n" not in str(caught.value)


def test_without_a_compiler_compiling_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TorchspeedError, match=r"no C\+\+ compiler .* or leave out --compile"):
        train(RunConfig(compile=True))
