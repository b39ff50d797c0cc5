"""The load that other work puts on the machine during a measurement."""

from __future__ import annotations

import time
from dataclasses import dataclass

import psutil


@dataclass(frozen=True, slots=True)
class Load:
    """The load of other work during a measurement."""

    before: float
    """Load average over the minute before."""
    others: float
    """Cores that other processes kept busy, on average."""
    stolen: float
    """Share of all cores' time that the hypervisor gave to others."""


class LoadWatch:
    """Counts the CPU time that others take, from its start until it is asked."""

    def __init__(self) -> None:
        self._before = psutil.getloadavg()[0]
        self._started = time.monotonic()
        self._busy, self._stolen = _system_seconds()
        self._own = _own_seconds()

    def load(self) -> Load:
        """Return the load so far.

        Our own share is that of this process and of all its children that have ended, so call
        this after the measured processes have ended.
        """
        elapsed = max(time.monotonic() - self._started, 1e-9)
        busy, stolen = _system_seconds()
        others = (busy - self._busy) - (_own_seconds() - self._own)
        cores = psutil.cpu_count() or 1
        return Load(
            before=self._before,
            others=max(0.0, others / elapsed),
            stolen=max(0.0, (stolen - self._stolen) / elapsed / cores),
        )


def _system_seconds() -> tuple[float, float]:
    """CPU seconds that all cores were busy, and that a hypervisor took, since the start."""
    times = psutil.cpu_times()
    stolen = float(getattr(times, "steal", 0.0))
    resting = times.idle + getattr(times, "iowait", 0.0)
    guests = getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)
    # Linux counts guests' time in user and nice as well.
    return float(sum(times) - guests - resting - stolen), stolen


def _own_seconds() -> float:
    times = psutil.Process().cpu_times()
    return float(times.user + times.system + times.children_user + times.children_system)
