"""What on this machine hurts timings, with the remedy for it; nothing is ever changed.

What a machine does not show (a virtual one shows no governor) is left out, because it cannot be
changed from inside. https://pyperf.readthedocs.io/en/latest/system.html
explains most of these conditions.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from asv_watch.machine.facts import (
    CPUS,
    chosen_huge_pages,
    read_governors,
    read_text,
    usable_cores,
)
from asv_watch.records.calibrations import IDLE_BELOW, Finding, Load

_STOLEN_BEYOND = 0.01
_MALLOC = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_")
_GIB = 1024**3
_FREE_MEMORY = 4 * _GIB
"""Bytes that the largest case of the short set needs with room to spare."""
_SWAPPED = 64 * 1024**2
_NO_QUOTA = "run outside of the container, or start it without --cpus"


def describe_conditions(variables: Mapping[str, str], root: Path = Path("/")) -> list[Finding]:
    """Describe every condition that can be seen, in the order of ``docs/measuring.md``.

    Args:
        variables: What the measured processes have in their environment.
        root: Where ``sys`` and ``proc`` are.
    """
    return [
        *_governor(root),
        *_turbo(root),
        *_siblings(root),
        *_cores(root),
        *_quota(root),
        *_virtual(root),
        *_threads(variables),
        *_allocator(variables),
        *_huge_pages(root),
        *_layout(root),
        *_clock_source(root),
        *_memory(),
        *_power(),
    ]


def describe_load(load: Load) -> list[Finding]:
    """Describe what else ran, before the measurement and during it."""
    return [
        _finding(
            "other load",
            f"{load.others:.2f} cores busy during the runs, load average {load.before:.2f} before",
            load.others >= IDLE_BELOW,
            "stop what else runs (`top` names it), or measure at a quieter hour",
        ),
        _finding(
            "stolen time",
            f"{load.stolen:.1%} of the cores' time went to other guests of the host",
            load.stolen >= _STOLEN_BEYOND,
            "the host is overcommitted: take a dedicated one, or compare only what ran together",
        ),
    ]


def _finding(what: str, state: str, hurts: bool = False, remedy: str = "") -> Finding:
    """Describe a condition, with the remedy only where it hurts."""
    return Finding(what, state, hurts, remedy if hurts else "")


@dataclass(frozen=True)
class Throttling:
    """How often the machine has held the CPU back since it started."""

    hot: int
    """Times that a core was slowed down for its temperature."""
    quota: int
    """Periods in which the cgroup had used up its share."""


def read_throttling(root: Path = Path("/")) -> Throttling:
    """Read both counters; one that is not there counts as nothing."""
    counters = root.glob(f"{CPUS}/cpu[0-9]*/thermal_throttle/*_throttle_count")
    counts = [text for path in counters if (text := read_text(path)).isdigit()]
    quota = 0
    for folder in _cgroups(root):
        counted = re.search(r"^nr_throttled (\d+)$", read_text(folder / "cpu.stat"), re.MULTILINE)
        quota = max(quota, int(counted[1]) if counted else 0)
    return Throttling(sum(map(int, counts)), quota)


def describe_throttling(before: Throttling, after: Throttling) -> list[Finding]:
    """Describe how often the CPU was held back between two readings; empty if it was not."""
    hot, quota = after.hot - before.hot, after.quota - before.quota
    findings = [
        _finding(
            "temperature",
            f"cores were slowed down {hot} times for their heat",
            hot > 0,
            "cool it better, or hold the clock below its limit: turn turbo off",
        ),
        _finding(
            "CPU quota",
            f"the cgroup was held back in {quota} periods",
            quota > 0,
            _NO_QUOTA,
        ),
    ]
    return [finding for finding in findings if finding.hurts]


def _governor(root: Path) -> Iterator[Finding]:
    governors = read_governors(root)
    if governors:
        remedy = "sudo cpupower frequency-set --governor performance"
        yield _finding("frequency governor", governors, governors != "performance", remedy)


def _turbo(root: Path) -> Iterator[Finding]:
    for name, on, off in (("intel_pstate/no_turbo", "0", "1"), ("cpufreq/boost", "1", "0")):
        state = read_text(root / CPUS / name)
        if state:
            yield _finding(
                "turbo",
                "on: the clock depends on heat and load" if state == on else "off",
                state == on,
                f"echo {off} | sudo tee /{CPUS}/{name}",
            )
            return


def _siblings(root: Path) -> Iterator[Finding]:
    state = read_text(root / CPUS / "smt" / "active")
    if state in {"0", "1"}:
        yield _finding(
            "hardware threads",
            "two share a core" if state == "1" else "one a core",
            state == "1",
            f"echo off | sudo tee /{CPUS}/smt/control, or keep the sibling idle",
        )


def _cores(root: Path) -> Iterator[Finding]:
    count = psutil.cpu_count() or 1
    allowed = usable_cores()
    yield _finding(
        "cores",
        f"{count}" if allowed == count else f"pinned to {allowed} of {count}",
        count == 1,
        "with one core everything else runs in between: take a machine with two",
    )
    isolated = read_text(root / CPUS / "isolated")
    if isolated:
        yield _finding("isolated cores", isolated)


def _cgroups(root: Path) -> Iterator[Path]:
    """Return the folders that may limit this process's CPU time, of both versions of cgroups."""
    base = root / "sys/fs/cgroup"
    for line in read_text(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if not controllers:
            tree = base
        elif "cpu" in controllers.split(","):
            tree = base / "cpu"
        else:
            continue
        folder = tree / path.lstrip("/")
        yield from (parent for parent in (folder, *folder.parents) if parent.is_relative_to(tree))


def _quota(root: Path) -> Iterator[Finding]:
    limits = []
    for folder in _cgroups(root):
        quota, _, period = read_text(folder / "cpu.max").partition(" ")
        if not quota:
            names = (folder / f"cpu.cfs_{name}_us" for name in ("quota", "period"))
            quota, period = map(read_text, names)
        if quota.isdigit() and period.isdigit() and int(period):
            limits.append(int(quota) / int(period))
    if limits:
        state = f"{min(limits):g} cores of time a period, then everything stops"
        yield _finding("CPU quota", state, True, _NO_QUOTA)


def _virtual(root: Path) -> Iterator[Finding]:
    cpu = read_text(root / "proc/cpuinfo")
    flags = re.search(r"^flags\s*:.*\bhypervisor\b", cpu, re.MULTILINE)
    kind = read_text(root / "sys/hypervisor/type")
    product = read_text(root / "sys/class/dmi/id/product_name")
    if flags or kind:
        yield _finding(
            "virtual machine",
            kind or product or "of a kind it does not say",
            True,
            "clock, caches and memory are shared with unknown guests: take a machine of its own",
        )
    if (root / ".dockerenv").exists() or (root / "run/.containerenv").exists():
        yield _finding("container", "yes; it disturbs nothing by itself")


def _threads(variables: Mapping[str, str]) -> Iterator[Finding]:
    threads = variables.get("OMP_NUM_THREADS", "")
    yield _finding(
        "threads",
        f"OMP_NUM_THREADS={threads}" if threads else "OMP_NUM_THREADS is not set: one a core",
        threads != "1",
        'set OMP_NUM_THREADS to 1 under "env_nobuild" in asv.conf.json',
    )


def _allocator(variables: Mapping[str, str]) -> Iterator[Finding]:
    preloaded = os.environ.get("LD_PRELOAD", "")
    if preloaded:
        yield _finding(
            "allocator",
            f"LD_PRELOAD={preloaded} replaces a library in every measured process",
            True,
            "unset LD_PRELOAD, or put it into asv.conf.json so that it is part of each value",
        )
    elif platform.libc_ver()[0] == "glibc":
        missing = ", ".join(name for name in _MALLOC if name not in variables)
        yield _finding(
            "allocator",
            f"{missing} not set: memory is faulted in again at every pass"
            if missing
            else "keeps its memory between passes",
            bool(missing),
            'set them under "env_nobuild" in asv.conf.json',
        )


def _huge_pages(root: Path) -> Iterator[Finding]:
    chosen = chosen_huge_pages(root)
    if chosen:
        remedy = "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"
        yield _finding("transparent huge pages", chosen, chosen == "always", remedy)


def _layout(root: Path) -> Iterator[Finding]:
    state = read_text(root / "proc/sys/kernel/randomize_va_space")
    if state:
        yield _finding(
            "address layout",
            "random: rounds average over it" if state == "2" else "the same in every process",
            state != "2",
            "echo 2 | sudo tee /proc/sys/kernel/randomize_va_space",
        )


def _clock_source(root: Path) -> Iterator[Finding]:
    folder = root / "sys/devices/system/clocksource/clocksource0"
    current = read_text(folder / "current_clocksource")
    if current:
        slow = current in {"hpet", "acpi_pm", "jiffies"}
        remedy = "the kernel trusts no faster one: see `dmesg | grep tsc`"
        if "tsc" in read_text(folder / "available_clocksource").split():
            remedy = f"echo tsc | sudo tee /{folder.relative_to(root)}/current_clocksource"
        state = f"{current}: each reading is slow" if slow else current
        yield _finding("clock source", state, slow, remedy)


def _memory() -> Iterator[Finding]:
    memory, swap = psutil.virtual_memory(), psutil.swap_memory()
    yield _finding(
        "memory",
        f"{memory.available / _GIB:.1f} GiB free",
        memory.available < _FREE_MEMORY,
        "close what holds it: a case that is swapped out measures the disk",
    )
    yield _finding(
        "swap",
        f"{swap.used / _GIB:.1f} of {swap.total / _GIB:.1f} GiB used" if swap.total else "none",
        swap.used > _SWAPPED,
        "free memory, then `sudo swapoff --all && sudo swapon --all`",
    )


def _power() -> Iterator[Finding]:
    battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    if battery is not None:
        on_battery = battery.power_plugged is False
        yield _finding(
            "power",
            "from the battery" if on_battery else "from the mains",
            on_battery,
            "plug it in: on a battery the clock is held down",
        )
