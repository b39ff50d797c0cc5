"""Peak memory of the CUDA device, for the workloads that the other suites time."""

from collections.abc import Callable
from typing import Any

from ._cases import FLUX_LITERAL, PLAIN, TORCHVISION
from ._package import from_commit
from ._suite import _PassSuite


def _peak(pass_name: str, kind: str) -> Callable[..., int]:
    def track(self: _PassSuite, model: str, device: str, *batch: int) -> int:
        peaks = from_commit("measure.device_memory", "device_peaks")
        return int(getattr(peaks(getattr(self.passes, pass_name), device), kind))

    return track


class _DeviceMemorySuite(_PassSuite):
    """Bytes in tensors (allocated) and bytes taken from the driver (reserved)."""

    unit = "bytes"

    def setup(self, *case: Any) -> None:
        from_commit("measure.device_memory", "device_peaks")
        super().setup(*case)

    track_device_peak_allocated_forward = _peak("forward", "allocated")
    track_device_peak_allocated_backward = _peak("backward", "allocated")
    track_device_peak_reserved_forward = _peak("forward", "reserved")
    track_device_peak_reserved_backward = _peak("backward", "reserved")


class DeviceMemory(_DeviceMemorySuite):
    """The workloads at the batch of their sources."""

    params = (PLAIN + FLUX_LITERAL, ["cuda"])
    param_names = ("model", "device")


class TorchvisionDeviceMemory(_DeviceMemorySuite):
    """torchvision's classifiers on 5 and 10 images of 3x224x224."""

    params = (TORCHVISION, ["cuda"], [5, 10])
    param_names = ("model", "device", "batch")
