"""FluxArchitectures' own benchmark: five Adam steps on 500 samples of 137 solar plants.

(batch, window, features) is (500, 10, 137). Values are random, which does not
affect times. ``…_solar`` are the papers' models, ``…_solar_literal`` do Flux's work
(docs/models.md).
"""

from typing import Any

from ._cases import DEVICES, SOLAR, SOLAR_LITERAL
from ._package import from_commit, skip_what_cannot_run
from ._suite import _TimedSuite


class _FluxTraining(_TimedSuite):
    """Five Adam steps at the sizes of the source.

    Hidden states have size 10; LSTNet has 2 filters and states of size 3, and DSANet keeps its
    defaults. Each run starts from fresh parameters and a fresh optimiser.
    """

    param_names = ("model", "device", "threads")
    number = 1
    repeat = (1, 20, 0.5)
    warmup_time = 0.1  # s: one call
    timeout = 900

    def setup(self, model: str, device: str, threads: Any) -> None:
        skip_what_cannot_run(device, model)
        self.training = from_commit("training.cases", "adam_steps")(model, device)
        self.choose_clock(device)

    def time_five_steps(self, model: str, device: str, threads: Any) -> None:
        """Train five steps."""
        self.training.run()


class FluxTraining(_FluxTraining):
    """Five steps on one thread of the CPU, or on the GPU."""

    params = (SOLAR + SOLAR_LITERAL, DEVICES, [1])

    def peakmem_five_steps(self, model: str, device: str, threads: int) -> None:
        """Peak host memory, in bytes, of the process that trains, on CUDA too."""
        self.training.run()


class AllCores(_FluxTraining):
    """Five steps on all cores of the CPU, by wall time.

    Flux-literal models are left out: they run sample after sample, which takes one core.
    """

    params = (SOLAR, ["cpu"], ["all"])

    def setup(self, model: str, device: str, threads: str) -> None:
        super().setup(model, device, threads)
        self.use_all_cores()
