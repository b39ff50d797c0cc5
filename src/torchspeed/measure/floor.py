"""A lower bound of the time of a pass: its FLOPs over a rate, or its bytes over a bandwidth.

The larger of the two counts, as in the roofline model (S. Williams, A. Waterman, D. Patterson,
"Roofline: an insightful visual performance model for multicore architectures", CACM 52 (2009),
doi:10.1145/1498765.1498785).
"""

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch

from torchspeed.measure.clocks import clock_for, interleaved, seconds_per_call
from torchspeed.measure.passes import passes
from torchspeed.measure.peak import Peak
from torchspeed.measure.work import work_of

SMALLEST_COPY = {"cpu": 2**18, "cuda": 2**26}
"""Bytes read and written by the smallest copy that a bandwidth is measured with; a smaller one
takes little longer than calling it."""

IMAGES, CHANNELS, SIZE, FILTER = 4, 256, 14, 3
"""Images, channels of images and results, rows and columns of an image, and of a filter: sizes of
an unpadded convolution that suit its kernels. oneDNN's reach almost twice the rate of MKL's matrix
products on an AMD processor with AVX-512."""
CONVOLUTION_FLOPS = 2 * IMAGES * (CHANNELS * FILTER * (SIZE - FILTER + 1)) ** 2


class PassWork(NamedTuple):
    """The least that a pass has to do."""

    flops: int
    moved_bytes: int
    """Bytes of parameters, inputs and results; backward also of activations, twice."""


@dataclass(frozen=True)
class Floor:
    """The floor of a pass and the ratio of its time to it: medians over the rounds."""

    floor_seconds: float
    times_floor: float


def floor_of(
    workload: str, peak: Peak, mode: str = "eager", batch: int | None = None
) -> dict[str, Floor]:
    """Time both passes of a workload, interleaved with what their floors are made of.

    Returns those of ``forward`` and ``backward``, which includes its forward. The passes run on
    the device of the peak; the floor is the same in every mode.

    Raises:
        ValueError: no such workload or mode, or a batch below 1.
    """
    work = work_of(workload, batch)
    resident = work.parameter_bytes + work.input_bytes
    works = {
        "forward": PassWork(work.forward.flops, resident + work.output_bytes),
        # The gradients of parameters and inputs are as large as these.
        "backward": PassWork(work.backward.flops, 2 * (resident + work.activation_bytes)),
    }
    timed = passes(workload, str(peak.device), batch, mode)
    runs = {"forward": timed.forward, "backward": timed.backward}
    measured = interleaved(runs, floors_on(peak, works), str(peak.device))
    return {
        name: Floor(
            floor_seconds=statistics.median(floor for _, floor in pairs),
            times_floor=statistics.median(seconds / floor for seconds, floor in pairs),
        )
        for name, pairs in measured.items()
    }


def floors_on(peak: Peak, works: Mapping[str, PassWork]) -> Callable[[], dict[str, float]]:
    """Return a function that measures the device now and returns the floor of each pass, seconds.

    FLOPs run at the rate of the fastest square product or of a dense convolution, whichever is
    faster; bytes move as in a copy of as many, so from the same cache.
    """
    device, clock = peak.device, clock_for(peak.device.type)
    images = torch.randn(IMAGES, CHANNELS, SIZE, SIZE, device=device)
    filters = torch.randn(CHANNELS, CHANNELS, FILTER, FILTER, device=device)
    buffers = {}
    for name, work in works.items():
        size = max(work.moved_bytes, SMALLEST_COPY[device.type])
        buffers[name] = torch.zeros(2, size // 8, device=device)

    def floors() -> dict[str, float]:
        convolving = seconds_per_call(lambda: torch.conv2d(images, filters), clock)
        rate = max(peak.measure(), CONVOLUTION_FLOPS / convolving)
        found = {}
        for name, work in works.items():
            source, target = buffers[name]
            copying = seconds_per_call(partial(target.copy_, source), clock)
            bandwidth = buffers[name].nbytes / copying
            found[name] = max(work.flops / rate, work.moved_bytes / bandwidth)
        return found

    return floors
