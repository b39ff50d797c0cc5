"""What a caller gives to a run, and the recipes that fill in what is not given."""

from collections.abc import Collection
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal

from torchspeed.data.options import IMPORT_MARK, USUAL_WINDOW, DataOptions, kind_of
from torchspeed.workloads import get_workload

if TYPE_CHECKING:
    from torchspeed.training.results import EpochRecord

Mode = Literal["tuned", "eager", "compiled", "fastest"]
Optimiser = Literal["sgd", "adam"]
Precision = Literal["32-true", "bf16-mixed"]

PATIENCE = 15
"""Epochs without a better validation loss after which a forecaster stops by default: none of the
recipes here found its best epoch, on seeds 0 to 2, more than 14 after the one before."""


@dataclass(frozen=True, slots=True)
class RunConfig(DataOptions):
    """A training or inference run, with the options of its data.

    What is empty or 0 is filled in by `complete`, but for ``patience``.
    """

    model: str = "lenet5"
    """A workload, or ``package.module:callable``, which returns the model."""
    model_kwargs: str = ""
    """Arguments of the model: ``name=value,name=value``."""
    mode: Mode = "tuned"
    """``eager``: the model as its paper writes it; ``compiled``: that, by ``torch.compile``;
    ``tuned``: the implementation that is the fastest for this device and batch; ``fastest``: the
    same among eager and compiled ones, where this machine can compile."""
    data: str = ""
    workers: int = 0
    """Processes that load images, for each rank; 0 loads in the run's own process."""
    batch_size: int = 0
    """Items per step and rank."""
    limit_batches: int | None = None
    """Most steps of an epoch."""

    epochs: int = 0
    patience: int | None = None
    """Epochs without improvement after which training ends; 0 trains all epochs. None means
    `PATIENCE` if validation items choose the best epoch and the rate is constant, else 0."""
    target_accuracy: float | None = None
    """Test accuracy in percent at which training ends."""
    optimiser: Optimiser | None = None
    """SGD has a momentum of 0.9."""
    rate: float = 0.0
    weight_decay: float = 0.0
    cosine: bool = False
    """Whether the rate falls to 0 over the epochs, along a cosine."""
    clip_norm: float | None = None
    """Largest norm of the gradient."""
    absolute_error: bool = False
    """Whether training minimises the absolute error of a forecast, not the squared one."""

    device: str = "cpu"
    precision: Precision = "32-true"
    """``bf16-mixed``: matrix products in bfloat16, parameters in float32."""
    threads: int | None = None
    """CPU threads of each rank; torch decides by default."""

    @property
    def target_share(self) -> float | None:
        """The target accuracy from 0 to 1."""
        return None if self.target_accuracy is None else self.target_accuracy / 100

    def as_dict(self) -> dict[str, Any]:
        """Plain values only, for JSON and checkpoints, those of the data in their own."""
        values = asdict(self) | {"data_dir": str(self.data_dir)}
        data = {field.name: values.pop(field.name) for field in fields(DataOptions)}
        return values | {"seed": self.seed, "data_options": data}

    def difference(self, stored: dict[str, Any], free: Collection[str] = ()) -> str | None:
        """Name an option in which a stored run differs, with both values; None if none does.

        ``stored`` is `as_dict` of that run. ``free`` options may differ; the folder of the data
        always may.
        """
        theirs = stored | stored.get("data_options", {})
        for name, ours in asdict(self).items():
            if name not in {*free, "data_dir", "download"} and theirs.get(name) != ours:
                return f"another {name} ({theirs.get(name)!r}, now {ours!r})"
        return None


class Observer:
    """Is told of the progress of a run; what a subclass leaves out does nothing."""

    def prepared(self, summary: str, steps: int) -> None:
        """Note that model and data are ready and the run begins, which has so many steps."""

    def step(self) -> None:
        """Note that a step is done."""

    def epoch(self, record: "EpochRecord") -> None:
        """Note that an epoch and its test are done."""


NOBODY = Observer()


Recipe = dict[str, Any]
"""How a model is trained unless the command line says otherwise, by field of `RunConfig`."""

PUBLISHED: Recipe = {"data": "digits", "batch_size": 128, "window": USUAL_WINDOW,
                     "optimiser": "sgd", "rate": 0.01, "epochs": 1}  # fmt: skip
"""An epoch as BenchmarkJade and the Flux blog time it."""
SMALL_IMAGES = PUBLISHED | {"optimiser": "adam", "rate": 0.003, "epochs": 10}
"""Reaches 89 % accuracy on the embedded digits with LeNet-5 within seconds."""


def _series(rate: float, window: int, epochs: int = 25, data: str = "el_nino") -> Recipe:
    return {"data": data, "batch_size": 32, "window": window,
            "optimiser": "adam", "rate": rate, "epochs": epochs}  # fmt: skip


SERIES = {
    "darnn": _series(0.01, 24, data="lorenz"),
    "dsanet": _series(0.003, 24, 60, "lorenz"),
    "lstnet": _series(0.01, 24, data="lorenz"),
    "tpa_lstm": _series(0.01, 24, data="lorenz"),
    "dlinear": _series(0.01, 12, 40),
    "nhits": _series(0.001, 12),
    "tcn": _series(0.003, 12),
    "deepar": _series(0.003, 36, 40),
    "patchtst": _series(0.001, 24),
    "itransformer": _series(0.0001, 36, 30),
    "tsmixer": _series(0.01, 24, 40),
    "timesnet": _series(0.001, 24, 15),
    "encoder_decoder": _series(0.001, 24),
}
"""Rate, window and epochs with the least validation loss on ``el_nino`` of those tried. The
models that forecast one step only are trained on ``lorenz``, because one step of ``el_nino`` is
forecast as well by simple means (docs/notes/forecasts.md)."""
OTHER_SERIES = _series(0.003, 24)

_OTHER_RATES = {"sgd": 0.01, "adam": 0.001}
"""Rates of an optimiser that is not the recipe's."""


def complete(config: RunConfig) -> RunConfig:
    """Return the configuration with missing values filled in from the model's recipe.

    Raises:
        TorchspeedError: unknown model; near names are suggested.
    """
    recipe = _recipe_of(config.model)
    if config.optimiser and config.optimiser != recipe["optimiser"]:
        recipe = recipe | {"rate": _OTHER_RATES[config.optimiser]}
    missing = {name: value for name, value in recipe.items() if not getattr(config, name)}
    return replace(config, **missing)


def unused_option(config: RunConfig) -> str | None:
    """Return a message about a given option that would have no effect; None if there is none.

    The configuration is one before `complete`: it holds only the options that were given.
    """
    data = config.data or _recipe_of(config.model)["data"]
    kind, usual = kind_of(data), DataOptions()
    for name in ("items", "features"):
        if getattr(config, name) is not None and kind not in ("dummy", "imported"):
            return f"--{name} is for --data dummy, and this run takes {data}; leave it out"
    for name in ("window", "horizon", "target", "anomalies"):
        if getattr(config, name) != getattr(usual, name) and kind == "images":
            return f"--{name} is for a series, and {data} holds images; leave it out"
    return None


def _recipe_of(model: str) -> Recipe:
    if IMPORT_MARK in model:
        return SMALL_IMAGES
    workload = get_workload(model)
    if not workload.classifies:
        return SERIES.get(workload.model, OTHER_SERIES)
    return SMALL_IMAGES if workload.name in {"lenet5", "resnet18_mnist"} else PUBLISHED
