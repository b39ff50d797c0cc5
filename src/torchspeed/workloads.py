"""Every named workload: a model, its sizes, and where the configuration comes from.

One line of ``_TABLE`` is one workload. Suites, training and the site name
workloads, never sizes, so that what is measured is written down once. Reading
the table imports no torch, which takes seconds: functions that need torch import it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal

from torchspeed.errors import TorchspeedError, suggest

if TYPE_CHECKING:
    from torch import Tensor, nn

    from torchspeed.models import Implementation

    Loss = Callable[[Tensor, Tensor], Tensor]

LossName = Literal["squared_error", "cross_entropy", "negative_log_likelihood", "sum_of_output"]
"""``negative_log_likelihood`` is of probabilities, as Flux's ``crossentropy`` takes them;
``sum_of_output`` is FluxBench's objective of a backward pass, which needs no target."""


@dataclass(frozen=True)
class Workload:
    """A model at fixed sizes, with what it takes to run and to train it."""

    name: str
    batch: int
    input_shape: tuple[int, ...]
    """Shape of one sample: ``(window, features)`` or ``(channels, height, width)``."""
    outputs: int
    """Size of the output's last axis: the number of classes, or of forecast values."""
    source: str
    family: str
    """``time_series``, ``forecaster``, ``real_size``, ``pretrained``, ``flux_literal``,
    ``flux_training``, ``small_cnn``, ``torchvision`` or ``fluxbench``."""
    model: str = ""
    """Name for `torchspeed.models.create_model`; the workload's own by default."""
    horizon: int | None = None
    """Time steps of a forecast, (batch, horizon, outputs); None if it has no such axis."""
    vocabulary: int | None = None
    """Number of different tokens, whose indices are the input; None where the input is numbers."""
    classifies: bool = False
    loss_name: LossName = "squared_error"
    """The loss that training minimises."""
    objective_name: LossName = "sum_of_output"
    """The scalar whose gradient `time_backward` computes; FluxBench's is the sum of the output."""
    overrides: Mapping[str, object] = field(default_factory=dict)
    """Arguments that differ from the model's default configuration."""
    cpu_compile_options: Mapping[str, bool] = field(default_factory=dict)
    """Options of ``torch.compile`` on CPUs, where its defaults are slower than eager."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", self.model or self.name)

    @property
    def loss(self) -> Loss:
        """The function that ``loss_name`` names: it maps (output, target) to a scalar."""
        return _loss(self.loss_name)

    @property
    def objective(self) -> Loss:
        """The function that ``objective_name`` names."""
        return _loss(self.objective_name)

    def create_model(
        self, seed: int = 0, device: str = "cpu", implementation: Implementation | None = None
    ) -> nn.Module:
        """Build the model on a device, with the same parameters for the same seed.

        It is the implementation that is the fastest in a forward pass of the workload's batch on
        this device, unless one is named. Measurements name one, so that a new choice starts no
        new series.

        Raises:
            ValueError: this machine lacks ``device``, or there is no such implementation.
        """
        import torch  # noqa: PLC0415 - the table is read without it

        from torchspeed import models  # noqa: PLC0415
        from torchspeed.devices import require_device  # noqa: PLC0415

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            chosen = implementation or models.Fastest(device, self.batch)
            model = models.create_model(self.model, chosen, **self.overrides)
        return model.to(require_device(device))

    def example_inputs(
        self, batch_size: int | None = None, device: str = "cpu", seed: int = 0
    ) -> Tensor:
        """Draw standard normal inputs or tokens, the same for the same seed on every device.

        They are ``(batch_size, *input_shape)``, float32, or int64 for tokens; the batch is the
        workload's own by default.

        Raises:
            ValueError: ``batch_size`` is below 1, or ``device`` is not here.
        """
        shape = self._batch(batch_size), *self.input_shape
        return _draw(shape, self.vocabulary, device, seed)

    def example_targets(
        self, batch_size: int | None = None, device: str = "cpu", seed: int = 1
    ) -> Tensor:
        """Draw targets that fit ``loss``: class indices ``(batch,)``, or values of a forecast.

        The latter have the shape of the output: ``(batch, outputs)``, or with a horizon
        ``(batch, horizon, outputs)``.
        """
        size = self._batch(batch_size)
        if self.classifies:
            return _draw((size,), self.outputs, device, seed)
        steps = () if self.horizon is None else (self.horizon,)
        return _draw((size, *steps, self.outputs), None, device, seed)

    def _batch(self, batch_size: int | None) -> int:
        size = self.batch if batch_size is None else batch_size
        if size < 1:
            raise ValueError(f"batch_size is {size}; workload {self.name!r} needs at least 1")
        return size


def _draw(shape: tuple[int, ...], below: int | None, device: str, seed: int) -> Tensor:
    """Draw indices smaller than ``below``, or without it standard normal numbers."""
    import torch  # noqa: PLC0415 - the table is read without it

    from torchspeed.devices import require_device  # noqa: PLC0415

    generator = torch.Generator().manual_seed(seed)  # of the CPU: the same on every device
    if below is None:
        drawn = torch.randn(shape, generator=generator)
    else:
        drawn = torch.randint(below, shape, generator=generator)
    return drawn.to(require_device(device))


def _loss(name: LossName) -> Loss:
    from torch.nn import functional  # noqa: PLC0415 - the table is read without it

    losses: dict[LossName, Loss] = {
        "squared_error": functional.mse_loss,
        "cross_entropy": functional.cross_entropy,
        "negative_log_likelihood": lambda output, target: functional.nll_loss(
            output.log(), target
        ),
        "sum_of_output": lambda output, _: output.sum(),
    }
    return losses[name]


_FLUXBENCH = "FluxBench (speed.fluxml.ai)"
_FLUX_BLOG = "GPU vs CPU benchmarks with Flux.jl (2021), one batch of the epoch's 50"
_DL_BENCHMARK = "dl-benchmark, MNIST, default batch"
_TORCHVISION = (
    "resnet18", "resnet34", "resnet50", "densenet121", "googlenet", "vgg19", "squeezenet1_1",
    "mobilenet_v3_large", "efficientnet_b0", "convnext_tiny",
)  # fmt: skip


_forecast = partial(Workload, source=_FLUXBENCH, family="time_series")
_flux_literal = partial(Workload, source=_FLUXBENCH, family="flux_literal")
_fluxbench = partial(Workload, source=_FLUXBENCH, family="fluxbench")
_pretrained = partial(Workload, family="pretrained")
_torchvision = partial(
    Workload, batch=5, input_shape=(3, 224, 224), outputs=1000,
    source="FluxBench's Metalhead group, batch 5 and 10", family="torchvision",
    classifies=True, loss_name="cross_entropy",
)  # fmt: skip
_forecaster = partial(
    Workload, batch=32, input_shape=(96, 7), outputs=7, family="forecaster", horizon=96
)
"""Today's forecasters: four days of hours, as in papers on ETT."""


