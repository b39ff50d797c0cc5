"""What on this machine helps timings or hurts them, as far as /sys and /proc tell.

Nothing is ever changed: each finding that hurts carries a remedy, which a person may take.
What a machine does not show (a virtual one has no governor to see) is left out, for then
nobody can do anything about it from inside. After ``pyperf system show``, whose page
https://pyperf.readthedocs.io/en/latest/system.html explains most of these.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from torchspeed.watch.history.calibrations import IDLE_BELOW, Finding, Load

_CPUS = "sys/devices/system/cpu"
_STOLEN_BEYOND = 0.01
_MALLOC = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_")
_GIB = 1024**3
_FREE_MEMORY = 4 * _GIB
"""Bytes that the largest case of the short set needs with room to spare."""
_SWAPPED = 64 * 1024**2


def describe_conditions(variables: Mapping[str, str], root: Path = Path("/")) -> list[Finding]:
    """Every condition that can be seen, in the order of the list in ``docs/measuring.md``.

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
    """What else ran, before and meanwhile."""
    busy = load.others >= IDLE_BELOW
    stolen = load.stolen >= _STOLEN_BEYOND
    return [
        Finding(
            "other load",
            f"{load.others:.2f} cores busy meanwhile, load average {load.before:.2f} before",
            busy,
            "stop what else runs (`top` names it), or measure at a quieter hour" if busy else "",
        ),
        Finding(
            "stolen time",
            f"{load.stolen:.1%} of the cores' time went to other guests of the host",
            stolen,
            "the host is overcommitted: take a dedicated one, or compare only what ran together"
            if stolen
            else "",
        ),
    ]


@dataclass(frozen=True)
class Throttling:
    """How often the machine has held the CPU back since it started."""

    hot: int
    """Times that a core was slowed down for its temperature."""
    quota: int
    """Periods in which the cgroup had used up its share."""


def read_throttling(root: Path = Path("/")) -> Throttling:
    """Read both counters; one that is not there counts as nothing."""
    hot = sum(
        _number(path) for path in root.glob(f"{_CPUS}/cpu[0-9]*/thermal_throttle/*_throttle_count")
    )
    quota = 0
    for folder in _cgroups(root):
        counted = re.search(r"^nr_throttled (\d+)$", _text(folder / "cpu.stat"), re.MULTILINE)
        quota = max(quota, int(counted[1]) if counted else 0)
    return Throttling(hot, quota)


def describe_throttling(before: Throttling, after: Throttling) -> list[Finding]:
    """What of it happened meanwhile: nothing is said of a machine that held nothing back."""
    found = []
    if after.hot > before.hot:
        found.append(
            Finding(
                "temperature",
                f"cores were slowed down {after.hot - before.hot} times for their heat",
                True,
                "cool it better, or hold the clock below its limit: turn turbo off",
            )
        )
    if after.quota > before.quota:
        found.append(
            Finding(
                "CPU quota",
                f"the cgroup was held back in {after.quota - before.quota} periods",
                True,
                "run outside of the container, or start it without --cpus",
            )
        )
    return found


def _text(path: Path) -> str:
    """What a file says, or nothing where it is missing or shut."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _number(path: Path) -> int:
    text = _text(path)
    return int(text) if text.isdigit() else 0


def _governor(root: Path) -> Iterator[Finding]:
    found = {_text(path) for path in root.glob(f"{_CPUS}/cpu[0-9]*/cpufreq/scaling_governor")}
    found.discard("")
    if found:
        hurts = found != {"performance"}
        remedy = "sudo cpupower frequency-set --governor performance" if hurts else ""
        yield Finding("frequency governor", ", ".join(sorted(found)), hurts, remedy)


def _turbo(root: Path) -> Iterator[Finding]:
    for name, when_on in (("intel_pstate/no_turbo", "0"), ("cpufreq/boost", "1")):
        state = _text(root / _CPUS / name)
        if state:
            on = state == when_on
            off = "1" if when_on == "0" else "0"
            remedy = f"echo {off} | sudo tee /{_CPUS}/{name}" if on else ""
            yield Finding(
                "turbo", "on: the clock depends on heat and load" if on else "off", on, remedy
            )
            return


def _siblings(root: Path) -> Iterator[Finding]:
    state = _text(root / _CPUS / "smt" / "active")
    if state in {"0", "1"}:
        on = state == "1"
        yield Finding(
            "hardware threads",
            "two share a core" if on else "one a core",
            on,
            f"echo off | sudo tee /{_CPUS}/smt/control, or keep the sibling idle" if on else "",
        )


def _cores(root: Path) -> Iterator[Finding]:
    every = psutil.cpu_count() or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else every
    alone = every == 1
    yield Finding(
        "cores",
        f"{every}" if allowed == every else f"pinned to {allowed} of {every}",
        alone,
        "with one core everything else runs in between: take a machine with two" if alone else "",
    )
    isolated = _text(root / _CPUS / "isolated")
    if isolated:
        yield Finding("isolated cores", isolated, False)


def _cgroups(root: Path) -> Iterator[Path]:
    """The folders that may limit this process's CPU time, of both versions of cgroups."""
    base = root / "sys/fs/cgroup"
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if not controllers:
            tree = base
        elif "cpu" in controllers.split(","):
            tree = base / "cpu"
        else:
            continue
        folder = tree / path.lstrip("/")
        yield from (one for one in (folder, *folder.parents) if one.is_relative_to(tree))


