"""The published figures and tables, and how each is measured here, small or in full.

Small defaults end within minutes on two cores; ``full`` takes the sizes that were published.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any, Literal

import torch

from torchspeed.measure.clocks import clock_for, seconds_per_call
from torchspeed.measure.passes import Passes
from torchspeed.models.fastest import Fastest, Pass
from torchspeed.published.values import published_values
from torchspeed.studies.figures import Row
from torchspeed.training.cases import JADE_MODES, AdamSteps
from torchspeed.training.config import RunConfig
from torchspeed.training.forecasts import MEAN, RIDGE
from torchspeed.training.phases import Phase
from torchspeed.training.ranks import world
from torchspeed.training.train import train
from torchspeed.workloads import get_workload, list_workloads

Values = dict[str, dict[str, float]]
"""Quantities by the name of a line or row, each in its unit."""

Point = tuple[float | str, Values]
"""A value of the axis, and what is measured together there."""


def by_row(measured: Iterable[Point]) -> list[Row]:
    """Return the numbers of all rounds for each name and value of the axis."""
    rows: dict[tuple[str, float | str], Row] = {}
    for x, values in measured:
        for name, quantities in values.items():
            row = rows.setdefault((name, x), Row(name, x, {}))
            for quantity, value in quantities.items():
                row.rounds.setdefault(quantity, []).append(value)
    return list(rows.values())


CPU_TIME = "CPU time of training"
"""A quantity that other processes hardly change; it includes loading."""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """One published figure or table."""

    title: str
    drawn_as: Literal["lines", "bars", "stack"]
    """Lines over a numeric axis; a mark for each category; or a stacked bar of all quantities."""
    axis: str
    """Label of the published values, and of the picture's axis."""
    quantities: dict[str, str]
    """Name to unit."""
    measure: Callable[[RunConfig, bool], Iterator[Point]]
    """Measures each point here once, in the published sizes if they are to be ``full``."""
    labels: dict[str, str]
    """Labels that select the published values."""
    name: str
    """Makes the name of a published row from its labels and hardware."""
    quantity: str = "{quantity}"
    """The label that names the quantity of a published number."""

    def published(self) -> list[Row]:
        """Return the published values."""
        rows: dict[tuple[str, float | str], Row] = {}
        for value in published_values():
            if self.axis not in value or not self.labels.items() <= value.items():
                continue
            quantity, name = self.quantity.format(**value), self.name.format(**value)
            x = value[self.axis]
            x = float(x) if self.drawn_as == "lines" else x.removesuffix("_solar_literal")
            if quantity in self.quantities:
                row = rows.get((name, x), Row(name, x, {}))
                numbers = row.rounds | {quantity: [value["value"]]}
                slips = dict.fromkeys(filter(None, (*row.slips, value["slip"])))
                rows[name, x] = Row(name, x, numbers, tuple(slips))
        return list(rows.values())


_COLUMNS = {
    "best training accuracy": ("%", "best_training_accuracy"),
    "total data loading time": ("s", "data_loading_s"),
    "total epoch training time": ("s", "epoch_training_s"),
    "total training function time": ("s", "training_function_s"),
    "average training loss": ("", "average_training_loss"),
    CPU_TIME: ("s", "training_function_cpu_s"),
}
"""dl-benchmark's columns: the unit of each, and its name in `AccuracyTimes`."""


def _against(
    setting: str, small: Sequence[Any], published: Sequence[Any], label: str = ""
) -> Reproduction:
    words, axis = setting.replace("_", " "), label or setting

    def measure(config: RunConfig, full: bool) -> Iterator[Point]:
        config = _lenet(config, full)
        for x in published if full else small:
            columns = train(replace(config, **{setting: x})).as_dict()["time_to_accuracy"]
            measured = {
                quantity: columns[key] * (100 if unit == "%" else 1)
                for quantity, (unit, key) in _COLUMNS.items()
            }
            yield x, {f"here, {config.model}, {config.data}": measured}

    return Reproduction(
        title=f"LeNet against {words}",
        drawn_as="lines",
        axis=axis,
        quantities={name: unit for name, (unit, _) in _COLUMNS.items()},
        measure=measure,
        labels={"source": "dl_benchmark", "against": setting},
        name="{framework}",
    )


