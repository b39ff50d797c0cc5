"""The machine of a run: its facts and its state.

*Facts* stay the same until a person changes something; a change of one is an event in the history.
*State*, such as load, temperatures and clocks, changes all the time; it is read before and after a
run.
Everything is only read (for GPUs from nvidia-smi); no setting is ever changed.
"""

import csv
import functools
import os
import platform
import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

from asv_watch.errors import WatchError

_GIB = 1024**3
_CPUINFO = Path("/proc/cpuinfo")
_LINUX = {
    "model name": "brand_raw",
    "cpu family": "family",
    "model": "model",
    "stepping": "stepping",
}
"""Maps a field of `_CPUINFO` to py-cpuinfo's name for it."""


@functools.cache
def _cpu_description() -> Mapping[str, Any]:
    """Describe the processor as py-cpuinfo does: at least its brand, family, model and stepping.

    On x86, Linux has these in a file. Elsewhere py-cpuinfo is asked, which takes more than a
    second because it measures the clock's frequency.
    """
    text = _CPUINFO.read_text(errors="replace") if _CPUINFO.exists() else ""
    fields = dict(re.findall(r"^(.+?)\s*: (.*)$", text, re.MULTILINE))
    if _LINUX.keys() <= fields.keys():
        return {name: fields[field] for field, name in _LINUX.items()}
    import cpuinfo  # noqa: PLC0415 - Linux does without it

    description: dict[str, Any] = cpuinfo.get_cpu_info()
    return description


def describe() -> dict[str, str]:
    """Return the facts that asv keeps of a machine.

    The kernel's version is left out on purpose: asv makes these facts part of
    a series' identity, and a kernel update must not start a new one.
    """
    return {
        "os": platform.system(),
        "arch": platform.machine(),
        "cpu": str(_cpu_description().get("brand_raw", "unknown")),
        "num_cpu": str(psutil.cpu_count()),
        "ram": f"{round(psutil.virtual_memory().total / _GIB)} GiB",
    }


def machine_name(given: str) -> str:
    """Return this machine's name, by default the host's; refuse one that no folder can have."""
    name = given or platform.node()
    if not re.fullmatch(r"\w[\w.+ @-]{0,99}", name):
        raise WatchError(
            f"machine name {name[:100]!r} cannot name a folder of results; use at most 100 "
            "letters, digits and '-'"
        )
    return name


def machine_facts(root: Path = Path("/")) -> dict[str, str]:
    """Return what this machine is, as text by name."""
    facts = describe() | _cpu_facts(root)
    facts["kernel"] = f"{platform.release()} {platform.version()}"
    try:
        facts["distribution"] = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        facts["distribution"] = platform.platform()
    facts["swap"] = f"{psutil.swap_memory().total / _GIB:.1f} GiB"
    return facts | {
        f"gpu {number} {name}": value
        for number, device in enumerate(_query(_GPU_FACTS))
        for name, value in device.items()
    }


def _cpu_facts(root: Path) -> dict[str, str]:
    cpus = root / "sys/devices/system/cpu"
    cpu = _cpu_description()
    facts = {
        "cpu model": ", ".join(
            f"{key} {cpu.get(key, 'unknown')}" for key in ("family", "model", "stepping")
        ),
        "cores": f"{psutil.cpu_count(logical=False)} with {psutil.cpu_count()} threads, "
        f"{usable_cores()} usable",
    }
    # py-cpuinfo takes the size of one line of /proc/cpuinfo for that of the last level.
    for index in sorted((cpus / "cpu0/cache").glob("index*")):
        level, kind = _read_text(index / "level"), _read_text(index / "type")
        name = f"L{level}" + {"Data": "d", "Instruction": "i"}.get(kind, "")
        facts[f"cache {name}"] = (
            f"{_read_text(index / 'size')}, shared by CPUs {_read_text(index / 'shared_cpu_list')}"
        )
    clock_source = "sys/devices/system/clocksource/clocksource0/current_clocksource"
    governors = cpus.glob("cpu[0-9]*/cpufreq/scaling_governor")
    huge_pages = _read_text(root / "sys/kernel/mm/transparent_hugepage/enabled")
    microcode = re.findall(r"^microcode\s*:\s*(\S+)", _read_text(root / "proc/cpuinfo"), re.M)
    shown = {
        "governor": ", ".join(sorted({_read_text(path) for path in governors} - {""})),
        "frequency driver": _read_text(cpus / "cpu0/cpufreq/scaling_driver"),
        "boost": _read_text(cpus / "cpufreq/boost"),
        "no turbo": _read_text(cpus / "intel_pstate/no_turbo"),
        "simultaneous multithreading": _read_text(cpus / "smt/control"),
        "isolated CPUs": _read_text(cpus / "isolated"),
        "clock source": _read_text(root / clock_source),
        "transparent huge pages": "".join(re.findall(r"\[(\w+)\]", huge_pages)[:1]),
        "microcode": "".join(microcode[:1]),
    }
    return facts | {name: value for name, value in shown.items() if value}


