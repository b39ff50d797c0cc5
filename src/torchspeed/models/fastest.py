"""Chooses the implementation of a model that was measured to be the fastest for a batch.

``fastest.json`` has, by device type, processor, model and pass, the implementation that takes the
least time from a batch on: ``{"1": "plain", "32": "tuned"}``. It is chosen if all processors that
timed the model agree. Where they differ, and on a device that is not in the file, plain ones run.
``python -m torchspeed.measure.formulations DEVICE`` measures a device and writes its processor's
part of the file.
"""

import json
from pathlib import Path
from typing import Literal, NamedTuple

Implementation = Literal["plain", "tuned"]
"""As its paper writes it, in torch's own layers; or the same function reformulated in whatever
way a CPU is fast."""

Pass = Literal["forward", "backward"]
Batches = dict[str, Implementation]
"""By the smallest batch from which it is the fastest."""
Choices = dict[str, dict[Pass, Batches]]
"""By model and pass."""

FILE = Path(__file__).with_name("fastest.json")


def measured(file: Path = FILE) -> dict[str, dict[str, Choices]]:
    """Return the content of a file, by device type and processor."""
    read: dict[str, dict[str, Choices]] = json.loads(file.read_text(encoding="utf-8"))
    return read


class Fastest(NamedTuple):
    """Asks for the implementation that is the fastest for a device, batch and pass."""

    device: str = "cpu"
    """Where the model will run, such as ``"cpu"`` or ``"cuda:0"``."""
    batch: int | None = None
    """Samples of a pass; None for as many as the model's source has."""
    direction: Pass = "forward"
    """``"forward"`` for inference, ``"backward"`` for training."""

    def implementation_of(self, model: str) -> Implementation:
        """Return the fastest implementation of a model; one that nobody reformulated is plain."""
        processors = measured().get(self.device.partition(":")[0], {}).values()
        chosen = {
            self._chosen(models[model][self.direction]) for models in processors if model in models
        }
        return chosen.pop() if len(chosen) == 1 else "plain"

    def _chosen(self, batches: Batches) -> Implementation:
        """Return the entry of the largest batch that is no larger than this one."""
        smallest = [n for n in map(int, batches) if self.batch is None or n <= self.batch]
        return batches[str(max(smallest, default=min(map(int, batches))))]
