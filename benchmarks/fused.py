"""Forecasting models in torch's fused kernels, written to launch fewer of them on a GPU."""

from ._cases import FUSED
from ._package import from_commit
from ._suite import _TimedPasses


class Fused(_TimedPasses):
    """Beside suites `plain` and `time_series`; LSTNet's tuned model is already of this kind."""

    params = (FUSED, ["cuda"], ["eager", "cudagraph"])
    param_names = ("model", "device", "mode")
    implementation = "fused"

    def setup(self, model: str, device: str, mode: str) -> None:
        """Skip commits from before there were such models."""
        from_commit("models", "list_implementations")
        super().setup(model, device, mode)
