"""How far a pass is from its floor: what its products, its traffic and its dispatches cost.

Passes and costs are measured in one process, in turn. Other cases look their values up and need
no torch.
"""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from . import modes
from ._cases import DEVICES, SMALL_CNNS, TIME_SERIES
from ._package import from_commit, skip_what_cannot_run
from ._suite import _Suite
from ._tracked import (
    Measured,
    Outcomes,
    _MeasuredOnce,
    measured_once,
    stopped_after,
    tracked,
)


@lru_cache
def _peak(device: str) -> Any:
    # cuDNN's convolutions take TF32 by default, and only they are held against the peak.
    return from_commit("measure.peak", "Peak")(device, tf32=device == "cuda")


def _floor(model: str, device: str, mode: str) -> Measured:
    """Time both passes in turn with what they consist of."""
    floor_of = from_commit("measure.floor", "floor_of")
    skip_what_cannot_run(device, model)
    floor: Measured = dataclasses.asdict(floor_of(model, _peak(device), mode))
    return floor


class _Floor(_Suite):
    """Seconds that a pass takes at least on this machine, and its own time as a multiple of them.

    Each workload runs at its own batch; a backward pass includes its forward.
    """

    param_names = ("model", "device", "mode")
    position = 9

    measured: Measured

    track_floor_seconds_forward = tracked("forward", "floor_seconds", unit="seconds")
    track_floor_seconds_backward = tracked("backward", "floor_seconds", unit="seconds")
    track_times_floor_forward = tracked("forward", "times_floor", unit="times")
    track_times_floor_backward = tracked("backward", "times_floor", unit="times")


class Eager(_Floor, _MeasuredOnce):
    """Of every operator by itself: products or traffic, and a dispatch."""

    params = (TIME_SERIES + SMALL_CNNS, DEVICES, ["eager"])
    short = True

    def measure(self, model: str, device: str, mode: str) -> Measured:
        """Measure one case."""
        return _floor(model, device, mode)

    @stopped_after(1200)
    def setup_cache(self) -> Outcomes:
        return self.measure_all()


class Compiled(_Floor):
    """Of the pass as a whole: all products, or parameters, inputs, results and activations.

    The passes are compiled as `modes.Compilation` tracks it, once a run for both suites.
    """

    params = (TIME_SERIES + SMALL_CNNS, DEVICES, ["compiled"])
    timeout = modes.Compilation.timeout
    setup_cache = staticmethod(modes.setup_cache)

    def setup(self, folder: str, model: str, device: str, mode: str) -> None:
        """Measure all values of a case, or read them where another has done so."""

        def measure() -> Measured:
            modes.compile_once(folder, model, device)
            import_module("torch").compiler.reset()  # what was compiled here is loaded instead
            modes.use_compiled_code(folder, model, device)
            return _floor(model, device, mode)

        self.measured = measured_once(Path(folder, f"floor-{model}-{device}.json"), measure)
