"""The four figures of every model: time and peak memory, forward and backward."""

from torchspeed.devices import missing_device
from torchspeed.measure.clocks import CLOCK_NAMES, clock_for
from torchspeed.measure.passes import passes
from torchspeed.workloads import list_workloads


class _Recipe:
    """How a case is timed (docs/measuring.md).

    A change of `version` says that figures before and after do not compare.
    """

    version = "1"
    rounds = 3  # processes a case is measured in
    repeat = (3, 20, 2.5)  # samples a round: at least, at most, seconds to stop after
    sample_time = 0.02  # s: short calls are timed in batches of this length
    warmup_time = 0.2  # s


class _ModelSuite(_Recipe):
    """Times and weighs each case of `params`; parameters are model, device and maybe batch."""

    def setup(self, model, device, batch=None):
        absent = missing_device(device)
        if absent:
            raise NotImplementedError(absent)
        if model not in list_workloads():
            raise NotImplementedError(f"this commit has no workload {model!r}")
        self.timer = clock_for(device)
        self.passes = passes(model, device, batch)

    def time_forward(self, model, device, batch=None):
        """One inference, in seconds."""
        self.passes.forward()

    def time_backward(self, model, device, batch=None):
        """One forward pass and the gradient by parameters and input, in seconds."""
        self.passes.backward()

    time_forward.clocks = time_backward.clocks = CLOCK_NAMES

    def peakmem_forward(self, model, device, batch=None):
        """Peak resident memory of a process that imports torch and infers once, in bytes."""
        self.passes.forward()

    def peakmem_backward(self, model, device, batch=None):
        """Peak resident memory of a process that imports torch and does one backward pass."""
        self.passes.backward()
