"""Chooses the formulation of a model that was measured to be the fastest for a batch.

``fastest.json`` has, by device type, processor, model and pass, the formulation that takes the
least time from a batch on: ``{"1": "plain", "32": "tuned"}``. ``"forward"`` and ``"backward"``
have the eager ones alone, ``"forward, compiled"`` and ``"backward, compiled"`` all of them. One is
chosen if all processors that timed it agree. Where they differ, the fastest eager one runs, or
else the plain one, as on a device that is not in the file.
``python -m torchspeed.measure.formulations DEVICE`` measures a device and writes its processor's
part of the file.
"""

import json
from pathlib import Path
from typing import Literal, NamedTuple, cast

Implementation = Literal["plain", "tuned"]
"""As its paper writes it, in torch's own layers; or the same function reformulated in whatever
way a CPU is fast."""

COMPILED = ", compiled"
"""Ends the name of a formulation that ``torch.compile`` compiles, such as ``"plain, compiled"``,
and of a pass for which one may be chosen. An eager formulation has its implementation's name."""

Pass = Literal["forward", "backward"]
Batches = dict[str, str]
"""The fastest formulation, by the smallest batch from which it is."""
Choices = dict[str, dict[str, Batches]]
"""By model and pass."""

FILE = Path(__file__).with_name("fastest.json")


def measured(file: Path = FILE) -> dict[str, dict[str, Choices]]:
    """Return the content of a file, by device type and processor."""
    read: dict[str, dict[str, Choices]] = json.loads(file.read_text(encoding="utf-8"))
    return read


class Fastest(NamedTuple):
    """Asks for the formulation that is the fastest for a device, batch and pass."""

    device: str = "cpu"
    """Where the model will run, such as ``"cpu"`` or ``"cuda:0"``."""
    batch: int | None = None
    """Samples of a pass; None for as many as the model's source has."""
    direction: Pass = "forward"
    """``"forward"`` for inference, ``"backward"`` for training."""
    compiled: bool = False
    """Whether compiling is allowed, which takes seconds to minutes for each shape of the input."""

    def formulation_of(self, model: str) -> tuple[Implementation, bool]:
        """Return the fastest implementation, and whether to compile it."""
        processors = measured().get(self.device.partition(":")[0], {}).values()
        passes = [models[model] for models in processors if model in models]
        for key in [self.direction + COMPILED] * self.compiled + [self.direction]:
            chosen = {self._chosen(found[key]) for found in passes if key in found}
            if len(chosen) == 1:
                name = chosen.pop()
                implementation = cast("Implementation", name.removesuffix(COMPILED))
                return implementation, name.endswith(COMPILED)
        return "plain", False

    def _chosen(self, batches: Batches) -> str:
        """Return the entry of the largest batch that is no larger than this one."""
        smallest = [n for n in map(int, batches) if self.batch is None or n <= self.batch]
        return batches[str(max(smallest, default=min(map(int, batches))))]
