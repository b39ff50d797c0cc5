"""What `--devices` asks for, on a machine that says it has four GPUs."""

import pytest
import torch

from torchspeed.cli.ranks import count_devices
from torchspeed.errors import TorchspeedError


@pytest.fixture(autouse=True)
def _four_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)


@pytest.mark.parametrize(
    ("text", "device", "count"),
    [("1", "cuda", 1), ("auto", "cuda", 4), ("auto", "cpu", 1), ("8", "cpu", 8)],
)
def test_devices_are_a_number_or_all_of_them(text: str, device: str, count: int) -> None:
    assert count_devices(text, device) == count


@pytest.mark.parametrize(
    ("text", "device", "message"),
    [
        ("5", "cuda", "there are 4 GPUs here"),
        ("2", "cuda:1", "give --device cuda, not cuda:1"),
        ("0,2", "cuda", "give a number, or auto for all GPUs"),
    ],
)
def test_impossible_devices_are_refused(text: str, device: str, message: str) -> None:
    with pytest.raises(TorchspeedError, match=message):
        count_devices(text, device)
