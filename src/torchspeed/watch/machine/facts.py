"""Where a run was measured: what the machine tells without torch, and its state just now.

*Facts* stay until somebody changes something; a change of one is an event in the history.
*State* changes by itself: load, temperatures, clocks. It is noted before and after a run.
Everything is read and nothing is ever set.
"""

from __future__ import annotations

import os
import platform
import re
import time
from pathlib import Path
from typing import Any

import psutil

from torchspeed.watch.machine.description import cpu_description, describe
from torchspeed.watch.machine.gpu import gpu_facts, gpu_states

_GIB = 1024**3
_CPU = "sys/devices/system/cpu"


def machine_facts(root: Path = Path("/")) -> dict[str, str]:
    """What this machine is, as text by name.

    Args:
        root: where ``sys`` and ``proc`` are.
    """
    facts = describe() | _cpu_facts(root)
    facts["kernel"] = f"{platform.release()} {platform.version()}"
    try:
        facts["distribution"] = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        facts["distribution"] = platform.platform()
    facts["swap"] = f"{psutil.swap_memory().total / _GIB:.1f} GiB"
    choices = _read(root / "sys/kernel/mm/transparent_hugepage/enabled")
    chosen = re.search(r"\[(\w+)\]", choices)
    if chosen:
        facts["transparent huge pages"] = chosen[1]
    return facts | gpu_facts()


def _cpu_facts(root: Path) -> dict[str, str]:
    cpu = cpu_description()
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    facts = {
        "cpu model": ", ".join(
            f"{key} {cpu.get(key, 'unknown')}" for key in ("family", "model", "stepping")
        ),
        "cores": f"{psutil.cpu_count(logical=False)} with {psutil.cpu_count()} threads, "
        f"{usable} usable",
    }
    # py-cpuinfo takes the size of one line of /proc/cpuinfo for that of the last level.
    for index in sorted((root / _CPU / "cpu0/cache").glob("index*")):
        level, kind = _read(index / "level"), _read(index / "type")
        name = f"L{level}" + {"Data": "d", "Instruction": "i"}.get(kind, "")
        facts[f"cache {name}"] = (
            f"{_read(index / 'size')}, shared by CPUs {_read(index / 'shared_cpu_list')}"
        )
    governors = {_read(path) for path in (root / _CPU).glob("cpu[0-9]*/cpufreq/scaling_governor")}
    named = {
        "governor": ", ".join(sorted(governors)),
        "frequency driver": _read(root / _CPU / "cpu0/cpufreq/scaling_driver"),
        "boost": _read(root / _CPU / "cpufreq/boost"),
        "no turbo": _read(root / _CPU / "intel_pstate/no_turbo"),
        "simultaneous multithreading": _read(root / _CPU / "smt/control"),
        "isolated CPUs": _read(root / _CPU / "isolated"),
        "clock source": _read(
            root / "sys/devices/system/clocksource/clocksource0/current_clocksource"
        ),
    }
    microcode = re.search(r"^microcode\s*:\s*(\S+)", _read(root / "proc/cpuinfo"), re.MULTILINE)
    if microcode:
        named["microcode"] = microcode[1]
    return facts | {name: value for name, value in named.items() if value}


def machine_state() -> dict[str, Any]:
    """What this machine is doing just now; units are in the names."""
    load = os.getloadavg()
    memory = psutil.virtual_memory()
    frequency = psutil.cpu_freq()
    state: dict[str, Any] = {
        "load_1_5_15_min": [round(one, 2) for one in load],
        "memory_available_bytes": memory.available,
        "swap_used_bytes": psutil.swap_memory().used,
        "uptime_s": int(time.time() - psutil.boot_time()),
    }
    if frequency is not None:
        state["cpu_mhz"] = round(frequency.current)
    sensors = psutil.sensors_temperatures() if hasattr(psutil, "sensors_temperatures") else {}
    hottest = [one.current for readings in sensors.values() for one in readings]
    if hottest:
        state["hottest_sensor_celsius"] = max(hottest)
    gpus = gpu_states()
    if gpus:
        state["gpus"] = gpus
    return state


def _read(path: Path) -> str:
    """The text of a file of the kernel's, empty where there is none to read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
