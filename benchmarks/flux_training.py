"""FluxArchitectures' own benchmark: five Adam steps on 500 samples of 137 solar plants.

(batch, window, features) is (500, 10, 137); the numbers are drawn, not the plants': they
change no time. ``…_solar`` are the papers' models, ``…_solar_literal`` do Flux's work
(docs/models.md).
"""

import time

from torchspeed.devices import missing_device
from torchspeed.measure.clocks import CLOCK_NAMES, clock_for
from torchspeed.workloads import list_workloads

try:
    from torchspeed.measure.threads import use_all_cores
    from torchspeed.training.cases import adam_steps
except ImportError:  # an older commit, or an environment without what training needs
    adam_steps = None


class _FluxTraining:
    """Sizes of the source: states of 10 (LSTNet: 2 filters, states of 3; DSANet as it is)."""

    version = "1"
    param_names = ("model", "device", "threads")
    rounds = 3
    number = 1
    repeat = (1, 20, 2.5)
    warmup_time = 0.1  # s: one call
    timeout = 900

    def setup(self, model, device, threads):
        if adam_steps is None or model not in list_workloads():
            raise NotImplementedError(f"this commit has no workload {model!r}")
        absent = missing_device(device)
        if absent:
            raise NotImplementedError(absent)
        self.timer = clock_for(device)
        self.training = adam_steps(model, device)


class FluxTraining(_FluxTraining):
    """On one thread of the CPU, or on the GPU."""

    params = (
        [
            "darnn_solar",
            "dsanet_solar",
            "lstnet_solar",
            "tpa_lstm_solar",
            "darnn_solar_literal",
            "dsanet_solar_literal",
            "lstnet_solar_literal",
            "tpa_lstm_solar_literal",
        ],
        ["cpu", "cuda"],
        [1],
    )

    def time_five_steps(self, model, device, threads):
        """From fresh parameters and a fresh optimiser, in seconds."""
        self.training.run()

    time_five_steps.clocks = CLOCK_NAMES

    def peakmem_five_steps(self, model, device, threads):
        """Peak resident memory of a process that imports torch and trains so, in bytes."""
        self.training.run()


class AllCores(_FluxTraining):
    """On all cores of the CPU, by the clock on the wall.

    Flux-literal models run sample after sample: there is nothing for a second core.
    """

    params = (["darnn_solar", "dsanet_solar", "lstnet_solar", "tpa_lstm_solar"], ["cpu"], ["all"])

    def setup(self, model, device, threads):
        super().setup(model, device, threads)
        use_all_cores()
        self.timer = time.perf_counter  # CPU time would add the cores up

    def time_five_steps(self, model, device, threads):
        """From fresh parameters and a fresh optimiser, in seconds."""
        self.training.run()

    time_five_steps.clocks = dict.fromkeys(CLOCK_NAMES, "wall time")
