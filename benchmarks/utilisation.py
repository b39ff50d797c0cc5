"""Achieved FLOP/s, and their share of the device's own peak (model FLOPs utilisation).

Each family is measured in one process, passes and peak in turn. The cases look their
figures up and need no torch.
"""

import dataclasses
import statistics
from itertools import product

from asv_runner.benchmarks.mark import skip_for_params

from ._once import look_up, measure_each

DEVICES = ["cpu", "cuda"]


def _measure(models, devices):
    try:
        from torchspeed.measure.utilisation import utilisation_of  # noqa: PLC0415 - old commits
    except ImportError:
        return {}
    from torchspeed.devices import missing_device  # noqa: PLC0415 - imports torch
    from torchspeed.measure.peak import Peak  # noqa: PLC0415 - imports torch
    from torchspeed.workloads import list_workloads  # noqa: PLC0415 - imports torch

    peaks = {}

    def measure(case):
        model, device = case
        absent = missing_device(device)
        if absent:
            raise NotImplementedError(absent)
        if model not in list_workloads():
            raise NotImplementedError(f"this commit has no workload {model!r}")
        if device not in peaks:
            # cuDNN's convolutions take TF32 by default, so the peak does.
            peaks[device] = Peak(device, tf32=device == "cuda")
        return dataclasses.asdict(utilisation_of(model, peaks[device]))

    return measure_each(product(models, devices), measure)


class _Utilisation:
    """Forward and backward of each workload at its own batch."""

    version = "1"
    param_names = ("model", "device")

    def setup(self, measured, model, device):
        if not measured:
            raise NotImplementedError("this commit does not measure utilisation")
        self.passes = look_up(measured, (model, device))

    def track_flops_per_second_forward(self, measured, model, device):
        """FLOPs of one inference over the time it takes."""
        return self.passes["forward"]["flops_per_second"]

    def track_flops_per_second_backward(self, measured, model, device):
        """The same of a forward pass and its gradients."""
        return self.passes["backward"]["flops_per_second"]

    def track_mfu_forward(self, measured, model, device):
        """That rate as a share of the device's peak, in percent."""
        return 100 * self.passes["forward"]["share_of_peak"]

    def track_mfu_backward(self, measured, model, device):
        """The same of a forward pass and its gradients."""
        return 100 * self.passes["backward"]["share_of_peak"]

    track_flops_per_second_forward.unit = track_flops_per_second_backward.unit = "FLOP/s"
    track_mfu_forward.unit = track_mfu_backward.unit = "%"
    track_flops_per_second_forward.higher_is_better = True
    track_flops_per_second_backward.higher_is_better = True
    track_mfu_forward.higher_is_better = track_mfu_backward.higher_is_better = True


class TimeSeries(_Utilisation):
    """Forecasting models at FluxBench's sizes."""

    params = (["darnn", "dsanet", "lstnet", "tpa_lstm"], DEVICES)

    def setup_cache(self):
        return _measure(*self.params)

    setup_cache.timeout = 600


class FluxLiteral(_Utilisation):
    """What FluxArchitectures computes under their names."""

    params = (
        [
            "darnn_flux_literal",
            "dsanet_flux_literal",
            "lstnet_flux_literal",
            "tpa_lstm_flux_literal",
        ],
        DEVICES,
    )

    def setup_cache(self):
        return _measure(*self.params)

    setup_cache.timeout = 600


class SmallCNNs(_Utilisation):
    """Small image classifiers at the batch of their sources."""

    params = (["flux_cnn", "lenet5", "resnet18_mnist"], DEVICES)

    def setup_cache(self):
        return _measure(*self.params)

    setup_cache.timeout = 600


class Torchvision(_Utilisation):
    """torchvision's classifiers, 5 images of 3x224x224."""

    params = (
        [
            "resnet18",
            "resnet34",
            "resnet50",
            "densenet121",
            "googlenet",
            "vgg19",
            "squeezenet1_1",
        ],
        DEVICES,
    )

    def setup_cache(self):
        return _measure(*self.params)

    setup_cache.timeout = 1200


class DevicePeak:
    """The fastest square product of matrices, on the CPU with one thread."""

    version = "1"
    params = (DEVICES, ["float32", "tf32"])
    param_names = ("device", "arithmetic")

    def setup(self, device, arithmetic):
        try:
            from torchspeed.measure.peak import Peak  # noqa: PLC0415 - old commits lack it
        except ImportError:
            raise NotImplementedError("this commit does not measure utilisation") from None
        from torchspeed.devices import missing_device  # noqa: PLC0415 - imports torch

        absent = missing_device(device)
        if absent:
            raise NotImplementedError(absent)
        self.peak = Peak(device, tf32=arithmetic == "tf32")

    @skip_for_params([("cpu", "tf32")])
    def track_peak_flops_per_second(self, device, arithmetic):
        """Median of ten measurements, in FLOP/s."""
        return statistics.median(self.peak.measure() for _ in range(10))

    track_peak_flops_per_second.skipped_because = "TF32 is arithmetic of CUDA devices"
    track_peak_flops_per_second.unit = "FLOP/s"
    track_peak_flops_per_second.higher_is_better = True
