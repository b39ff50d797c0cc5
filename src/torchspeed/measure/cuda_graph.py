"""A pass as one CUDA graph: its kernels recorded once and launched together ever after.

The recurrent models are bound by launches: dozens to hundreds of kernels of a few
microseconds each, one call from Python after the other. A graph launches them all in one
call. In exchange every shape and every address is fixed, so inputs are copied into the
buffers that the graph reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import torch
from torch import Tensor

T = TypeVar("T")
Replay = Callable[[], None]

WARM_UPS = 3
"""Runs before a capture, as ``torch.cuda.make_graphed_callables`` has them: libraries choose
kernels and make their workspaces, which a capture must not see."""


class CudaCapturer:
    """Captures on a stream of its own, as CUDA demands, of one device."""

    def __init__(self, device: str) -> None:
        self._device = torch.device(device)

    def warm_up(self, run: Callable[[], object]) -> None:
        """Run the work `WARM_UPS` times on a side stream, so that a capture does not see it."""
        current = torch.cuda.current_stream(self._device)
        side = torch.cuda.Stream(self._device)
        side.wait_stream(current)
        with torch.cuda.stream(side):
            for _ in range(WARM_UPS):
                run()
        current.wait_stream(side)

    def capture(self, run: Callable[[], T]) -> tuple[Replay, T]:
        """Record the work once, into a graph with a memory pool of its own.

        Returns:
            What runs it again, and its static results. They hold no values before the first
            replay, and every replay writes over them.
        """
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.device(self._device), torch.cuda.graph(graph):
            results = run()
        return graph.replay, results


class Captured(Generic[T]):
    """Work on static buffers: captured at the first call, replayed at every call.

    Args:
        name: what the work is, for messages.
        run: the work; reads ``buffers``, returns its results, waits for nothing.
        buffers: the tensors that change between calls.
        capturer: what captures.
    """

    def __init__(
        self, name: str, run: Callable[[], T], buffers: tuple[Tensor, ...], capturer: CudaCapturer
    ) -> None:
        self._name = name
        self._run = run
        self._buffers = buffers
        self._capturer = capturer
        self._captured: tuple[Replay, T] | None = None

    @torch.no_grad()
    def _fill(self, values: tuple[Tensor, ...]) -> None:
        for buffer, value in zip(self._buffers, values, strict=True):
            if value.shape != buffer.shape:
                raise ValueError(
                    f"the CUDA graph of {self._name} takes {tuple(buffer.shape)}, "
                    f"got {tuple(value.shape)}: shapes are fixed when a graph is captured; "
                    "capture another for another batch"
                )
            buffer.copy_(value)

    def __call__(self, *values: Tensor) -> T:
        """Copy ``values`` into the buffers, run, and return the results.

        They are the graph's own: the next call writes over them.

        Raises:
            ValueError: a value has not its buffer's shape.
            RuntimeError: the work cannot be captured.
        """
        self._fill(values)
        if self._captured is None:
            self._captured = self._capture()
        replay, results = self._captured
        replay()
        return results

    def _capture(self) -> tuple[Replay, T]:
        self._capturer.warm_up(self._run)
        try:
            return self._capturer.capture(self._run)
        except RuntimeError as error:
            first_line = str(error).partition("\n")[0]
            raise RuntimeError(
                f"{self._name} cannot be captured as a CUDA graph ({first_line}); captured work "
                "must not wait for the device (.item(), .cpu(), printing) nor choose shapes by "
                "values; use mode 'eager' or 'compiled'"
            ) from error
