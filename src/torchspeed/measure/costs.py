"""Measures what operators cost on a device: a dispatch, memory traffic, matrix products.

All are measured in torch, at the same number of threads and under the same load as the passes
that are compared with them, and can be measured again at any moment.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from torchspeed.measure.clocks import clock_for, seconds_per_call
from torchspeed.measure.operations import Product
from torchspeed.measure.peak import Peak

SMALLEST_TRAFFIC, LARGEST_TRAFFIC = 2**16, 2**28
"""Bytes read and written by the smallest and the largest copy that bandwidth is measured with.
A smaller copy takes little longer than its dispatch; the largest exceeds the caches."""

IMAGES, CHANNELS, SIZE, FILTER = 4, 256, 14, 3
"""Images, channels of images and results, rows and columns of an image, and of a filter: sizes of
an unpadded convolution that suit its kernels. oneDNN's reach almost twice the rate of MKL's matrix
products on an AMD processor with AVX-512."""
CONVOLUTION_FLOPS = 2 * IMAGES * (CHANNELS * FILTER * (SIZE - FILTER + 1)) ** 2

SAMPLE_SECONDS = 0.005
"""Shortest time for which a measurement repeats its call."""

_HIDDEN = 1.2
"""Work on a GPU that takes less than this many dispatches is hidden behind its dispatch."""


@dataclass(frozen=True)
class Costs:
    """Seconds and rates, measured together within about a second."""

    dispatch_seconds: float
    """Seconds of one operator on one number."""
    bytes_per_second: Mapping[int, float]
    """Bandwidth of copies, by the bytes that they read and write (`traffic_class`)."""
    product_seconds: Mapping[Product, float]
    """Seconds of products, without a dispatch."""
    flops_per_second: float
    """FLOP/s of the fastest square product or of a dense convolution, whichever is faster."""
    overlaps: bool = False
    """Whether the device works while the host dispatches, as a GPU does."""

    def moving(self, moved_bytes: int) -> float:
        """Return the seconds to read and write this many bytes together, without a dispatch."""
        if moved_bytes == 0:
            return 0.0
        return moved_bytes / self.bytes_per_second[traffic_class(moved_bytes)]

    def multiplying(self, products: Mapping[Product, int], other_flops: int) -> float:
        """Return the seconds of products, and of other FLOPs at the peak rate."""
        seconds = sum(times * self.product_seconds[p] for p, times in products.items())
        return seconds + other_flops / self.flops_per_second


def traffic_class(moved_bytes: int) -> int:
    """Return the nearest power of two, within the traffic that is measured."""
    nearest: int = 2 ** round(math.log2(moved_bytes))
    return min(max(nearest, SMALLEST_TRAFFIC), LARGEST_TRAFFIC)


class CostMeter:
    """Measures `Costs` for the sizes that it was made for, as often as asked."""

    def __init__(
        self, peak: Peak, moved_bytes: Iterable[int], products: Iterable[Product]
    ) -> None:
        """Allocate operands on the device of ``peak``, and choose the layouts of products.

        Args:
            peak: rate of FLOPs that belong to no matrix product.
            moved_bytes: numbers of bytes that `Costs.moving` will be called with.
            products: products that `Costs.multiplying` will be called with.
        """
        self._peak = peak
        self._clock = clock_for(peak.device.type)
        classes = sorted({traffic_class(moved) for moved in moved_bytes if moved})
        self._copies = {size: _copy(size // 2, peak.device) for size in classes}
        self._dispatch = _copy(1, peak.device)
        self._convolution = _convolution(peak.device)
        self._products = {product: self._fastest(product) for product in set(products)}

    @torch.inference_mode()
    def measure(self) -> Costs:
        """Measure everything once, now."""
        dispatch = self._seconds(self._dispatch)
        # A copy's and a product's own time is never 0, however much the machine was disturbed.
        least = 0.01 * dispatch

        overlaps = self._peak.device.type == "cuda"

        def beyond_dispatch(run: Callable[[], object]) -> float:
            seconds = self._seconds(run)
            if overlaps:  # many in a row take the longer of dispatch and work, not their sum
                return seconds if seconds > _HIDDEN * dispatch else least
            return max(seconds - dispatch, least)

        return Costs(
            dispatch_seconds=dispatch,
            bytes_per_second={
                size: size / beyond_dispatch(copy) for size, copy in self._copies.items()
            },
            product_seconds={
                product: beyond_dispatch(multiply) for product, multiply in self._products.items()
            },
            flops_per_second=max(
                self._peak.measure(), CONVOLUTION_FLOPS / self._seconds(self._convolution)
            ),
            overlaps=overlaps,
        )

    def _seconds(self, run: Callable[[], object]) -> float:
        return seconds_per_call(run, self._clock, SAMPLE_SECONDS)

    @torch.inference_mode()
    def _fastest(self, product: Product) -> Callable[[], object]:
        """Return the product with its operands by rows or by columns, whichever is fastest."""
        left = torch.randn(product.batch, product.rows, product.inner, device=self._peak.device)
        right = torch.randn(product.batch, product.inner, product.columns, device=left.device)
        layouts = [
            _multiplication(first, second)
            for first in (left, _by_columns(left))
            for second in (right, _by_columns(right))
        ]
        return min(layouts, key=self._seconds)


def _copy(size: int, device: torch.device) -> Callable[[], object]:
    """Return a copy of this many bytes; 1 stands for a single number."""
    numbers = max(1, size // 4)
    source, target = torch.zeros(2, numbers, device=device)
    return lambda: target.copy_(source)


def _convolution(device: torch.device) -> Callable[[], object]:
    images = torch.randn(IMAGES, CHANNELS, SIZE, SIZE, device=device)
    filters = torch.randn(CHANNELS, CHANNELS, FILTER, FILTER, device=device)
    return lambda: torch.conv2d(images, filters)


def _multiplication(left: Tensor, right: Tensor) -> Callable[[], object]:
    if left.shape[0] == 1:
        first, second = left[0], right[0]
        out = torch.mm(first, second)
        return lambda: torch.mm(first, second, out=out)
    out = torch.bmm(left, right)
    return lambda: torch.bmm(left, right, out=out)


def _by_columns(matrices: Tensor) -> Tensor:
    return matrices.transpose(1, 2).contiguous().transpose(1, 2)
