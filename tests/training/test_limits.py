"""What is refused before anything starts, with numbers that work."""

import os
import re
from dataclasses import replace

import pytest

from torchspeed.data.options import DataOptions
from torchspeed.errors import TorchspeedError
from torchspeed.training import limits
from torchspeed.training.config import RunConfig
from torchspeed.training.infer import infer
from torchspeed.training.train import train

RESNET = RunConfig(
    model="resnet18",
    data="dummy",
    data_options=DataOptions(items=20),
    image_size=32,
    batch_size=100_000,
)
PARAMETERS = 11_689_512
MIB = 1024**2


def refusal(config: RunConfig) -> str:
    with pytest.raises(TorchspeedError) as caught:
        train(config)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_batch_counts_with_the_model_and_what_autograd_keeps_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = []
    for room in (300 * MIB, 600 * MIB):
        monkeypatch.setattr(limits, "usable_bytes", lambda room=room: room)
        message = refusal(RESNET)
        largest = re.search(r"100000 items of 3x32x32 .* --batch-size (\d+) or", message)
        assert largest is not None, message
        kept.append((room - 2 * 4 * PARAMETERS) / int(largest[1]))
    assert kept[0] == pytest.approx(kept[1], rel=0.02)
    assert kept[0] > 10 * 4 * 3 * 32 * 32
    monkeypatch.setattr(limits, "usable_bytes", lambda: 60.0 * MIB)
    assert refusal(RESNET).endswith("does not fit into memory; give a smaller model")
    assert infer(replace(RESNET, batch_size=2)).loss > 0  # keeps no gradients


def test_workers_far_beyond_the_cores_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "usable_bytes", lambda: 1e15)
    cores = len(os.sched_getaffinity(0))
    most = limits.WORKERS_PER_CORE * cores
    message = refusal(RunConfig(workers=most + 1))
    assert message.endswith(f"too many (cores: {cores}); give --workers {most} or fewer")
