"""Training: a step of every workload, epochs, phases, data loading, time to accuracy.

Times of data loading are wall time: workers load in processes of their own.
"""

import time
from importlib.util import find_spec
from itertools import product

from asv_runner.benchmarks.mark import skip_for_params

from torchspeed.devices import missing_device
from torchspeed.measure.clocks import CLOCK_NAMES, clock_for
from torchspeed.workloads import list_workloads

from ._once import look_up, measure_each
from ._suite import _Recipe

try:
    from torchspeed.training import cases
except ImportError:  # an older commit, or an environment without what training needs
    cases = None

DEVICES = ["cpu", "cuda"]


def _skip_what_cannot_run(device):
    if cases is None:
        raise NotImplementedError("this commit has no training")
    absent = missing_device(device)
    if absent:
        raise NotImplementedError(absent)


class TrainingStep(_Recipe):
    """Forward, loss, gradient and SGD on one batch of a workload that lies on the device."""

    params = (
        [
            "darnn",
            "dsanet",
            "lstnet",
            "tpa_lstm",
            "flux_cnn",
            "lenet5",
            "resnet18_mnist",
            "resnet18",
            "resnet34",
            "resnet50",
            "densenet121",
            "googlenet",
            "vgg19",
            "squeezenet1_1",
        ],
        DEVICES,
    )
    param_names = ("model", "device")

    def setup(self, model, device):
        _skip_what_cannot_run(device)
        if model not in list_workloads():
            raise NotImplementedError(f"this commit has no workload {model!r}")
        self.timer = clock_for(device)
        self.training = cases.training(model, device)

    def time_step(self, model, device):
        """One training step, in seconds."""
        self.training.step()

    time_step.clocks = CLOCK_NAMES


class FluxCNNEpoch:
    """The epoch of "GPU vs CPU benchmarks with Flux.jl": 50 batches of 1,000 images."""

    params = (DEVICES,)
    param_names = ("device",)
    version = "1"
    rounds = 1
    number = 1
    repeat = (1, 3, 10.0)
    warmup_time = 0

    def setup(self, device):
        _skip_what_cannot_run(device)
        self.timer = clock_for(device)
        self.training = cases.training("flux_cnn", device, batches=50)

    def time_epoch(self, device):
        """One epoch with the batches ready on the device, in seconds."""
        self.training.epoch()

    time_epoch.clocks = CLOCK_NAMES


class DataLoading:
    """512 dummy images of 3x64x64 in batches of 64, loaded by workers that run already."""

    params = ([0, 1, 2],)
    param_names = ("workers",)
    version = "1"
    rounds = 1
    number = 1
    repeat = (5, 20, 4.0)
    warmup_time = 0
    timer = time.perf_counter

    def setup(self, workers):
        _skip_what_cannot_run("cpu")
        self.loading = cases.loading(workers)

    def time_load(self, workers):
        """Loading every image once, in seconds."""
        self.loading.load()

    time_load.clocks = dict.fromkeys(DEVICES, "wall time")


class BenchmarkJade:
    """Phases of ResNet-50 on dummy images of 3x224x224, median of 5 steps, in seconds.

    Batches of 4 ("small") or 128 ("published"); a CPU would take minutes for the latter.
    """

    params = (["train", "inference", "smooth-inference"], DEVICES, ["small", "published"])
    param_names = ("mode", "device", "size")
    version = "1"
    unit = "seconds"

    def setup_cache(self):
        """Run each mode once, in one process; the cases look its phases up."""
        if not hasattr(cases, "jade_phases"):  # a commit that measured them one by one
            return {}

        def measure(case):
            mode, device, size = case
            _skip_what_cannot_run(device)
            if (device, size) == ("cpu", "published"):
                raise NotImplementedError("batches of 128 are for GPUs: minutes a step on a CPU")
            return cases.jade_phases(mode, device, size)

        return measure_each(product(*self.params), measure)

    setup_cache.timeout = 1800

    def setup(self, measured, mode, device, size):
        _skip_what_cannot_run(device)
        if not measured:
            raise NotImplementedError("this commit cannot tell all phases of one run")
        self.seconds = look_up(measured, (mode, device, size))

    def track_data_loading(self, measured, mode, device, size):
        """Waiting for a batch, or for an item of smooth inference."""
        return self.seconds["data loading"]

    def track_data_processing(self, measured, mode, device, size):
        """Copy to the device; in smooth inference repetition and noise."""
        return self.seconds["data processing"]

    def track_forward(self, measured, mode, device, size):
        """Model and loss."""
        return self.seconds["forward"]

    @skip_for_params(
        [
            (mode, device, size)
            for mode in ("inference", "smooth-inference")
            for device in DEVICES
            for size in ("small", "published")
        ]
    )
    def track_backward(self, measured, mode, device, size):
        """Gradient and optimiser."""
        return self.seconds["backward"]

    track_backward.skipped_because = "inference has no backward pass"


class TimeToAccuracy:
    """LeNet-5 on scikit-learn's digits until 80 % of the test items are told rightly."""

    params = (["lenet5"], DEVICES)
    param_names = ("model", "device")
    version = "1"

    def setup(self, model, device):
        _skip_what_cannot_run(device)
        if find_spec("sklearn") is None:
            raise NotImplementedError("scikit-learn is not in this environment")

    def track_seconds(self, model, device):
        """Wall time of the training loops up to the target."""
        return cases.time_to_accuracy_of(model, device).seconds_to_target

    def track_epochs(self, model, device):
        """Epochs up to the target: free of noise on one machine."""
        return cases.time_to_accuracy_of(model, device).epochs_to_target

    def track_accuracy(self, model, device):
        """Best accuracy on the test items, in percent."""
        return 100 * cases.time_to_accuracy_of(model, device).best_test_accuracy

    track_seconds.unit = "seconds"
    track_epochs.unit = "epochs"
    track_accuracy.unit = "%"
    track_accuracy.higher_is_better = True
