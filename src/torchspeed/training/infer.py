"""Inference and smooth inference from start to end."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Subset

from torchspeed.data.load import naming_worker_errors
from torchspeed.errors import TorchspeedError
from torchspeed.training import ranks
from torchspeed.training.config import RunConfig
from torchspeed.training.results import RunResult
from torchspeed.training.run import NOBODY, WARMUP, Observer, Run, read_saved, summed

SMOOTH_ITEMS = 2000
"""Most items of smooth inference, as in BenchmarkJade."""

NOISE = 0.25
"""Standard deviation of the noise in smooth inference, as in BenchmarkJade."""


@naming_worker_errors()
def infer(
    config: RunConfig, *, weights: Path | None = None, observer: Observer = NOBODY
) -> RunResult:
    """Run over the test items once, batch by batch.

    ``weights`` is a file that ``--checkpoint`` wrote, whose best epoch counts, or any
    ``torch.save`` of a ``state_dict()``. Without it the seed draws the parameters at random.

    Raises:
        TorchspeedError: impossible configuration, unreadable data, parameters that are missing or
            of another model, or a dead worker.
    """
    run = Run.prepared(config, observer)
    if weights is not None:
        saved = read_saved(weights)
        try:
            run.model.load_state_dict(saved.get("best") or saved.get("model") or saved)
        except RuntimeError as error:
            reason = str(error).splitlines()[-1].strip()
            raise TorchspeedError(
                f"{weights} does not fit the model ({reason}); give the --model and "
                "--model-kwargs that it was trained with"
            ) from None
    batches = run.loader(run.data.test, ranks.share(len(run.data.test)))  # type: ignore[arg-type]
    result = _inference(run, "inference", batches, len(batches))
    return replace(result, forecast=run.forecast_report(epoch=None))


@naming_worker_errors()
def infer_smoothly(config: RunConfig, *, observer: Observer = NOBODY) -> RunResult:
    """Run each test item repeated to a full batch with Gaussian noise.

    As in BenchmarkJade there are 2,000 items at most, and they are read one by one, in the run's
    own process unless there are workers.
    """
    run = SmoothRun.prepared(config, observer)
    available = len(run.data.test)  # type: ignore[arg-type]
    indices = ranks.share(min(available, SMOOTH_ITEMS))
    items = DataLoader(Subset(run.data.test, indices), batch_size=None, num_workers=config.workers)
    return _inference(run, "smooth-inference", items, len(indices))


@dataclass(frozen=True, slots=True)
class SmoothRun(Run):
    """A run whose batches are one item each, repeated with Gaussian noise."""

    def place(self, batch: Any) -> tuple[Tensor, Tensor]:
        """Repeat an item (input, target) to a noisy batch on the device."""
        item, target = batch
        size, device = self.config.batch_size, self.device
        inputs = item.to(device).unsqueeze(0).repeat(size, *[1] * item.dim())
        inputs += NOISE * torch.randn_like(inputs)
        targets = torch.as_tensor(target, device=device)
        return inputs, targets.expand(size, *targets.shape)


def _inference(run: Run, command: str, batches: Iterable[Any], available: int) -> RunResult:
    """Return the result of one loop without training over a number of batches."""
    run.announce(run.steps(available))
    run.model.eval()
    loop = run.loop(batches, run.infer, warmup=WARMUP, observer=run.observer)
    everywhere = summed(loop)
    return run.result(command, [loop], everywhere.loss, run.accuracy(everywhere))
