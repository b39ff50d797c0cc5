"""The published figures and tables, measured here: what each one runs, small or in full.

Small defaults end within minutes on two cores; ``full`` takes the sizes that were published.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any, Literal

import torch

from torchspeed.measure.clocks import clock_for, seconds_per_call
from torchspeed.measure.passes import Passes
from torchspeed.published.values import load_sources
from torchspeed.training.config import RunConfig
from torchspeed.training.infer import infer, infer_smoothly
from torchspeed.training.phases import Phase
from torchspeed.training.results import RunResult
from torchspeed.training.train import train
from torchspeed.workloads import list_workloads


@dataclass(frozen=True, slots=True)
class Row:
    """Numbers of one line, bar or row of a table."""

    name: str
    """What was measured on, or with."""
    x: float | str
    """Value of the axis, or category."""
    values: dict[str, float]
    """Value of each quantity, in its unit."""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """One published figure or table."""

    title: str
    drawn_as: Literal["lines", "bars", "stack"]
    """Lines over a numeric axis; bars by category; or a stacked bar of all quantities a row."""
    axis: str
    """Label of the published values, and of the picture's axis."""
    quantities: dict[str, str]
    """Name to unit."""
    measure: Callable[[RunConfig, bool], list[Row]]
    """Given the device and where data lie, and whether the published sizes are taken."""
    source: str
    """File of `torchspeed.published` whose work it is."""
    labels: dict[str, str] = field(default_factory=dict)
    """What the published values are selected by."""
    name: str = "{hardware}"
    """How a published row is called, of its labels and hardware."""
    quantity: str = "{quantity}"
    """Which label says what a published number is of."""

    def published(self) -> list[Row]:
        """Return what the source has; nothing where it gives the option but no values."""
        [source] = (source for source in load_sources() if source.key == self.source)
        rows: dict[tuple[str, float | str], dict[str, float]] = {}
        for value in source.values:
            labels = {**value.labels, "hardware": value.hardware,
                      "quantity": value.quantity, "table": value.table}  # fmt: skip
            chosen = all(labels.get(name) == text for name, text in self.labels.items())
            if not chosen or self.axis not in labels:
                continue
            x = labels[self.axis]
            place = self.name.format(**labels), float(x) if self.drawn_as == "lines" else x
            rows.setdefault(place, {})[self.quantity.format(**labels)] = value.value
        rows = {place: row for place, row in rows.items() if set(row) & set(self.quantities)}
        return [Row(name, x, values) for (name, x), values in rows.items()]


def _lenet(
    axis: str, small: Sequence[Any], published: Sequence[Any], config: RunConfig, full: bool
) -> list[Row]:
    """Train LeNet as dl-benchmark does; a small one on the embedded digits."""
    config = replace(
        config,
        model="lenet5",
        data="mnist" if full else "digits",
        batch_size=128,
        workers=2 if full else 0,
        optimiser="sgd",
        rate=0.1,
        weight_decay=5e-4,
        schedule="cosine",
        schedule_epochs=200,
        epochs=10 if full else 3,
    )
    rows = []
    for value in published if full else small:
        change: dict[str, Any] = {axis: value}
        if value == "adam":
            change["rate"] = 0.003  # with 0.1 it learns nothing
        columns = train(replace(config, **change)).as_dict()["time_to_accuracy"]
        values = {
            "total epoch training time": columns["epoch_training_s"],
            "total training function time": columns["training_function_s"],
            "best training accuracy": 100 * columns["best_training_accuracy"],
        }
        x = value if isinstance(value, str) else float(value)
        rows.append(Row(f"here, {config.data}", x, values))
    return rows


def _resnet(
    run: Callable[[RunConfig], RunResult], mode: str, config: RunConfig, full: bool
) -> list[Row]:
    """Time the phases of ResNet-50 on dummy images, as BenchmarkJade does."""
    batch = 128 if full else 4
    config = replace(
        config,
        model="resnet50",
        data="dummy",
        batch_size=batch,
        workers=4 if full else 0,
        limit_batches=config.limit_batches or (50 if full else 4),
    )
    result = run(config)
    phases = result.ranks[0].phases
    values = {name: phases[name].median_s for name in JADE_PHASES if name in phases}
    return [Row(f"here, {result.device_name}, dummy, batch {batch}", mode, values)]


def _cnn_epoch(config: RunConfig, full: bool) -> list[Row]:
    """Train the Flux blog's CNN for an epoch of 50 batches; as there, loading is not counted."""
    config = replace(
        config,
        model="flux_cnn",
        data="cifar10" if full else "dummy",
        data_options=replace(config.data_options, items=50_000),
        batch_size=1000,
    )
    result = train(config)
    phases, steps = result.ranks[0].phases, result.ranks[0].steps + result.warmup_steps
    name = f"here, {result.device_name}" + ("" if steps == 50 else f", {steps} of 50 batches")
    seconds = phases[Phase.FORWARD].total_s + phases[Phase.BACKWARD].total_s
    return [Row(name, torch.device(config.device).type, {"epoch time": seconds})]


