"""The published figures and tables, measured here: what each one runs, small or in full.

Small defaults end within minutes on two cores; ``full`` takes the sizes that were published.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

import torch

from torchspeed.measure.clocks import clock_for, seconds_per_call
from torchspeed.measure.passes import Passes
from torchspeed.models import fastest_on
from torchspeed.published.values import published_values
from torchspeed.training.config import RunConfig
from torchspeed.training.infer import infer, infer_smoothly
from torchspeed.training.phases import Phase
from torchspeed.training.results import RunResult
from torchspeed.training.train import train
from torchspeed.workloads import list_workloads

Row = dict[str, Any]
"""A line, bar or row of a table: its ``name``, the value of the axis, and each quantity's."""


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
    labels: dict[str, str]
    """What the published values are selected by."""
    name: str
    """How a published row is called, of its labels and hardware."""
    quantity: str = "{quantity}"
    """Which label says what a published number is of."""

    def published(self) -> list[Row]:
        """Return what the source has; nothing where it gives the option but no values."""
        rows: dict[tuple[str, float | str], Row] = {}
        for value in published_values():
            if self.axis not in value or not self.labels.items() <= value.items():
                continue
            quantity, name = self.quantity.format(**value), self.name.format(**value)
            x = float(value[self.axis]) if self.drawn_as == "lines" else value[self.axis]
            if quantity in self.quantities:
                row = rows.setdefault((name, x), {"name": name, self.axis: x})
                row[quantity] = value["value"]
        return list(rows.values())


def _against(
    setting: str, small: Sequence[Any], published: Sequence[Any], label: str = ""
) -> Reproduction:
    """LeNet against one setting; dl-benchmark publishes values for workers and batch size."""
    words, axis = setting.replace("_", " "), label or setting
    return Reproduction(
        title=f"LeNet against {words}",
        drawn_as="bars" if isinstance(small[0], str) else "lines",
        axis=axis,
        quantities={
            "total epoch training time": "s",
            "total training function time": "s",
            "best training accuracy": "%",
        },
        measure=lambda config, full: [
            {axis: value} | _lenet(config, full, {setting: value})
            for value in (published if full else small)
        ],
        labels={"source": "dl_benchmark", "against": setting},
        name="{framework}",
    )


def _lenet(config: RunConfig, full: bool, setting: dict[str, Any]) -> Row:
    """Train LeNet as dl-benchmark does; a small one on the embedded digits."""
    config = replace(
        config,
        model="lenet5",
        data="mnist" if full else "digits",
        batch_size=128,
        workers=2 if full else 0,
        optimiser="sgd",
        # Adam learns nothing with the published rate of SGD.
        rate=0.003 if "adam" in setting.values() else 0.1,
        weight_decay=5e-4,
        schedule="cosine",
        schedule_epochs=200,
        epochs=10 if full else 3,
    )
    columns = train(replace(config, **setting)).as_dict()["time_to_accuracy"]
    return {
        "name": f"here, {config.data}",
        "total epoch training time": columns["epoch_training_s"],
        "total training function time": columns["training_function_s"],
        "best training accuracy": 100 * columns["best_training_accuracy"],
    }


def _phases(run: Callable[[RunConfig], RunResult], mode: str) -> Reproduction:
    """Phases of ResNet-50 on dummy images, as BenchmarkJade times them."""
    quantities = {str(phase): "s" for phase in Phase if phase != Phase.BOOKKEEPING}

    def measure(config: RunConfig, full: bool) -> list[Row]:
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
        times = {name: phase.median_s for name, phase in result.ranks[0].phases.items()}
        return [
            {"name": f"here, {result.device_name}, dummy, batch {batch}", "mode": mode, **times}
        ]

    return Reproduction(
        title=f"ResNet-50, {mode.replace('-', ' ')}: phases of a step",
        drawn_as="stack",
        axis="mode",
        quantities=quantities,
        measure=measure,
        labels={"source": "benchmarkjade", "mode": mode},
        name="{hardware}, {data}, devices {devices}",
    )


_STEP_OF = {
    "1 V100 / 1 A40": (("TN cluster, V100", "1"), ("TN cluster, A40", "1")),
    "1 JADE2 V100 / 1 V100": (("JADE2, V100", "1"), ("TN cluster, V100", "1")),
    # Of the 8 devices that the authors' logs and a later table have.
    "8 JADE2 V100 / 8 A40": (("JADE2, V100", "4"), ("TN cluster, A40", "8")),
}
"""Of an expected speed, hardware and devices of both machines in the table of measured steps."""