def _quota(root: Path) -> Iterator[Finding]:
    limits = []
    for folder in _cgroups(root):
        quota, _, period = _text(folder / "cpu.max").partition(" ")
        if not quota:
            quota, period = (_text(folder / f"cpu.cfs_{name}_us") for name in ("quota", "period"))
        if quota.isdigit() and period.isdigit() and int(period):
            limits.append(int(quota) / int(period))
    if limits:
        yield Finding(
            "CPU quota",
            f"{min(limits):g} cores of time a period, then everything stops",
            True,
            "run outside of the container, or start it without --cpus",
        )


def _virtual(root: Path) -> Iterator[Finding]:
    flags = re.search(r"^flags\s*:.*\bhypervisor\b", _text(root / "proc/cpuinfo"), re.MULTILINE)
    kind = _text(root / "sys/hypervisor/type")
    product = _text(root / "sys/class/dmi/id/product_name")
    if flags or kind:
        yield Finding(
            "virtual machine",
            kind or product or "of a kind it does not say",
            True,
            "clock, caches and memory are shared with unknown guests: take a machine of its own",
        )
    if (root / ".dockerenv").exists() or (root / "run/.containerenv").exists():
        yield Finding("container", "no limit of its own", False)


def _threads(variables: Mapping[str, str]) -> Iterator[Finding]:
    said = variables.get("OMP_NUM_THREADS", "")
    hurts = said != "1"
    yield Finding(
        "threads",
        f"OMP_NUM_THREADS={said}" if said else "OMP_NUM_THREADS is not set: one a core",
        hurts,
        'set OMP_NUM_THREADS to 1 under "env_nobuild" in asv.conf.json' if hurts else "",
    )


def _allocator(variables: Mapping[str, str]) -> Iterator[Finding]:
    preloaded = os.environ.get("LD_PRELOAD", "")
    if preloaded:
        yield Finding(
            "allocator",
            f"LD_PRELOAD={preloaded} replaces a library in every measured process",
            True,
            "unset LD_PRELOAD, or put it into asv.conf.json so that it is part of each figure",
        )
    elif platform.libc_ver()[0] == "glibc":
        missing = [name for name in _MALLOC if name not in variables]
        yield Finding(
            "allocator",
            f"{', '.join(missing)} not set: memory is faulted in again at every pass"
            if missing
            else "keeps its memory between passes",
            bool(missing),
            'set them under "env_nobuild" in asv.conf.json' if missing else "",
        )


def _huge_pages(root: Path) -> Iterator[Finding]:
    found = re.search(r"\[(\w+)\]", _text(root / "sys/kernel/mm/transparent_hugepage/enabled"))
    if found:
        hurts = found[1] == "always"
        yield Finding(
            "transparent huge pages",
            found[1],
            hurts,
            "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled" if hurts else "",
        )


def _layout(root: Path) -> Iterator[Finding]:
    state = _text(root / "proc/sys/kernel/randomize_va_space")
    if state:
        hurts = state != "2"
        yield Finding(
            "address layout",
            "one and the same in every process" if hurts else "random: rounds average over it",
            hurts,
            "echo 2 | sudo tee /proc/sys/kernel/randomize_va_space" if hurts else "",
        )


def _clock_source(root: Path) -> Iterator[Finding]:
    folder = root / "sys/devices/system/clocksource/clocksource0"
    current = _text(folder / "current_clocksource")
    if current:
        slow = current in {"hpet", "acpi_pm", "jiffies"}
        remedy = f"echo tsc | sudo tee /{folder.relative_to(root)}/current_clocksource"
        can = "tsc" in _text(folder / "available_clocksource").split()
        yield Finding(
            "clock source",
            f"{current}: each reading is slow" if slow else current,
            slow,
            (remedy if can else "the kernel trusts no faster one: see `dmesg | grep tsc`")
            if slow
            else "",
        )


def _memory() -> Iterator[Finding]:
    memory, swap = psutil.virtual_memory(), psutil.swap_memory()
    short = memory.available < _FREE_MEMORY
    yield Finding(
        "memory",
        f"{memory.available / _GIB:.1f} GiB free",
        short,
        "close what holds it: a case that is swapped out measures the disk" if short else "",
    )
    used = swap.used > _SWAPPED
    yield Finding(
        "swap",
        f"{swap.used / _GIB:.1f} of {swap.total / _GIB:.1f} GiB used" if swap.total else "none",
        used,
        "free memory, then `sudo swapoff --all && sudo swapon --all`" if used else "",
    )


def _power() -> Iterator[Finding]:
    battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    if battery is not None:
        hurts = battery.power_plugged is False
        yield Finding(
            "power",
            "from the battery" if hurts else "from the mains",
            hurts,
            "plug it in: on a battery the clock is held down" if hurts else "",
        )
