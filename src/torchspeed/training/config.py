"""Everything that decides what a run does, in one typed record."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from torchspeed.data.options import DataOptions


@dataclass(frozen=True, slots=True)
class RunConfig:
    """A training or inference run. Times and rates in SI units, accuracy from 0 to 1."""

    model: str = "lenet5"
    data: str = "digits"
    data_options: DataOptions = field(default_factory=DataOptions)
    image_size: int | None = None
    """Height and width for models that take any; None for their own."""
    device: str = "cpu"
    batch_size: int = 128
    """Items a step and device."""
    workers: int = 0
    """Processes that load data, a device; 0 loads in the run's own."""
    optimiser: str = "sgd"
    rate: float = 0.01
    momentum: float = 0.9
    """Of SGD."""
    weight_decay: float = 0.0
    schedule: str = "constant"
    schedule_epochs: int | None = None
    """Epochs that the schedule spans (T_max of the cosine); None for ``epochs``."""
    epochs: int = 1
    precision: str = "32-true"
    seed: int = 0
    target_accuracy: float | None = None
    """Test accuracy at which training ends."""
    limit_batches: int | None = None
    """Steps an epoch at most."""
    warmup: int = 1
    """First steps that are left out of the times."""

    @property
    def schedule_span(self) -> int:
        """Epochs that the learning-rate schedule spans."""
        return self.schedule_epochs or self.epochs

    def as_dict(self) -> dict[str, Any]:
        """Plain values only, for JSON and checkpoints."""
        values = asdict(self)
        values["data_options"]["folder"] = str(self.data_options.folder)
        if self.data_options.shape is not None:
            values["data_options"]["shape"] = list(self.data_options.shape)
        return values

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> RunConfig:
        """The inverse of ``as_dict``; fields of other versions raise TypeError."""
        options = dict(values["data_options"])
        options["folder"] = Path(options["folder"])
        if options["shape"] is not None:
            options["shape"] = tuple(options["shape"])
        return cls(**{**values, "data_options": DataOptions(**options)})

    def differences(self, other: RunConfig) -> list[str]:
        """Names of the fields in which two runs differ."""
        return [
            entry.name
            for entry in fields(self)
            if getattr(self, entry.name) != getattr(other, entry.name)
        ]
