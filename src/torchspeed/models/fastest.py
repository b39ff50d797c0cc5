"""Chooses the implementation of a model that was measured to be faster for a batch.

``fastest.json`` has, by device type, model and pass, the smallest batch from which the tuned
implementation is no slower than the plain one, or null where there is none. On a device that is
not in the file, plain models run. ``python -m torchspeed.measure.formulations DEVICE`` measures a
device and writes the file.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

Implementation = Literal["plain", "tuned"]
"""As its paper writes it, in torch's own layers; or the same function, reformulated for speed."""

Pass = Literal["forward", "backward"]
Thresholds = dict[str, dict[str, dict[str, int | None]]]

FILE = Path(__file__).with_name("fastest.json")


@cache
def thresholds() -> Thresholds:
    """Return the content of the file."""
    read: Thresholds = json.loads(FILE.read_text(encoding="utf-8"))
    return read


class Fastest(NamedTuple):
    """The implementation that is faster in some work, in place of a named one."""

    device: str = "cpu"
    """Where the model will run, such as ``"cpu"`` or ``"cuda:0"``."""
    batch: int | None = None
    """Samples of a pass; None for as many as the model's source has."""
    direction: Pass = "forward"
    """``"forward"`` for inference, ``"backward"`` for training."""

    def implementation_of(self, model: str) -> Implementation:
        """Return the faster implementation of a model; one that nobody has tuned is plain."""
        measured = thresholds().get(self.device.partition(":")[0], {}).get(model, {})
        smallest = measured.get(self.direction)
        if smallest is None or (self.batch is not None and self.batch < smallest):
            return "plain"
        return "tuned"
