"""What `--devices` asks for, on a machine that says it has four GPUs."""

import os

import pytest
import torch

from torchspeed.cli.ranks import count_devices
from torchspeed.errors import TorchspeedError


@pytest.fixture(autouse=True)
def _four_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")


@pytest.mark.parametrize(
    ("text", "device", "count", "seen"),
    [
        ("1", "cuda", 1, ""),
        ("auto", "cuda", 4, ""),
        ("0,", "cuda", 1, "0"),
        ("0,2", "cuda", 2, "0,2"),
        ("auto", "cpu", 1, ""),
        ("8", "cpu", 8, ""),
    ],
)
def test_devices_are_a_number_all_of_them_or_a_list(
    text: str, device: str, count: int, seen: str
) -> None:
    assert count_devices(text, device) == count
    assert os.environ["CUDA_VISIBLE_DEVICES"] == seen


def test_a_list_counts_the_gpus_that_are_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7,5,GPU-8932f937,1")
    assert count_devices("0,2", "cuda") == 2
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "7,GPU-8932f937"


@pytest.mark.parametrize(
    ("text", "device", "message"),
    [
        ("0,4", "cuda", "there are 4 GPUs here"),
        ("1,1", "cuda", "names a GPU twice"),
        ("0,", "cuda:1", "give --device cuda, not cuda:1"),
        ("0,", "cpu", "lists GPUs; give --device cuda too"),
        ("1,-2", "cuda", "give a number, auto for all GPUs, or a list"),
    ],
)
def test_impossible_devices_are_refused(text: str, device: str, message: str) -> None:
    with pytest.raises(TorchspeedError, match=message):
        count_devices(text, device)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == ""
