"""How long the kernels of a pass keep a CUDA device busy, and how many kernels there are."""

from ._cases import FORECASTERS, TIME_SERIES, TUNED_CNNS
from ._package import from_commit, options_of, skip_what_cannot_run
from ._tracked import Measured, _CachedSuite, share, tracked


class _DeviceTime(_CachedSuite):
    """Passes at their source's batch; if busy is far below 100 %, the host is the bottleneck."""

    param_names = ("model", "device", "implementation", "mode")

    def measure(self, model: str, device: str, implementation: str, mode: str) -> Measured:
        device_time = from_commit("measure.device_time", "device_time")
        skip_what_cannot_run(device, model)
        passes_of = from_commit("measure.passes", "passes")
        options = options_of(passes_of, implementation, mode=mode)
        passes = passes_of(model, device, **options)
        return {
            name: device_time(getattr(passes, name), device) for name in ("forward", "backward")
        }

    track_kernel_seconds_forward = tracked("forward", "kernel_seconds", unit="seconds")
    track_kernel_seconds_backward = tracked("backward", "kernel_seconds", unit="seconds")
    track_event_seconds_forward = tracked("forward", "event_seconds", unit="seconds")
    track_event_seconds_backward = tracked("backward", "event_seconds", unit="seconds")
    track_launches_forward = tracked("forward", "launches", unit="launches", exact=True)
    track_launches_backward = tracked("backward", "launches", unit="launches", exact=True)
    track_busy_forward = share("forward", "busy_share")
    track_busy_backward = share("backward", "busy_share")


class DeviceTime(_DeviceTime):
    """FluxBench's forecasting models and small image classifiers that are tuned."""

    params = (TIME_SERIES + TUNED_CNNS, ["cuda"], ["plain", "tuned"], ["eager", "cudagraph"])


class Forecasters(_DeviceTime):
    """Today's forecasters and ResNet-18, which have no tuned implementation."""

    params = (["resnet18_mnist", *FORECASTERS], ["cuda"], ["plain"], ["eager"])
