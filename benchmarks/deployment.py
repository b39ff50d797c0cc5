"""Plain forecasters exported with a dynamic batch and compiled ahead of time.

Suite plain_compiled has them compiled by ``torch.compile``, with that cost.
"""

from pathlib import Path

from ._cases import DEVICES, FORECASTERS, TIME_SERIES
from ._compiled import TIMEOUT
from ._package import from_commit, skip_what_cannot_run
from ._suite import _TimedSuite
from ._tracked import Measured, _CachedSuite, tracked

MODELS = TIME_SERIES + FORECASTERS


class Export(_CachedSuite):
    """Seconds of exporting, and graphs that ``torch.compile`` traces for four batches."""

    params = (MODELS, ["cpu"])
    param_names = ("model", "device")

    def measure(self, model: str, device: str) -> Measured:
        deployment_of = from_commit("measure.deployment", "deployment_of")
        skip_what_cannot_run(device, model)
        return deployment_of(model, device)

    track_export_seconds = tracked("export_seconds", unit="seconds")
    track_graphs = tracked("graphs", unit="graphs", exact=True)


class AheadOfTime(_TimedSuite):
    """The forward pass that AOTInductor compiled; a run compiles it once.

    Compiling takes 10 to 14 s of CPU time for most models, 25 s for DA-RNN. TimesNet is left out,
    because torch 2.15 computes its convolutions wrongly (docs/findings.md).
    """

    params = ([model for model in MODELS if model != "timesnet"], DEVICES)
    param_names = ("model", "device")
    rounds = 1
    timeout = TIMEOUT

    setup_cache = _CachedSuite.setup_cache

    def setup(self, folder: str, model: str, device: str) -> None:
        ahead_of_time = from_commit("measure.deployment", "ahead_of_time")
        skip_what_cannot_run(device, model, compiled=True)
        self.forward = ahead_of_time(model, device, Path(folder))
        self.choose_clock(device)

    def time_forward(self, folder: str, model: str, device: str) -> None:
        """One inference."""
        self.forward()