def _lenet(config: RunConfig, full: bool) -> RunConfig:
    """Return how dl-benchmark trains LeNet or ResNet-18; if small, on the embedded digits."""
    return replace(
        config,
        data=config.data or ("mnist" if full else "digits"),
        batch_size=128,
        workers=2 if full else 0,
        optimiser="sgd",
        rate=0.1,
        weight_decay=5e-4,
        epochs=10,
    )


def _phases(mode: str) -> Reproduction:
    """Return BenchmarkJade's table of the phases of ResNet-50 on dummy images."""

    def measure(config: RunConfig, full: bool) -> Iterator[Point]:
        config = _jade(config, full)
        name = f"here, {config.device}, dummy, batch {config.batch_size}, devices {world()}"
        yield mode, {name: JADE_MODES[mode](config).medians_s}

    return Reproduction(
        title=f"ResNet-50, {mode.replace('-', ' ')}: phases of a step",
        drawn_as="stack",
        axis="mode",
        quantities={str(phase): "s" for phase in Phase},
        measure=measure,
        labels={"source": "benchmarkjade", "mode": mode},
        name="{hardware}, {data}, devices {devices}",
    )


def _jade(config: RunConfig, full: bool) -> RunConfig:
    return replace(
        config,
        model="resnet50",
        data="dummy",
        batch_size=128 if full else 4,
        workers=4 if full else 0,
        limit_batches=config.limit_batches or (50 if full else 4),
    )


_A40_STEP = {"mode": "train", "data": "dummy", "hardware": "TN cluster, A40", "devices": "1"}
"""Labels of the published phases to which this machine's are compared."""


def _speed(config: RunConfig, full: bool) -> Iterator[Point]:
    """Measure this machine's speed of training, as a multiple of an A40's.

    It is a ratio of images per second, in both passes on dummy data, without loading.
    """
    config, passes = _jade(config, full), (Phase.FORWARD, Phase.BACKWARD)
    phases = train(config).medians_s
    images = world() * config.batch_size / sum(phases[phase] for phase in passes)
    step_s = sum(
        value["value"]
        for value in published_values()
        if _A40_STEP.items() <= value.items() and value["quantity"] in passes
    )
    speed = images / (128 / step_s)
    yield f"{world()} here / 1 A40", {f"here, {config.device}": {"speed": speed}}


def _cnn_epoch(config: RunConfig, full: bool) -> Iterator[Point]:
    """Train the Flux blog's CNN for an epoch of 50 batches; as there, loading is not counted."""
    data = "cifar10" if full else "dummy"
    config = replace(config, model="flux_cnn", data=data, items=50_000, batch_size=1000)
    steps = min(50, config.limit_batches or 50)
    name = f"here, {config.device}" + ("" if steps == 50 else f", {steps} of 50 batches")
    result = train(config)
    phases, columns = result.ranks[0].phases, result.as_dict()["time_to_accuracy"]
    seconds = phases[Phase.FORWARD].total_s + phases[Phase.BACKWARD].total_s
    measured = {"epoch time": seconds, CPU_TIME: columns["training_function_cpu_s"]}
    yield config.device.partition(":")[0], {name: measured}


def _of_models(
    families: Sequence[str], seconds: Callable[[str, str], dict[str, float]]
) -> Callable[[RunConfig, bool], Iterator[Point]]:
    """Measure the papers' models and Flux's work, always at the sizes that were published.

    ``seconds`` of a workload on a device are CPU time of one thread on a CPU.
    """

    def measure(config: RunConfig, _full: bool) -> Iterator[Point]:
        torch.set_num_threads(1)
        for workload in chain.from_iterable(map(list_workloads, families)):
            literal = workload.endswith("_literal")
            work = "the same work as Flux" if literal else "the papers' models"
            name = f"here, {config.device}, {work}"
            model = workload.removesuffix("_literal").removesuffix("_flux").removesuffix("_solar")
            yield model, {name: seconds(workload, config.device)}

    return measure


def _pass_seconds(workload: str, device: str) -> dict[str, float]:
    recipe = get_workload(workload)

    def seconds(pass_name: Pass) -> float:
        fastest, _ = Fastest(device, recipe.batch, pass_name).formulation_of(recipe.model)
        passes = Passes(workload, device, implementation=fastest)
        return seconds_per_call(getattr(passes, pass_name), clock_for(device), 0.2)

    return {"forward": seconds("forward"), "backward": seconds("backward")}