def usable_cores() -> int:
    """Return the number of cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _read_text(path: Path) -> str:
    """Return the text of a kernel's file; empty if it is missing or not readable."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def machine_state() -> dict[str, Any]:
    """Return what this machine is doing just now; units are in the names."""
    load = os.getloadavg()
    memory = psutil.virtual_memory()
    frequency = psutil.cpu_freq()
    state: dict[str, Any] = {
        "load_1_5_15_min": [round(average, 2) for average in load],
        "memory_available_bytes": memory.available,
        "swap_used_bytes": psutil.swap_memory().used,
        "uptime_s": int(time.time() - psutil.boot_time()),
    }
    if frequency is not None:
        state["cpu_mhz"] = round(frequency.current)
    readings = psutil.sensors_temperatures() if hasattr(psutil, "sensors_temperatures") else {}
    hottest = [sensor.current for sensors in readings.values() for sensor in sensors]
    if hottest:
        state["hottest_sensor_celsius"] = max(hottest)
    if devices := _query(_GPU_STATE):
        state["gpus"] = [
            {name: _number(value) for name, value in device.items()} for device in devices
        ]
    return state


@functools.cache
def gpu_is_plainly_absent() -> bool:
    """True only if nothing indicates an NVIDIA GPU.

    A wrong "present" costs a process per case, a wrong "absent" loses values:
    in doubt this is False, and the case itself finds out.
    """
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and visible.strip() in {"", "-1"}:
        return True
    nodes = "nvidia[0-9]*", "dxg", "nvhost*"
    if any(any(Path("/dev").glob(node)) for node in nodes):
        return False
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return True
    try:
        done = subprocess.run(
            [tool, "-L"], capture_output=True, check=False, timeout=_QUERY_TIMEOUT
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode != 0


_GPU_FACTS = {
    "name": "name",
    "memory.total": "memory",
    "driver_version": "driver",
    "vbios_version": "firmware",
    "power.limit": "power limit",
    "persistence_mode": "persistence mode",
    "compute_mode": "compute mode",
    "mig.mode.current": "MIG",
    "ecc.mode.current": "ECC",
    "clocks.max.sm": "highest clock",
}
"""Maps nvidia-smi's name of a fact of a device to the name that the fact is recorded under."""
_GPU_STATE = {
    "clocks.sm": "sm_mhz",
    "clocks.mem": "memory_mhz",
    "temperature.gpu": "celsius",
    "power.draw": "power_w",
    "power.limit": "power_limit_w",
    "utilization.gpu": "busy_percent",
    "memory.used": "memory_used_mib",
    "pstate": "performance_state",
    "clocks_throttle_reasons.active": "throttled_because",
}
_QUERY_TIMEOUT = 20  # s: a device that fell off the bus can make the tool hang
_NOTHING = {"", "[N/A]", "[Not Supported]", "N/A", "[Unknown Error]"}


def _query(fields: Mapping[str, str]) -> list[dict[str, str]]:
    """Return what is known of each device; no device where the tool is missing or fails."""
    command = ["nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_QUERY_TIMEOUT, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return []
    rows = csv.reader(done.stdout.splitlines(), skipinitialspace=True)
    named = [zip(fields.values(), row, strict=False) for row in rows if row]
    return [{name: value for name, value in device if value not in _NOTHING} for device in named]


def _number(value: str) -> float | str:
    try:
        return float(value.split(maxsplit=1)[0])
    except ValueError:
        return value
