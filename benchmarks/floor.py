"""How far each pass is from its floor: the least time that its work can take on this machine.

The floor is the larger of a pass's FLOPs over the peak rate and the bytes that it must move over a
bandwidth. Both rates and the passes are measured in one process, interleaved.
"""

from ._cases import DEVICES, SMALL_CNNS, TIME_SERIES
from ._package import device_peak, from_commit, skip_what_cannot_run
from ._tracked import Measured, _CachedSuite, tracked


class _Floor(_CachedSuite):
    """The floor of a pass in seconds, and the time of the pass as a multiple of it.

    Each workload runs at its own batch; a backward pass includes its forward. Since version 2 the
    floor is that of the whole pass; before, of its operators and their dispatches.
    """

    code_version = "2"

    param_names = ("model", "device", "mode")

    def measure(self, model: str, device: str, mode: str) -> Measured:
        floor_of = from_commit("measure.floor", "floor_of")
        skip_what_cannot_run(device, model)
        return floor_of(model, device_peak(device), mode)

    track_floor_seconds_forward = tracked("forward", "floor_seconds", unit="seconds")
    track_floor_seconds_backward = tracked("backward", "floor_seconds", unit="seconds")
    track_times_floor_forward = tracked("forward", "times_floor", unit="times")
    track_times_floor_backward = tracked("backward", "times_floor", unit="times")


class Eager(_Floor):
    """Passes that run operator by operator; compiled ones, of suite modes, have the same floor."""

    params = (TIME_SERIES + SMALL_CNNS, DEVICES, ["eager"])
