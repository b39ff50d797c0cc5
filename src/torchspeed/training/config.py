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
    """A workload's name, or ``package.module:callable``, which returns the model."""
    model_kwargs: dict[str, Any] = field(default_factory=dict)
    """Arguments of the model's constructor that differ from the workload's."""
    pretrained: bool = False
    """Whether to begin with torchvision's ImageNet weights."""
    data: str = "digits"
    """A set's name, ``csv:FILE``, or ``package.module:callable``, which takes `DataOptions`."""
    data_options: DataOptions = field(default_factory=DataOptions)
    image_size: int | None = None
    """Height and width for models that take any; None for their own."""
    device: str = "cpu"
    strategy: str = "ddp"
    """How ranks work together: ``ddp`` with all parameters each, or ``fsdp`` with a part each."""
    batch_size: int = 128
    """Items per step and device."""
    workers: int = 0
    """Processes per device and loader that load data; 0 loads in the run's own process."""
    optimiser: str = "sgd"
    """A class of ``torch.optim``, in upper or lower case."""
    rate: float = 0.01
    momentum: float = 0.9
    """Of SGD."""
    weight_decay: float = 0.0
    schedule: str = "constant"
    schedule_epochs: int | None = None
    """Epochs that the schedule spans (T_max of the cosine); None for ``epochs``."""
    schedule_unit: str = "epoch"
    """``epoch`` or ``step``: how often the learning rate moves."""
    rate_warmup: int = 0
    """First epochs of the span, in which the rate rises linearly to ``rate``."""
    accumulate: int = 1
    """Batches whose gradients are summed up for a step of the optimiser."""
    clip_norm: float | None = None
    """Largest norm of the gradient; None for any."""
    loss: str = "squared"
    """Error of a forecast that training makes small: ``squared`` or ``absolute``."""
    label_smoothing: float = 0.0
    ema: float | None = None
    """Decay of the moving average of the parameters that is tested; None for no average."""
    epochs: int = 1
    test_every: int = 1
    """Epochs from one test to the next; the last epoch is always followed by one."""
    precision: str = "32-true"
    compile: bool = False
    channels_last: bool = False
    tf32: bool | None = None
    """Whether CUDA may round float32 products to TF32; None for what torch does by itself."""
    cudnn_benchmark: bool = False
    """Whether cuDNN times its algorithms for each shape and takes the fastest."""
    seed: int = 0
    target_accuracy: float | None = None
    """Test accuracy at which training ends."""
    limit_batches: int | None = None
    """Steps an epoch at most."""
    warmup: int = 1
    """First steps that are left out of the times."""
    phases: bool = True
    """Whether each step is split into phases, for which the host waits for a GPU once a step."""

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
        """Return the inverse of ``as_dict``; fields of other versions raise TypeError."""
        options = dict(values["data_options"])
        options["folder"] = Path(options["folder"])
        if options["shape"] is not None:
            options["shape"] = tuple(options["shape"])
        return cls(**{**values, "data_options": DataOptions(**options)})

    def is_tested(self, epoch: int) -> bool:
        """Tell whether a test follows an epoch, counted from 1."""
        return epoch % self.test_every == 0 or epoch == self.epochs

    def differences(self, other: RunConfig) -> list[str]:
        """Return the names of the fields in which two runs differ."""
        return [
            entry.name
            for entry in fields(self)
            if getattr(self, entry.name) != getattr(other, entry.name)
        ]
