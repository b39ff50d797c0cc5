"""How often and how much memory every workload allocates: the same in every run on a CPU."""

from __future__ import annotations

import dataclasses

from ._cases import DEVICES, FLUX_LITERAL, SMALL_CNNS, TIME_SERIES, TORCHVISION
from ._package import from_commit, skip_what_cannot_run
from ._tracked import Measured, _MeasuredOnce, tracked


class Allocations(_MeasuredOnce):
    """Blocks and bytes that torch's allocators hand out in one pass at a workload's own batch.

    Bytes are those of all blocks together; a backward pass includes a forward pass in
    training mode.
    """

    params = (TIME_SERIES + FLUX_LITERAL + SMALL_CNNS + TORCHVISION, DEVICES)
    param_names = ("model", "device")

    def measure(self, model: str, device: str) -> Measured:
        """Count both passes."""
        count = from_commit("measure.allocations", "allocations")
        skip_what_cannot_run(device, model)
        passes = from_commit("measure.passes", "Passes")(model, device)
        return {
            "forward": dataclasses.asdict(count(passes.forward, device)),
            "backward": dataclasses.asdict(count(passes.backward, device)),
        }

    track_allocations_forward = tracked("forward", "count", unit="blocks", exact=True)
    track_allocations_backward = tracked("backward", "count", unit="blocks", exact=True)
    track_allocated_forward = tracked("forward", "size", unit="bytes", exact=True)
    track_allocated_backward = tracked("backward", "size", unit="bytes", exact=True)
