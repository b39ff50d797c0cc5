"""Passes at several batches on one core, on more and on a GPU: when is the GPU faster?"""

from itertools import product

from ._cases import DEVICES, FORECASTERS, PLAIN, SMALL_CNNS, TIME_SERIES
from ._suite import _TimedPasses, skipped

IMPLEMENTATIONS = ["plain", "tuned"]
THREADS = [1, "all"]
ALL_BATCHES = [1, 32, 256, 2048, "source"]
FEW_BATCHES = [1, "source", 256]

_measured_elsewhere = skipped(
    [
        *product(PLAIN, ["cuda"], IMPLEMENTATIONS, ["all"], ALL_BATCHES),
        *product(PLAIN, DEVICES, IMPLEMENTATIONS, [1], ["source"]),
        *product(["resnet18_mnist"], DEVICES, ["tuned"], THREADS, ALL_BATCHES),
    ],
    because="one thread launches a GPU's work; the source's batch on one thread is measured by "
    "suites plain, time_series and small_cnns; a model that nobody tuned is its plain one",
)


class _Batches(_TimedPasses):
    """Batch ``source`` is that of the workload's source. With several threads, wall time counts.

    Suites plain, time_series and small_cnns have that batch on one thread, the fastest for many
    small models.
    """

    param_names = ("model", "device", "implementation", "threads", "batch")

    def setup(
        self, model: str, device: str, implementation: str, threads: int | str, batch: int | str
    ) -> None:
        self.build(model, device, implementation, batch=None if batch == "source" else batch)
        self.choose_clock(device)
        if threads == "all":
            self.use_all_cores()

    time_forward = _measured_elsewhere(_TimedPasses.time_forward)
    time_backward = _measured_elsewhere(_TimedPasses.time_backward)


class TimeSeries(_Batches):
    """Forecasting models, from one sample to thousands."""

    params = (TIME_SERIES, DEVICES, IMPLEMENTATIONS, THREADS, ALL_BATCHES)


class Forecasters(_Batches):
    """Today's forecasters, which have no tuned implementation; their source's batch is 32."""

    params = (FORECASTERS, DEVICES, ["plain"], [1, "all"], FEW_BATCHES)


class SmallCNNs(_Batches):
    """Small image classifiers."""

    params = (SMALL_CNNS, DEVICES, IMPLEMENTATIONS, THREADS, [1, "source"])
