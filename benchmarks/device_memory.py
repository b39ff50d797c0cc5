"""Peak memory of the CUDA device, for the workloads that the other suites time."""

from torchspeed.devices import missing_device
from torchspeed.measure.passes import passes
from torchspeed.workloads import list_workloads

from . import flux_literal, small_cnns, time_series, torchvision_models

try:
    from torchspeed.measure.device_memory import device_peaks
except ModuleNotFoundError:  # a commit from before the device's memory was measured
    device_peaks = None


class _DeviceMemorySuite:
    """What tensors hold (allocated) and what was taken from the driver (reserved)."""

    version = "1"
    unit = "bytes"

    def setup(self, model, device, batch=None):
        if device_peaks is None:
            raise NotImplementedError("this commit cannot measure a device's memory")
        absent = missing_device(device)
        if absent:
            raise NotImplementedError(absent)
        if model not in list_workloads():
            raise NotImplementedError(f"this commit has no workload {model!r}")
        self.passes = passes(model, device, batch)

    def track_device_peak_allocated_forward(self, model, device, batch=None):
        """Most bytes in tensors during one inference."""
        return device_peaks(self.passes.forward, device).allocated

    def track_device_peak_allocated_backward(self, model, device, batch=None):
        """Most bytes in tensors during one forward pass and its gradient."""
        return device_peaks(self.passes.backward, device).allocated

    def track_device_peak_reserved_forward(self, model, device, batch=None):
        """Most bytes taken from the driver during one inference."""
        return device_peaks(self.passes.forward, device).reserved

    def track_device_peak_reserved_backward(self, model, device, batch=None):
        """Most bytes taken from the driver during one forward pass and its gradient."""
        return device_peaks(self.passes.backward, device).reserved


class DeviceMemory(_DeviceMemorySuite):
    """At the batch of each workload."""

    params = (
        time_series.TimeSeries.params[0]
        + flux_literal.FluxLiteral.params[0]
        + small_cnns.SmallCNNs.params[0],
        ["cuda"],
    )
    param_names = ("model", "device")


class TorchvisionDeviceMemory(_DeviceMemorySuite):
    """3x224x224 images in batches of 5 and 10."""

    params = (torchvision_models.TorchvisionModels.params[0], ["cuda"], [5, 10])
    param_names = ("model", "device", "batch")
