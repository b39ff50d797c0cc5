"""How often and how much memory every workload allocates: the same in every run on a CPU."""

import dataclasses

from . import work
from ._once import look_up, measure_each


class Allocations:
    """Blocks and bytes that torch's allocators hand out in one pass at a workload's own batch."""

    version = "1"
    params = (work.Work.params[0], ["cpu", "cuda"])
    param_names = ("model", "device")

    def setup_cache(self):
        """Count everything in one process; the cases look it up and need no torch."""
        try:
            from torchspeed.measure.allocations import allocations  # noqa: PLC0415 - old commits
        except ImportError:
            return {}
        from torchspeed.devices import missing_device  # noqa: PLC0415 - imports torch
        from torchspeed.measure.passes import Passes  # noqa: PLC0415 - imports torch
        from torchspeed.workloads import list_workloads  # noqa: PLC0415 - imports torch

        def measure(case):
            model, device = case
            absent = missing_device(device)
            if absent:
                raise NotImplementedError(absent)
            if model not in list_workloads():
                raise NotImplementedError(f"this commit has no workload {model!r}")
            passes = Passes(model, device)
            return {
                "forward": dataclasses.asdict(allocations(passes.forward, device)),
                "backward": dataclasses.asdict(allocations(passes.backward, device)),
            }

        models, devices = self.params
        return measure_each([(m, d) for d in devices for m in models], measure)

    setup_cache.timeout = 1800

    def setup(self, counted, model, device):
        if not counted:
            raise NotImplementedError("this commit does not count allocations")
        self.counted = look_up(counted, (model, device))

    def track_allocations_forward(self, counted, model, device):
        """Blocks that one inference asks for."""
        return self.counted["forward"]["count"]

    def track_allocations_backward(self, counted, model, device):
        """Blocks of a forward pass in training mode and its gradients."""
        return self.counted["backward"]["count"]

    track_allocations_forward.unit = track_allocations_backward.unit = "blocks"

    def track_allocated_forward(self, counted, model, device):
        """Bytes of the blocks of one inference, together."""
        return self.counted["forward"]["size"]

    def track_allocated_backward(self, counted, model, device):
        """Bytes of the blocks of a forward pass in training mode and its gradients."""
        return self.counted["backward"]["size"]

    track_allocated_forward.unit = track_allocated_backward.unit = "bytes"
