"""The work that asv suites of training measure, built once and kept while a case runs."""

from collections.abc import Callable
from functools import lru_cache

import torch
from torch import Tensor

from torchspeed.data.embedded import load_dummy
from torchspeed.data.load import make_loader
from torchspeed.data.options import DataOptions
from torchspeed.training.config import RunConfig
from torchspeed.training.results import AccuracyTimes, RunResult
from torchspeed.training.run import infer, infer_smoothly
from torchspeed.training.train import train
from torchspeed.workloads import get_workload

JADE_MODES: dict[str, Callable[..., RunResult]] = {
    "train": train,
    "inference": infer,
    "smooth-inference": infer_smoothly,
}
"""The functions for BenchmarkJade's modes, by name of the mode."""

JADE_BATCH = {"small": 4, "published": 128}
"""Images per step of ResNet-50: ``small`` suits a CPU, ``published`` is BenchmarkJade's batch."""

JADE_STEPS = 6
"""Steps of a BenchmarkJade case, the first of them warm-up."""

LOADED_ITEMS, LOADED_BATCH, LOADED_SHAPE = 512, 64, (3, 64, 64)
"""Number of images in one pass of data loading, their batch size and their shape."""


class Training:
    """A workload with its optimiser, and batches that lie ready on the device.

    The optimiser is that of the published values: SGD with rate 0.01 and
    momentum 0.9.
    """

    def __init__(self, workload: str, device: str, batches: int = 1) -> None:
        recipe = get_workload(workload)
        self._loss = recipe.loss
        self._batches: list[tuple[Tensor, Tensor]] = [
            (recipe.example_inputs(device=device, seed=2 * n),
             recipe.example_targets(device=device, seed=2 * n + 1))
            for n in range(batches)
        ]  # fmt: skip
        self._model = recipe.create_model(device=device, implementation="tuned")
        self._optimiser: torch.optim.Optimizer = torch.optim.SGD(
            self._model.parameters(), lr=0.01, momentum=0.9
        )

    def step(self, batch: int = 0) -> None:
        """Run forward, loss, backward and the optimiser's step on one batch."""
        inputs, targets = self._batches[batch]
        self._optimiser.zero_grad()
        self._loss(self._model(inputs), targets).backward()
        self._optimiser.step()

    def epoch(self) -> None:
        """Make a step on each batch."""
        for batch in range(len(self._batches)):
            self.step(batch)


training = lru_cache(maxsize=1)(Training)


class AdamSteps(Training):
    """FluxArchitectures' benchmark of training: five steps of Adam on one batch.

    As in FluxArchitectures, a new Adam (rate 0.007) starts each time. Unlike there, the
    parameters are also reset to their first values each time, so that every sample does
    the same work on the same numbers.
    """

    STEPS = 5
    RATE = 0.007

    def __init__(self, workload: str, device: str) -> None:
        super().__init__(workload, device)
        # Flux's DSANet has parameters that nothing uses.
        self._parameters = [p for p in self._model.parameters() if p.requires_grad]
        self._beginning = [p.detach().clone() for p in self._parameters]

    def run(self) -> None:
        """Run all five steps, from the initial parameters."""
        with torch.no_grad():
            for parameter, beginning in zip(self._parameters, self._beginning, strict=True):
                parameter.copy_(beginning)
        self._optimiser = torch.optim.Adam(self._parameters, lr=self.RATE)
        for _ in range(self.STEPS):
            self.step()


adam_steps = lru_cache(maxsize=1)(AdamSteps)


class Loading:
    """Dummy images and the workers that load them, started before they are timed."""

    def __init__(self, workers: int) -> None:
        data = load_dummy(DataOptions(items=LOADED_ITEMS, shape=LOADED_SHAPE))
        self._batches = make_loader(data.train, LOADED_BATCH, workers=workers)
        self.load()

    def load(self) -> None:
        """Load every item once."""
        for _ in self._batches:
            pass


loading = lru_cache(maxsize=1)(Loading)


def jade_phases(mode: str, device: str, size: str) -> dict[str, float]:
    """Return median seconds of each phase of ResNet-50 on dummy images, as in BenchmarkJade.

    ``mode`` is a key of ``JADE_MODES``, ``size`` one of ``JADE_BATCH``.
    """
    batch = JADE_BATCH[size]
    config = RunConfig(
        model="resnet50",
        data="dummy",
        # Inference runs over the test items, a fifth as many as are trained on.
        items=JADE_STEPS * batch * (1 if mode == "train" else 5),
        device=device,
        batch_size=batch,
        limit_batches=JADE_STEPS,
    )
    return JADE_MODES[mode](config).medians_s


def time_to_accuracy_of(model: str, device: str) -> AccuracyTimes:
    """Train on the embedded digits until 80 % test accuracy, for 20 epochs at most.

    Epochs and accuracy repeat exactly on one machine and thread count; seconds are wall time.
    """
    config = RunConfig(
        model=model, data="digits", device=device, batch_size=64, optimiser="sgd", rate=0.1,
        epochs=20, target_accuracy=80,
    )  # fmt: skip
    times = train(config).time_to_accuracy
    assert times is not None  # noqa: S101 - the run has a target
    return times
