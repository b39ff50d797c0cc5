"""The rate a device reaches in a large matrix product: its own measured peak.

A vendor's peak is clock rate times units, which no program reaches. A model is compared with the
rate of a square product of float32 matrices in torch, with the same number of threads and under
the same load: its share of that rate says how much of the device the model's *products* use.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial

import torch

from torchspeed.devices import require_device
from torchspeed.measure.clocks import clock_for, seconds_per_call

SIZES = {"cpu": (512, 1024, 2048), "cuda": (2048, 4096, 8192)}
"""Rows of the matrices that are tried: the smallest lie in a core's cache, the largest
fill a large GPU."""

TRIALS = 3
"""How often each size is tried."""


class Peak:
    """The fastest of several square products of float32 matrices, ready to be timed again.

    With ``tf32`` the products may round to TensorFloat-32, which CUDA devices from compute
    capability 8.0 on multiply several times as fast. Torch lets cuDNN's convolutions do so by
    default and plain matrix products not. ``size`` is the rows of the fastest.
    """

    def __init__(
        self, device: str, *, tf32: bool = False, sizes: Sequence[int] | None = None
    ) -> None:
        """Try every size, those of `SIZES` by default, and keep the fastest.

        Raises:
            ValueError: no such device here, or TF32 asked of a CPU.
        """
        self.device = require_device(device)
        if tf32 and self.device.type != "cuda":
            raise ValueError(f"tf32 is for CUDA devices, not for {device!r}: leave it out")
        self.tf32 = tf32
        self._clock = clock_for(device)
        rates = {}
        for size in sizes or SIZES[self.device.type]:
            self._allocate(size)
            rates[size] = max(self.measure() for _ in range(TRIALS))
        self._allocate(max(rates, key=rates.__getitem__))

    def measure(self) -> float:
        """Time the product now, on the clock of the device, in FLOP/s."""
        with _tf32(self.tf32) if self.device.type == "cuda" else nullcontext():
            product = partial(torch.mm, self._left, self._right, out=self._out)
            seconds = seconds_per_call(product, self._clock)
        return 2 * self.size**3 / seconds

    def _allocate(self, size: int) -> None:
        generator = torch.Generator().manual_seed(0)
        left, right = torch.randn(2, size, size, generator=generator).to(self.device)
        self.size = size
        self._left, self._right, self._out = left, right, torch.empty_like(left)


@contextmanager
def _tf32(allowed: bool) -> Iterator[None]:
    matmul = torch.backends.cuda.matmul
    before = matmul.fp32_precision
    matmul.fp32_precision = "tf32" if allowed else "ieee"
    try:
        yield
    finally:
        matmul.fp32_precision = before
