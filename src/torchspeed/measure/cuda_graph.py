"""A pass as one CUDA graph: its kernels are recorded once and launched together afterwards.

The recurrent models are bound by launches: dozens to hundreds of kernels of a few
microseconds each, one call from Python after the other. A graph launches them all in one
call. In exchange every shape and every address is fixed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch

T = TypeVar("T")

WARM_UPS = 3
"""Runs before a capture, as ``torch.cuda.make_graphed_callables`` has them: libraries choose
kernels and make their workspaces, which a capture must not see."""


def capture(run: Callable[[], T], device: torch.device) -> tuple[Callable[[], None], T]:
    """Record a function that never synchronises as a graph, after a warm-up on its own stream.

    Returns:
        A function that replays the graph, and the results of the work. They hold no values
        before the first replay, and every replay overwrites them.
    """
    current, side = torch.cuda.current_stream(device), torch.cuda.Stream(device)
    side.wait_stream(current)
    with torch.cuda.stream(side):
        for _ in range(WARM_UPS):
            run()
    current.wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.device(device), torch.cuda.graph(graph):
        results = run()
    return graph.replay, results
