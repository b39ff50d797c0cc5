"""What on this machine spoils timings, with the remedy; nothing is ever changed.

What a machine does not show (a virtual one shows no governor) is left out. Further conditions are
explained at https://pyperf.readthedocs.io/en/latest/system.html and shown by
``pyperf system show``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from asv_watch.machine.facts import CPUS, read_governors, read_text


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


IDLE_BELOW = 0.25
"""Cores that others keep busy, up to which a machine counts as idle."""
_STOLEN_BEYOND = 0.01
_GIB = 1024**3
_SWAPPED = 64 * 1024**2


@dataclass(frozen=True, slots=True)
class Condition:
    """A setting or state of the machine that bears on its timings."""

    what: str
    """Such as ``frequency governor``."""
    state: str
    """What it is set to, or how much there is of it."""
    remedy: str
    """One line; empty where it spoils nothing."""


def describe_conditions(load: Load, root: Path = Path("/")) -> list[Condition]:
    """Describe governor, turbo, other load and swap, as far as they can be seen."""
    return [*_load(load), *_governor(root), *_turbo(root), _swap()]


def _load(load: Load) -> Iterator[Condition]:
    busy, stolen = load.others >= IDLE_BELOW, load.stolen >= _STOLEN_BEYOND
    yield Condition(
        "other load",
        f"{load.others:.2f} cores busy meanwhile, load average {load.before:.2f} before",
        "stop what else runs (`top` names it), or measure at a quieter hour" if busy else "",
    )
    yield Condition(
        "stolen time",
        f"{100 * load.stolen:.1f} % of the cores' time went to other guests of the host",
        "the host has too few cores for its guests: take a dedicated one" if stolen else "",
    )


def _governor(root: Path) -> Iterator[Condition]:
    governors = read_governors(root)
    if governors:
        remedy = "sudo cpupower frequency-set --governor performance"
        steady = governors == "performance"
        yield Condition("frequency governor", governors, "" if steady else remedy)


def _turbo(root: Path) -> Iterator[Condition]:
    for name, on, off in (("intel_pstate/no_turbo", "0", "1"), ("cpufreq/boost", "1", "0")):
        state = read_text(root / CPUS / name)
        if state == on:
            remedy = f"echo {off} | sudo tee /{CPUS}/{name}"
            yield Condition("turbo", "on: the clock depends on heat and load", remedy)
        if state == off:
            yield Condition("turbo", "off", "")


def _swap() -> Condition:
    swap = psutil.swap_memory()
    remedy = "free memory, then `sudo swapoff --all && sudo swapon --all`"
    return Condition(
        "swap",
        f"{swap.used / _GIB:.1f} of {swap.total / _GIB:.1f} GiB used" if swap.total else "none",
        remedy if swap.used > _SWAPPED else "",
    )