def _passes(config: RunConfig, _full: bool) -> list[Row]:
    """Time both passes of the four forecasting models, at FluxBench's sizes in any case."""
    torch.set_num_threads(1)  # as in the suites: the clock counts the process's CPU time
    clock = clock_for(config.device)
    rows = []
    for model in FORECASTERS:
        passes = Passes(model, config.device)
        timed = {"forward": passes.forward, "backward": passes.backward}
        values = {name: seconds_per_call(run, clock, at_least=0.5) for name, run in timed.items()}
        rows.append(Row(f"here, {config.device}", model, values))
    return rows


def _exchange_rates(config: RunConfig, full: bool) -> list[Row]:
    """Train LSTNet and TPA-LSTM on exchange rates, at the sizes of their papers.

    Sizes of LSTNet are those of its authors' script for this set (github.com/laiguokun/LSTNet,
    ``stock.sh``, and the defaults of ``main.py``). TPA-LSTM's authors publish their settings for
    music alone; window, layers, state and batch are a choice here. The authors of both train on
    the absolute error with Adam, those of LSTNet at a constant rate of 0.001 for up to 100
    epochs; here a cosine with that mean ends within fewer.
    """
    config = replace(
        config,
        data="exchange_rate",
        loss="absolute",
        optimiser="adam",
        rate=0.002,
        schedule="cosine",
        epochs=20 if full else 1,
    )
    lstnet = "channels=50,kernel=6,recurrent=50,skip=24,skip_recurrent=5,highway=24,dropout=0.2"
    tpa_lstm = "hidden=12,layers=1,filters=32,filter_size=1,highway=24"
    models: dict[str, dict[str, Any]] = {
        "lstnet": {"model_kwargs": lstnet, "batch_size": 128, "clip_norm": 10.0},
        "tpa_lstm": {"model_kwargs": tpa_lstm, "batch_size": 32, "clip_norm": 5.0},
    }
    series: dict[str, dict[str, Any]] = {
        "lstnet": {"window": 168},
        "tpa_lstm": {"window": 30, "target": "all"},
    }
    rows = {}
    for horizon, model in product((3, 6, 12, 24) if full else (3, 24), models):
        options = replace(config.data_options, horizon=horizon, **series[model])
        run = replace(config, model=model, data_options=options, **models[model])
        report = train(run).as_dict()["forecast"]
        for name, forecast in {f"{model}, here": "model", "last value": "last_value"}.items():
            values = {"RSE": report[forecast]["rse"], "CORR": report[forecast]["corr"] or 0.0}
            rows[name, horizon] = Row(name, float(horizon), values)
    return list(rows.values())


FORECASTERS = list_workloads("time_series")
JADE_PHASES = {str(phase): "s" for phase in Phase if phase != Phase.BOOKKEEPING}


def _against(axis: str, small: Sequence[Any], published: Sequence[Any]) -> Reproduction:
    """LeNet against one setting; dl-benchmark publishes values for workers and batch size."""
    label = {"batch_size": "batch"}.get(axis, axis)
    against = {"workers": "number of workers", "batch_size": "batch size"}.get(axis, axis)
    return Reproduction(
        title=f"LeNet against {axis.replace('_', ' ')}",
        drawn_as="bars" if isinstance(small[0], str) else "lines",
        axis=label,
        quantities={
            "total epoch training time": "s",
            "total training function time": "s",
            "best training accuracy": "%",
        },
        measure=partial(_lenet, axis, small, published),
        source="dl_benchmark",
        labels={"table": f"LeNet on MNIST against the {against}"},
        name="{framework}",
    )


def _jade(run: Callable[[RunConfig], RunResult], mode: str) -> Reproduction:
    return Reproduction(
        title=f"ResNet-50, {mode.replace('-', ' ')}: phases of a step",
        drawn_as="stack",
        axis="mode",
        quantities=JADE_PHASES,
        measure=partial(_resnet, run, mode),
        source="benchmarkjade",
        labels={"mode": mode},
        name="{hardware}, {data}, devices {devices}",
    )


REPRODUCTIONS = {
    "workers": _against("workers", (0, 1, 2), (2, 4, 8, 16)),
    "batch-size": _against("batch_size", (32, 128, 512), (32, 128, 512, 2048, 8196)),
    "optimiser": _against("optimiser", ("sgd", "adam"), ("sgd", "adam")),
    "rate": _against("rate", (0.01, 0.1, 0.3), (0.01, 0.1, 0.3)),
    "epochs": _against("epochs", (1, 3, 6), (1, 5, 10)),
    "phases": _jade(train, "train"),
    "inference": _jade(infer, "inference"),
    "smooth-inference": _jade(infer_smoothly, "smooth-inference"),
    "cnn-epoch": Reproduction(
        title="One epoch of the small CNN",
        drawn_as="bars",
        axis="device",
        quantities={"epoch time": "s"},
        measure=_cnn_epoch,
        source="flux_blog",
    ),
    "time-series": Reproduction(
        title="Forward and backward pass of the forecasting models",
        drawn_as="bars",
        axis="model",
        quantities={"forward": "s", "backward": "s"},
        measure=_passes,
        source="fluxarchitectures",
        name="{hardware}, {device}",
        quantity="{pass}",
    ),
    "exchange-rates": Reproduction(
        title="Forecasts of exchange rates",
        drawn_as="lines",
        axis="horizon",
        quantities={"RSE": "", "CORR": ""},
        measure=_exchange_rates,
        source="exchange_rate",
        name="{model}",
    ),
}
