"""Scaling efficiency of several devices, against a run on fewer.

Weak scaling: each device keeps its batch, so twice the devices should pass
twice the items in the same time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torchspeed.errors import TorchspeedError
from torchspeed.training.config import RunConfig
from torchspeed.training.results import RunResult

SAME = ("model", "data", "batch_size", "precision", "image_size", "optimiser", "workers")
"""Options that have to be equal for the comparison to mean anything."""


@dataclass(frozen=True, slots=True)
class Scaling:
    """Throughput of a run against a baseline's."""

    baseline_devices: int
    baseline_items_per_s: float
    items_per_s: float
    efficiency: float
    """Throughput a device over the baseline's; 1 is perfect."""


def load_baseline(path: Path, mode: str, config: RunConfig) -> dict[str, Any]:
    """Read what a run wrote with ``--json``, and see that it did the same work.

    Args:
        path: the file.
        mode: of the run to come.
        config: of the run to come.

    Raises:
        TorchspeedError: missing file, no such result, or other work.
    """
    try:
        baseline: dict[str, Any] = json.loads(path.read_text("utf-8"))
        theirs = {"mode": baseline["mode"], **baseline["config"]}
        for key in ("world", "items_per_s"):
            baseline[key]
    except OSError as error:
        raise TorchspeedError(
            f"baseline {path} cannot be read ({error.strerror}); give what --json wrote"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise TorchspeedError(f"{path} is not a result of a run; give what --json wrote") from None
    ours = {"mode": mode, **config.as_dict()}
    for name in ("mode", *SAME):
        if ours[name] != theirs.get(name):
            raise TorchspeedError(
                f"baseline {path} has another {name} ({theirs.get(name)!r}, here "
                f"{ours[name]!r}); measure it again with the same"
            )
    return baseline


def scaling(result: RunResult, baseline: dict[str, Any]) -> Scaling:
    """Compare a run with its baseline."""
    expected = baseline["items_per_s"] / baseline["world"] * result.world
    return Scaling(
        baseline["world"],
        baseline["items_per_s"],
        result.items_per_s,
        result.items_per_s / expected,
    )
