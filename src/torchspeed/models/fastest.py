"""Chooses the implementation of a model that was measured to be faster for a batch.

``fastest.json`` has, by device type, processor, model and pass, the smallest batch from which the
tuned implementation is no slower than the plain one, or null where there is none. A tuned model
is chosen from the batch on at which it is no slower on *any* processor measured, so that it is
slower on none of them. On a device that is not in the file, plain models run.
``python -m torchspeed.measure.formulations DEVICE`` measures a device and writes its processor's
part of the file.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

Implementation = Literal["plain", "tuned"]
"""As its paper writes it, in torch's own layers; or the same function, reformulated for speed."""

Pass = Literal["forward", "backward"]
Smallest = dict[str, dict[str, int | None]]
"""By model and pass, the smallest batch from which the tuned one is no slower."""
Thresholds = dict[str, Smallest]
"""By device type."""

FILE = Path(__file__).with_name("fastest.json")


def measured() -> dict[str, dict[str, Smallest]]:
    """Return the content of the file, by device type and processor."""
    read: dict[str, dict[str, Smallest]] = json.loads(FILE.read_text(encoding="utf-8"))
    return read


@cache
def thresholds() -> Thresholds:
    """Return by device type the batches at which the tuned one is slower on no processor."""
    return {
        device: _on_every(list(processors.values())) for device, processors in measured().items()
    }


def _on_every(processors: list[Smallest]) -> Smallest:
    """Return the largest of the processors' batches; None where one of them has none."""
    combined: Smallest = {}
    for smallest in processors:
        for model, passes in smallest.items():
            known = combined.setdefault(model, dict(passes))
            for name, batch in passes.items():
                other = known[name]
                known[name] = None if batch is None or other is None else max(batch, other)
    return combined


class Fastest(NamedTuple):
    """Asks for the implementation that is faster for a device, batch and pass."""

    device: str = "cpu"
    """Where the model will run, such as ``"cpu"`` or ``"cuda:0"``."""
    batch: int | None = None
    """Samples of a pass; None for as many as the model's source has."""
    direction: Pass = "forward"
    """``"forward"`` for inference, ``"backward"`` for training."""

    def implementation_of(self, model: str) -> Implementation:
        """Return the faster implementation of a model; one that nobody has tuned is plain."""
        passes = thresholds().get(self.device.partition(":")[0], {}).get(model, {})
        smallest = passes.get(self.direction)
        if smallest is None or (self.batch is not None and self.batch < smallest):
            return "plain"
        return "tuned"
