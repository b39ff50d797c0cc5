"""Which implementation of a model to run: the one that was measured to be faster for a batch.

``fastest.json`` has, by device type, model and pass, the smallest batch from which the tuned
implementation is no slower than the plain one, or null where no batch was; on another device plain
ones run. ``python -m torchspeed.measure.formulations DEVICE`` measures a device and writes it.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Literal

from torchspeed.models.registry import Implementation, has_tuned

Pass = Literal["forward", "backward"]
Thresholds = dict[str, dict[str, dict[str, int | None]]]

FILE = Path(__file__).with_name("fastest.json")


@cache
def thresholds() -> Thresholds:
    """Return the content of the file."""
    read: Thresholds = json.loads(FILE.read_text(encoding="utf-8"))
    return read


def fastest_on(device: str, model: str, batch: int, pass_name: Pass) -> Implementation:
    """Return the implementation of a model to run.

    Args:
        device: such as ``"cpu"`` or ``"cuda:0"``.
        model: a name of `torchspeed.models.list_models`.
        batch: samples of a pass.
        pass_name: ``"forward"`` for inference, ``"backward"`` for training.
    """
    if not has_tuned(model):
        return "plain"
    measured = thresholds().get(device.partition(":")[0], {}).get(model, {})
    smallest = measured.get(pass_name)
    return "tuned" if smallest is not None and batch >= smallest else "plain"
