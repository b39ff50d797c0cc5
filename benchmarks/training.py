"""Training: a step of every workload, epochs, phases, data loading, time to accuracy.

Times of data loading are wall time: workers load in processes of their own.
"""

import time
from importlib.util import find_spec
from itertools import product

from ._cases import DEVICES, PLAIN, TORCHVISION
from ._package import from_commit, skip_what_cannot_run
from ._suite import _TimedSuite, skipped
from ._tracked import Measured, _CachedSuite, share, tracked


class TrainingStep(_TimedSuite):
    """Forward, loss, gradient and SGD on one batch that is already on the device."""

    params = (PLAIN + TORCHVISION, DEVICES)
    param_names = ("model", "device")

    def setup(self, model: str, device: str) -> None:
        skip_what_cannot_run(device, model)
        self.training = from_commit("training.cases", "training")(model, device)
        self.choose_clock(device)

    def time_step(self, model: str, device: str) -> None:
        """One training step."""
        self.training.step()


class AdamWStep(_TimedSuite):
    """Plain forecasters as people train them: AdamW, and one addition or nothing.

    Additions are gradients clipped to a norm, autocast to bfloat16, and a batch in four parts.
    """

    params = (
        ["nhits", "patchtst", "encoder_decoder"],
        DEVICES,
        ["foreach", "fused"],
        ["nothing", "clipping", "bf16", "accumulation"],
    )
    param_names = ("model", "device", "optimiser", "addition")

    def setup(self, model: str, device: str, optimiser: str, addition: str) -> None:
        training_step = from_commit("measure.training_step", "training_step")
        skip_what_cannot_run(device, model)
        self.training = training_step(model, device, optimiser, addition)
        self.choose_clock(device)

    def time_step(self, model: str, device: str, optimiser: str, addition: str) -> None:
        """One training step."""
        self.training.step()


class FluxCNNEpoch(_TimedSuite):
    """The epoch of "GPU vs CPU benchmarks with Flux.jl": 50 batches of 1,000 images."""

    params = (DEVICES,)
    param_names = ("device",)
    rounds = 1
    number = 1
    repeat = (1, 3, 10.0)
    first_calls = 1
    warmup_time = 0

    def setup(self, device: str) -> None:
        skip_what_cannot_run(device)
        self.training = from_commit("training.cases", "training")("flux_cnn", device, batches=50)
        self.choose_clock(device)

    def time_epoch(self, device: str) -> None:
        """One epoch with the batches ready on the device."""
        self.training.epoch()


class DataLoading(_TimedSuite):
    """512 dummy images of 3x64x64 in batches of 64, loaded by workers that run already."""

    params = ([0, 1, 2],)
    param_names = ("workers",)
    rounds = 1
    number = 1
    repeat = (5, 20, 4.0)
    first_calls = 0
    warmup_time = 0
    timer = staticmethod(time.perf_counter)

    def setup(self, workers: int) -> None:
        self.loading = from_commit("training.cases", "loading")(workers)

    def time_load(self, workers: int) -> None:
        """Loading every image once."""
        self.loading.load()


class BenchmarkJade(_CachedSuite):
    """Phases of ResNet-50 on dummy images of 3x224x224, median of 5 steps, in seconds.

    Batches of 4 ("small") or 128 ("published"); a CPU would take minutes for the latter.
    Data loading is the wait for a batch (smooth inference: for an item). Data processing is
    the copy to the device (smooth inference: repetition and noise). Forward is model and loss,
    backward is gradient and optimiser.
    """

    timeout = 1800
    params = (["train", "inference", "smooth-inference"], DEVICES, ["small", "published"])
    param_names = ("mode", "device", "size")

    def measure(self, mode: str, device: str, size: str) -> Measured:
        skip_what_cannot_run(device)
        if (device, size) == ("cpu", "published"):
            raise NotImplementedError("batches of 128 are for GPUs: a step takes minutes on a CPU")
        return from_commit("training.cases", "jade_phases")(mode, device, size)

    track_data_loading = tracked("data loading", unit="seconds")
    track_data_processing = tracked("data processing", unit="seconds")
    track_forward = tracked("forward", unit="seconds")
    track_backward = skipped(
        product(["inference", "smooth-inference"], DEVICES, ["small", "published"]),
        because="inference has no backward pass",
    )(tracked("backward", unit="seconds"))


class TimeToAccuracy(_CachedSuite):
    """LeNet-5 on scikit-learn's digits until it classifies 80 % of the test items correctly.

    Seconds are wall time of the training loops. Epochs repeat exactly on one machine.
    """

    params = (["lenet5"], DEVICES)
    param_names = ("model", "device")

    def measure(self, model: str, device: str) -> Measured:
        skip_what_cannot_run(device, model)
        if find_spec("sklearn") is None:
            raise NotImplementedError("scikit-learn is not in this environment")
        train = from_commit("training.cases", "time_to_accuracy_of")
        return train(model, device)

    track_seconds = tracked("seconds_to_target", unit="seconds")
    track_epochs = tracked("epochs_to_target", unit="epochs")
    track_accuracy = share("best_test_accuracy")
