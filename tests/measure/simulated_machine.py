"""A machine whose speed changes while passes and what they are held against are timed in turn."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest


class SimulatedMachine:
    """Passes take ``seconds`` at speed 1; a speed holds for a few measurements."""

    def __init__(
        self, patch: pytest.MonkeyPatch, module: Any, speeds: Sequence[float], seconds: float
    ) -> None:
        self.order: list[str] = []
        self._speeds = itertools.cycle(speeds)
        self._speed = next(self._speeds)
        self._seconds = seconds
        passes = SimpleNamespace(forward=lambda: None, backward=lambda: None)
        patch.setattr(module, "Passes", lambda *_, **__: passes)
        patch.setattr(module, "seconds_per_call", self._time)

    def _time(self, run: Any, clock: Any) -> float:
        del run, clock
        self.order.append("pass")
        return self._seconds / self._speed

    def measure_speed(self) -> float:
        """Return the speed of now, as the measurement that passes are held against sees it."""
        self.order.append("mark")
        speed = self._speed
        if self.order.count("mark") % 4 == 0:
            self._speed = next(self._speeds)
        return speed
