"""Peak memory of a CUDA device during one pass."""

from collections.abc import Callable
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class DevicePeaks:
    """The most that torch's caching allocator held at any moment of one pass."""

    allocated: int
    """Bytes in tensors: parameters, inputs, activations, workspaces."""
    reserved: int
    """Bytes taken from the driver: the above, and what is lost to fragmentation and rounding."""


def device_peaks(run: Callable[[], object], device: str) -> DevicePeaks:
    """Run a pass twice on ``device`` and read the second's peaks.

    The first run allocates what stays (parameters on the device, workspaces of cuBLAS and
    cuDNN). Memory that only it needed is given back before the second; otherwise the reserve
    would be that of the warm-up.
    """
    run()
    torch.cuda.synchronize(device)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats(device)
    run()
    torch.cuda.synchronize(device)
    return DevicePeaks(
        allocated=torch.cuda.max_memory_allocated(device),
        reserved=torch.cuda.max_memory_reserved(device),
    )
