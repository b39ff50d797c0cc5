"""What the detectors of `torchspeed.history` find in each series."""

from __future__ import annotations

from torchspeed.history.records import History
from torchspeed.site.standing import Findings


def detect(history: History) -> Findings:
    """Find levels, changes and events."""
    nothing = len(history.series)
    return Findings(((),) * nothing, (None,) * nothing)
