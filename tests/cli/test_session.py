"""What a run needs of its machine, and what ends it early: one line where a person can act."""

import re
from typing import Any, NoReturn

import pytest
import torch

from torchspeed.cli.outputs import Outputs
from torchspeed.cli.session import count_devices, run_and_report
from torchspeed.errors import TorchspeedError
from torchspeed.training.config import RunConfig
from torchspeed.training.group import Group

OUTPUTS = Outputs(quiet=True)


@pytest.mark.parametrize(
    ("text", "device", "count"),
    [
        ("1", "cuda", 1),
        ("auto", "cuda", 4),
        ("auto", "cpu", 1),
        ("8", "cpu", 8),
        ("5", "cuda", "there are 4 GPUs here"),
        ("2", "cuda:1", "give --device cuda, not cuda:1"),
        ("0,2", "cuda", "give a number, or auto for all GPUs"),
    ],
)
def test_devices_are_a_number_or_all_of_them(
    text: str, device: str, count: int | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    if isinstance(count, int):
        assert count_devices(text, device) == count
        return
    with pytest.raises(TorchspeedError, match=count):
        count_devices(text, device)


def allocate(*_: Any, **__: Any) -> NoReturn:
    raise AssertionError(torch.empty(10**15))


def test_too_little_memory_is_one_line() -> None:
    message = "not enough memory for batches of 128 on cpu; give a smaller --batch-size"
    with pytest.raises(TorchspeedError, match=re.escape(message)) as caught:
        run_and_report(RunConfig(batch_size=128), allocate, OUTPUTS, Group(rank=0, world=1))
    assert "\n" not in str(caught.value)