def _speeds(config: RunConfig, full: bool) -> list[Row]:
    """Return what the published steps make of the expected speeds, and this machine's speed.

    A speed is images a second of forward and backward pass on dummy data, without loading.
    """
    steps: dict[tuple[str, str], float] = {}
    for value in published_values():
        in_a_step = value.get("mode") == "train" and value.get("data") == "dummy"
        if in_a_step and value["quantity"] in {Phase.FORWARD, Phase.BACKWARD}:
            key = value["hardware"], value["devices"]
            steps[key] = steps.get(key, 0.0) + value["value"]
    rows: list[Row] = [
        {"name": "measured there", "comparison": name, "speed": steps[other] / steps[machine]}
        for name, (machine, other) in _STEP_OF.items()
    ]
    (here,) = REPRODUCTIONS["phases"].measure(config, full)
    images = (128 if full else 4) / (here[str(Phase.FORWARD)] + here[str(Phase.BACKWARD)])
    of_an_a40 = 128 / steps["TN cluster, A40", "1"]
    rows.append({"name": here["name"], "comparison": "here / 1 A40", "speed": images / of_an_a40})
    return rows


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
    return [{"name": name, "device": config.device.partition(":")[0], "epoch time": seconds}]


def _passes(config: RunConfig, _full: bool) -> list[Row]:
    """Time both passes of the four forecasting models, at FluxBench's sizes in any case."""
    torch.set_num_threads(1)  # as in the suites: the clock counts the process's CPU time
    clock = clock_for(config.device)
    rows = []
    for model in list_workloads("time_series"):
        fastest = fastest_on(config.device, model)
        passes = Passes(model, config.device, implementation=fastest)
        timed = {"forward": passes.forward, "backward": passes.backward}
        times = {name: seconds_per_call(run, clock, at_least=0.5) for name, run in timed.items()}
        rows.append({"name": f"here, {config.device}", "model": model, **times})
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
    models: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "lstnet": (
            {"model_kwargs": lstnet, "batch_size": 128, "clip_norm": 10.0},
            {"window": 168},
        ),
        "tpa_lstm": (
            {"model_kwargs": tpa_lstm, "batch_size": 32, "clip_norm": 5.0},
            {"window": 30, "target": "all"},
        ),
    }
    rows = {}
    for horizon, (model, (settings, series)) in product(
        (3, 6, 12, 24) if full else (3, 24), models.items()
    ):
        options = replace(config.data_options, horizon=horizon, **series)
        run = replace(config, model=model, data_options=options, **settings)
        report = train(run).forecast
        if report is None:
            raise AssertionError("a series has its forecasts")
        for name, made in {f"{model}, here": report.model, **report.baselines}.items():
            quality = {"RSE": made.rse, "CORR": made.corr or 0.0}
            rows[name, horizon] = {"name": name, "horizon": float(horizon), **quality}
    return list(rows.values())


REPRODUCTIONS = {
    "workers": _against("workers", (0, 1, 2), (2, 4, 8, 16)),
    "batch-size": _against("batch_size", (32, 128, 512), (32, 128, 512, 2048, 8196), "batch"),
    "optimiser": _against("optimiser", ("sgd", "adam"), ("sgd", "adam")),
    "rate": _against("rate", (0.01, 0.1, 0.3), (0.01, 0.1, 0.3)),
    "epochs": _against("epochs", (1, 3, 6), (1, 5, 10)),
    "phases": _phases(train, "train"),
    "inference": _phases(infer, "inference"),
    "smooth-inference": _phases(infer_smoothly, "smooth-inference"),
    "expected-speed": Reproduction(
        title="Speed of training ResNet-50, as a multiple of another machine's",
        drawn_as="bars",
        axis="comparison",
        quantities={"speed": ""},
        measure=_speeds,
        labels={"source": "benchmarkjade"},
        name="expected",
    ),
    "cnn-epoch": Reproduction(
        title="One epoch of the small CNN",
        drawn_as="bars",
        axis="device",
        quantities={"epoch time": "s"},
        measure=_cnn_epoch,
        labels={"source": "flux_blog"},
        name="{hardware}",
    ),
    "time-series": Reproduction(
        title="Forward and backward pass of the forecasting models",
        drawn_as="bars",
        axis="model",
        quantities={"forward": "s", "backward": "s"},
        measure=_passes,
        labels={"source": "fluxarchitectures"},
        name="{hardware}, {device}",
        quantity="{pass}",
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
