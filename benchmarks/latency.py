"""Latency of a single forecast or classification: a batch of one."""

from ._cases import DEVICES, PLAIN
from ._compiled import TIMEOUT
from ._package import from_commit, skip_what_cannot_run
from ._suite import skipped
from ._tracked import Measured, _CachedSuite, tracked

_no_graph = skipped(
    [(model, "cpu", "cudagraph") for model in PLAIN]
    + [(model, "cuda", "cudagraph") for model in ("timesnet", "encoder_decoder")],
    because="CUDA graphs need a GPU, and a model that never copies a value to the host",
)


class Latency(_CachedSuite):
    """Wall time of single inferences of plain models, each until its result is available.

    The 99th percentile is what one call in a hundred exceeds.
    """

    params = (PLAIN, DEVICES, ["eager", "compiled", "cudagraph"])
    param_names = ("model", "device", "mode")
    timeout = TIMEOUT

    def measure(self, model: str, device: str, mode: str) -> Measured:
        """Time up to 2,000 calls in one process, compiled anew where that is the mode."""
        latency_of = from_commit("measure.latency", "latency_of")
        skip_what_cannot_run(device, model, compiled=mode == "compiled")
        return latency_of(model, device, mode)

    track_median = _no_graph(tracked("median_seconds", unit="seconds"))
    track_percentile_99 = _no_graph(tracked("percentile_99_seconds", unit="seconds"))
