"""Reads facts and state of GPUs from nvidia-smi; changes nothing."""

from __future__ import annotations

import csv
import functools
import os
import shutil
import subprocess
from pathlib import Path


@functools.cache
def gpu_is_plainly_absent() -> bool:
    """True only if nothing indicates an NVIDIA GPU.

    A wrong "present" costs a process per case, a wrong "absent" loses values:
    in doubt this says False, and the case itself tells.
    """
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and visible.strip() in {"", "-1"}:
        return True
    nodes = [
        *Path("/dev").glob("nvidia[0-9]*"),
        *Path("/dev").glob("dxg"),
        *Path("/dev").glob("nvhost*"),
    ]
    if nodes:
        return False
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return True
    return subprocess.run([tool, "-L"], capture_output=True, check=False).returncode != 0


_FACTS = {
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
"""nvidia-smi's name of a fact of a device, to the name that the fact is recorded under."""
_STATE = {
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


def _query(fields: list[str]) -> list[list[str]]:
    """Return the values of each device; no device where the tool is missing or fails."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return []
    command = [tool, f"--query-gpu={','.join(fields)}", "--format=csv,noheader"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_QUERY_TIMEOUT, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return [row for row in csv.reader(done.stdout.splitlines(), skipinitialspace=True) if row]


def gpu_facts() -> dict[str, str]:
    """Return what each device is: ``gpu 0 name``, ``gpu 0 driver``, ...; empty without one."""
    return {
        f"gpu {number} {name}": value
        for number, values in enumerate(_query(list(_FACTS)))
        for name, value in zip(_FACTS.values(), values, strict=False)
        if value not in _NOTHING
    }


def gpu_states() -> list[dict[str, float | str]]:
    """Clocks, temperature and power of each device just now; units are in the names."""
    states = []
    for values in _query(list(_STATE)):
        named = zip(_STATE.values(), values, strict=False)
        states.append({name: _number(value) for name, value in named if value not in _NOTHING})
    return states


def _number(value: str) -> float | str:
    """``1980 MHz`` as 1980.0; what begins with no number stays text."""
    try:
        return float(value.split(maxsplit=1)[0])
    except ValueError:
        return value
