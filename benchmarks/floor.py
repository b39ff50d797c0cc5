"""How far a pass is from its floor: what its products, its traffic and its dispatches cost.

Passes and costs are measured in one process, in turn. The cases look their values up and need
no torch.
"""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from pathlib import Path
from typing import Any

from ._cases import DEVICES, SMALL_CNNS, TIME_SERIES
from ._package import from_commit, skip_what_cannot_run
from ._tracked import Measured, Outcomes, _MeasuredOnce, stopped_after, tracked


@lru_cache
def _peak(device: str) -> Any:
    # cuDNN's convolutions take TF32 by default, and only they are held against the peak.
    return from_commit("measure.peak", "Peak")(device, tf32=device == "cuda")


class _Floor(_MeasuredOnce):
    """Seconds that a pass takes at least on this machine, and its own time as a multiple of them.

    Each workload runs at its own batch; a backward pass includes its forward.
    """

    param_names = ("model", "device", "mode")
    position = 9

    def measure(self, model: str, device: str, mode: str) -> Measured:
        """Time both passes in turn with what they consist of."""
        floor_of = from_commit("measure.floor", "floor_of")
        skip_what_cannot_run(device, model)
        return dataclasses.asdict(floor_of(model, _peak(device), mode))

    track_floor_seconds_forward = tracked("forward", "floor_seconds", unit="seconds")
    track_floor_seconds_backward = tracked("backward", "floor_seconds", unit="seconds")
    track_times_floor_forward = tracked("forward", "times_floor", unit="times")
    track_times_floor_backward = tracked("backward", "times_floor", unit="times")


class Eager(_Floor):
    """Of every operator by itself: products or traffic, and a dispatch."""

    params = (TIME_SERIES + SMALL_CNNS, DEVICES, ["eager"])
    short = True

    @stopped_after(1200)
    def setup_cache(self) -> Outcomes:
        return self.measure_all()


class Compiled(_Floor):
    """Of the pass as a whole: all products, or parameters, inputs, results and activations."""

    params = (TIME_SERIES + SMALL_CNNS, DEVICES, ["compiled"])

    def measure(self, model: str, device: str, mode: str) -> Measured:
        """Time both compiled passes, where this machine can compile."""
        unable = from_commit("measure.compilation", "cannot_compile")(device)
        if unable:
            raise NotImplementedError(unable)
        from_commit("measure.compilation", "keep_code_in")(Path.cwd())  # which asv removes
        return super().measure(model, device, mode)

    @stopped_after(3600)
    def setup_cache(self) -> Outcomes:
        return self.measure_all()