def _real_size(model: str, window: int, features: int, batch: int) -> Workload:
    """Return a workload of as many series as electricity (321) or traffic (862)."""
    return Workload(
        f"{model}_{window}_{features}", batch, (window, features), features,
        "windows of 512 and 720 of the data sets of Informer and LSTNet", "real_size",
        model=model, horizon=96, overrides={"window": window, "features": features},
    )  # fmt: skip


def _flux_training(name: str, model: str, outputs: int = 1, **overrides: object) -> Workload:
    """Return a workload of 500 samples: 137 solar plants, a window of 10 steps."""
    return Workload(
        name, 500, (10, 137), outputs,
        "FluxArchitectures, benchmark/Benchmarks.jl: five Adam steps on :solar", "flux_training",
        model=model, objective_name="squared_error",
        overrides={"features": 137, "window": 10, **overrides},
    )  # fmt: skip


def _small_cnn(
    name: str, batch: int, shape: tuple[int, ...], source: str, **cpu_compile_options: bool
) -> Workload:
    loss: LossName = "negative_log_likelihood" if name == "flux_cnn" else "cross_entropy"
    return Workload(
        name, batch, shape, 10, source, "small_cnn",
        classifies=True, loss_name=loss, objective_name=loss,
        cpu_compile_options=cpu_compile_options,
    )  # fmt: skip


