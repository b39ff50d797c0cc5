"""What a run needs of its machine, and what ends it early: one line where a person can act."""

import re
from typing import Any, NoReturn

import pytest
import torch
from torch import distributed as dist

from torchspeed.cli.outputs import Outputs
from torchspeed.cli.session import count_devices, run_and_report
from torchspeed.errors import TorchspeedError
from torchspeed.training.config import RunConfig
from torchspeed.training.group import Group

OUTPUTS = Outputs(quiet=True)
GLOO = "[gloo/transport/tcp/pair.cc:545] Read error [127.0.0.1]:1: Connection reset by peer\nmore"


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


def allocate(*_: Any, **__: Any) -> None:
    torch.empty(10**15)


def raising(error: Exception) -> Any:
    def run(*_: Any, **__: Any) -> NoReturn:
        raise error

    return run


@pytest.mark.parametrize(
    ("run", "world", "message"),
    [
        (allocate, 1, "not enough memory for batches of 128 on cpu; give a smaller --batch-size"),
        (raising(torch.OutOfMemoryError("CUDA")), 1, "not enough memory"),
        (raising(RuntimeError(GLOO)), 2, "rank 1 lost another rank"),
        (raising(dist.DistBackendError("NCCL error")), 2, "rank 1 lost another rank"),
    ],
)
def test_memory_and_lost_ranks_are_one_line(run: Any, world: int, message: str) -> None:
    with pytest.raises(TorchspeedError, match=re.escape(message)) as caught:
        run_and_report(RunConfig(), run, OUTPUTS, Group(rank=world - 1, world=world))
    assert "\n" not in str(caught.value)
