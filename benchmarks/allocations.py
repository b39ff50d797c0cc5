"""How often and how much memory every workload allocates: the same in every run on a CPU."""

import dataclasses

from . import work


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

        counted = {}
        models, devices = self.params
        for device in devices:
            absent = missing_device(device)
            for model in models:
                if absent:
                    counted[model, device] = {"skipped": absent}
                elif model in list_workloads():
                    try:
                        passes = Passes(model, device)
                        counted[model, device] = {
                            "forward": dataclasses.asdict(allocations(passes.forward, device)),
                            "backward": dataclasses.asdict(allocations(passes.backward, device)),
                        }
                    except Exception as error:  # one broken model must not hide the others
                        failed = f"{type(error).__name__}: {error}"
                        counted[model, device] = {"failed": failed}
        return counted

    setup_cache.timeout = 1800

    def setup(self, counted, model, device):
        if not counted:
            raise NotImplementedError("this commit does not count allocations")
        if (model, device) not in counted:
            raise NotImplementedError(f"this commit has no workload {model!r}")
        if "skipped" in counted[model, device]:
            raise NotImplementedError(counted[model, device]["skipped"])
        if "failed" in counted[model, device]:
            raise RuntimeError(counted[model, device]["failed"])

    def track_allocations_forward(self, counted, model, device):
        """Blocks that one inference asks for."""
        return counted[model, device]["forward"]["count"]

    def track_allocations_backward(self, counted, model, device):
        """Blocks of a forward pass in training mode and its gradients."""
        return counted[model, device]["backward"]["count"]

    track_allocations_forward.unit = track_allocations_backward.unit = "blocks"

    def track_allocated_forward(self, counted, model, device):
        """Bytes of the blocks of one inference, together."""
        return counted[model, device]["forward"]["size"]

    def track_allocated_backward(self, counted, model, device):
        """Bytes of the blocks of a forward pass in training mode and its gradients."""
        return counted[model, device]["backward"]["size"]

    track_allocated_forward.unit = track_allocated_backward.unit = "bytes"