_TABLE = (
    #         model   batch  (window, features)  outputs
    _forecast("darnn", 300, (10, 10), 1),
    _forecast("dsanet", 1000, (10, 50), 1),
    _forecast("lstnet", 500, (10, 20), 20),
    _forecast("tpa_lstm", 300, (10, 10), 1),
    _flux_literal("darnn_flux_literal", 300, (10, 10), 1),
    _flux_literal("dsanet_flux_literal", 1000, (10, 50), 1),
    _flux_literal("lstnet_flux_literal", 500, (10, 20), 1),
    _flux_literal("tpa_lstm_flux_literal", 300, (10, 10), 1),
    _forecaster("dlinear", source="AAAI 2023, arXiv:2205.13504"),
    _forecaster("nhits", source="AAAI 2023, arXiv:2201.12886"),
    _forecaster("tcn", source="2018, arXiv:1803.01271"),
    _forecaster("deepar", source="International Journal of Forecasting 2020, arXiv:1704.04110"),
    _forecaster("patchtst", source="ICLR 2023, arXiv:2211.14730"),
    _forecaster("itransformer", source="ICLR 2024, arXiv:2310.06625"),
    _forecaster("tsmixer", source="TMLR 2023, arXiv:2303.06053"),
    _forecaster("timesnet", source="ICLR 2023, arXiv:2210.02186"),
    _forecaster("encoder_decoder", source="NeurIPS 2017, arXiv:1706.03762"),
    *(
        _real_size(model, window, features, batch)
        for model, batch in (("dlinear", 8), ("patchtst", 1), ("itransformer", 4), ("tsmixer", 8))
        for window, features in ((720, 321), (512, 862))
    ),
    # One window, as a service forecasts.
    _pretrained("chronos_bolt", 1, (512,), 9, "TMLR 2024, arXiv:2403.07815", horizon=64),
    _pretrained("timesfm", 1, (512,), 10, "ICML 2024, arXiv:2310.10688", horizon=128),
    _pretrained("mamba", 1, (256, 7), 7, "2023, arXiv:2312.00752"),
    _flux_training("darnn_solar", "darnn", encoder_hidden=10, decoder_hidden=10),
    _flux_training("dsanet_solar", "dsanet"),
    # Flux's skip of 120 runs along samples; in a window of 10 it is 2, as at FluxBench's sizes.
    _flux_training("lstnet_solar", "lstnet", outputs=137),
    _flux_training("tpa_lstm_solar", "tpa_lstm", layers=2),
    _flux_training(
        "darnn_solar_literal", "darnn_flux_literal", encoder_hidden=10, decoder_hidden=10
    ),
    _flux_training("dsanet_solar_literal", "dsanet_flux_literal"),
    _flux_training("lstnet_solar_literal", "lstnet_flux_literal", skip=120),
    _flux_training("tpa_lstm_solar_literal", "tpa_lstm_flux_literal", layers=2),
    #          model            batch  channels, height, width
    _small_cnn("flux_cnn", 1000, (3, 32, 32), _FLUX_BLOG),
    _small_cnn("lenet5", 128, (1, 28, 28), _DL_BENCHMARK),
    # Compiled by torch's defaults, with channels last, it is slower than eager on CPUs
    # (docs/findings.md).
    _small_cnn("resnet18_mnist", 128, (1, 28, 28), _DL_BENCHMARK, layout_optimization=False),
    *map(_torchvision, _TORCHVISION),
    _fluxbench("yolov3", 1, (3, 608, 608), 6),
    _fluxbench("yolov3_tiny", 1, (3, 416, 416), 6),
    _fluxbench("transformer_encoder", 32, (100, 512), 512),
    _fluxbench("bert_base_8", 8, (8,), 768, model="bert_base", vocabulary=30_522),
    _fluxbench("bert_base_32", 8, (32,), 768, model="bert_base", vocabulary=30_522),
    _fluxbench("bert_base_128", 8, (128,), 768, model="bert_base", vocabulary=30_522),
    _fluxbench("gcn_16", 8, (2708, 1433), 7, model="gcn", overrides={"hidden": 16}),
    _fluxbench("gcn_32", 8, (2708, 1433), 7, model="gcn", overrides={"hidden": 32}),
)
_WORKLOADS = {workload.name: workload for workload in _TABLE}


def list_workloads(family: str | None = None) -> list[str]:
    """Return the names of all workloads, or of one family, in the table's order.

    Raises:
        ValueError: no workload is of that family.
    """
    families = {workload.family for workload in _TABLE}
    if family is not None and family not in families:
        raise ValueError(f"no family {family!r}; families are {', '.join(sorted(families))}")
    return [workload.name for workload in _TABLE if family in (None, workload.family)]


def get_workload(name: str) -> Workload:
    """Look a workload up by its name.

    Raises:
        TorchspeedError: there is none; the nearest names are offered.
    """
    if name not in _WORKLOADS:
        raise TorchspeedError(f"no workload {name!r}; {suggest(name, _WORKLOADS)}")
    return _WORKLOADS[name]