def _adam_seconds(workload: str, device: str) -> dict[str, float]:
    case = AdamSteps(workload, device)
    case.run()  # the first call allocates memory
    return {"time of five steps": seconds_per_call(case.run, clock_for(device))}


def _exchange_rates(config: RunConfig, full: bool) -> Iterator[Point]:
    """Train LSTNet and TPA-LSTM on exchange rates, at the sizes of their papers.

    LSTNet has the sizes of its authors' script for this set (github.com/laiguokun/LSTNet,
    ``stock.sh``, and the defaults of ``main.py``). TPA-LSTM's authors publish their settings only
    for music; window, layers, state and batch are our choice. The authors of both minimise the
    absolute error with Adam, those of LSTNet at a constant rate of 0.001 for up to 100 epochs;
    here a cosine schedule with that mean rate needs fewer.
    """
    config = replace(
        config,
        data="exchange_rate",
        absolute_error=True,
        optimiser="adam",
        rate=0.002,
        cosine=True,
        epochs=20 if full else 1,
    )
    lstnet = "channels=50,kernel=6,recurrent=50,skip=24,skip_recurrent=5,highway=24,dropout=0.2"
    tpa_lstm = "hidden=12,layers=1,filters=32,filter_size=1,highway=24"
    models: dict[str, dict[str, Any]] = {
        "lstnet": {"model_kwargs": lstnet, "batch_size": 128, "clip_norm": 10.0, "window": 168},
        "tpa_lstm": {"model_kwargs": tpa_lstm, "batch_size": 32, "clip_norm": 5.0, "window": 30,
                     "target": "all"},
    }  # fmt: skip
    for horizon, model in product((3, 6, 12, 24) if full else (3, 24), models):
        asked = replace(config, model=model, horizon=horizon, **models[model])
        report = train(asked).forecast
        assert report is not None  # noqa: S101 - it is a series
        # The mean is so far off that the picture would not show how the others differ.
        baselines = {f"{name}, window of {model}" if name == RIDGE else name: errors
                     for name, errors in report.baselines.items() if name != MEAN}  # fmt: skip
        values: Values = {}
        for name, accuracy in {f"{model}, here": report.model, **baselines}.items():
            quantities = {"RSE": accuracy.rse, "CORR": accuracy.corr}
            values[name] = {q: value for q, value in quantities.items() if value is not None}
        yield float(horizon), values


REPRODUCTIONS = {
    "workers": _against("workers", (0, 1, 2), (2, 4, 8, 16)),
    "batch-size": _against("batch_size", (32, 128, 512), (32, 128, 512, 2048, 8196), "batch"),
    "phases": _phases("train"),
    "inference": _phases("inference"),
    "smooth-inference": _phases("smooth-inference"),
    "expected-speed": Reproduction(
        title="Speed of training ResNet-50, as a multiple of another machine's",
        drawn_as="bars",
        axis="comparison",
        quantities={"speed": ""},
        measure=_speed,
        labels={"source": "benchmarkjade"},
        name="expected",
    ),
    "cnn-epoch": Reproduction(
        title="One epoch of the small CNN",
        drawn_as="bars",
        axis="device",
        quantities={"epoch time": "s", CPU_TIME: "s"},
        measure=_cnn_epoch,
        labels={"source": "flux_blog"},
        name="{hardware}",
    ),
    "time-series": Reproduction(
        title="Forward and backward pass of the forecasting models",
        drawn_as="bars",
        axis="model",
        quantities={"forward": "s", "backward": "s"},
        measure=_of_models(("time_series", "flux_literal"), _pass_seconds),
        labels={"source": "fluxarchitectures"},
        name="{hardware}, {device}",
        quantity="{pass}",
    ),
    "adam-steps": Reproduction(
        title="Five steps of Adam on one batch",
        drawn_as="bars",
        axis="model",
        quantities={"time of five steps": "s"},
        measure=_of_models(("flux_training",), _adam_seconds),
        labels={"source": "fluxarchitectures_training"},
        name="{hardware}, {device}",
    ),
    "exchange-rates": Reproduction(
        title="Forecasts of exchange rates",
        drawn_as="lines",
        axis="horizon",
        quantities={"RSE": "", "CORR": ""},
        measure=_exchange_rates,
        labels={"source": "exchange_rate"},
        name="{model}",
    ),
}
