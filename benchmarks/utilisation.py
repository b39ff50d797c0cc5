"""Achieved FLOP/s, and their share of the device's own peak (model FLOPs utilisation).

One process measures a case, with passes and peak interleaved; the other benchmarks of the case
look their values up.
"""

import statistics

from ._cases import DEVICES, FLUX_LITERAL, SMALL_CNNS, TIME_SERIES, TORCHVISION
from ._package import device_peak, from_commit, skip_what_cannot_run
from ._suite import _Suite, skipped
from ._tracked import Measured, _CachedSuite, share, tracked


class _Utilisation(_CachedSuite):
    """FLOPs of a pass over its time, in FLOP/s and in percent of the device's peak.

    Each workload runs at its own batch; a backward pass includes its forward. Since version 2,
    FLOPs are those of the plain model, and the time is that of the tuned one.
    """

    param_names = ("model", "device")
    code_version = "2"

    def measure(self, model: str, device: str) -> Measured:
        utilisation_of = from_commit("measure.utilisation", "utilisation_of")
        skip_what_cannot_run(device, model)
        return utilisation_of(model, device_peak(device))

    track_flops_per_second_forward = tracked(
        "forward", "flops_per_second", unit="FLOP/s", higher_is_better=True
    )
    track_flops_per_second_backward = tracked(
        "backward", "flops_per_second", unit="FLOP/s", higher_is_better=True
    )
    track_mfu_forward = share("forward", "share_of_peak")
    track_mfu_backward = share("backward", "share_of_peak")


class TimeSeries(_Utilisation):
    """Forecasting models at FluxBench's sizes."""

    params = (TIME_SERIES, DEVICES)


class FluxLiteral(_Utilisation):
    """The forecasting models as FluxArchitectures computes them."""

    params = (FLUX_LITERAL, DEVICES)


class SmallCNNs(_Utilisation):
    """Small image classifiers at the batch of their sources."""

    params = (SMALL_CNNS, DEVICES)


class Torchvision(_Utilisation):
    """torchvision's classifiers, 5 images of 3x224x224."""

    params = (TORCHVISION, DEVICES)


class DevicePeak(_Suite):
    """FLOP/s of the fastest product of square matrices; on the CPU with one thread."""

    params = (DEVICES, ["float32", "tf32"])
    param_names = ("device", "arithmetic")

    measured: Measured

    def setup(self, device: str, arithmetic: str) -> None:
        skip_what_cannot_run(device)
        peak = from_commit("measure.peak", "Peak")(device, tf32=arithmetic == "tf32")
        rates = [peak.measure() for _ in range(10)]
        self.measured = {"median rate": statistics.median(rates)}

    track_peak_flops_per_second = skipped([("cpu", "tf32")], "TF32 is arithmetic of CUDA devices")(
        tracked("median rate", unit="FLOP/s", higher_is_better=True)
    )
