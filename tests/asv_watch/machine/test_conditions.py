"""The conditions of a machine, read from made-up /sys and /proc trees."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from asv_watch.machine import load as other_load
from asv_watch.machine.conditions import (
    Throttling,
    describe_conditions,
    describe_load,
    describe_throttling,
    read_throttling,
)
from asv_watch.machine.load import LoadWatch
from asv_watch.records.calibrations import Finding, Load

STEADY = {
    "OMP_NUM_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": "4294967296",
    "MALLOC_TRIM_THRESHOLD_": "4294967296",
    "MALLOC_TOP_PAD_": "268435456",
}
CPU = "sys/devices/system/cpu"


def _tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return root


def _found(
    root: Path, files: dict[str, str] | None = None, variables: dict[str, str] | None = None
) -> dict[str, Finding]:
    conditions = describe_conditions(
        STEADY if variables is None else variables, _tree(root, files or {})
    )
    names = [entry.what for entry in conditions]
    assert len(names) == len(set(names)), "each condition is named once"
    for entry in conditions:
        assert bool(entry.remedy) == entry.hurts, entry
        assert "\n" not in entry.remedy + entry.state
    return {entry.what: entry for entry in conditions}


@pytest.mark.parametrize(
    ("files", "what", "state", "hurts"),
    [
        (
            {
                f"{CPU}/cpu0/cpufreq/scaling_governor": "powersave",
                f"{CPU}/cpu1/cpufreq/scaling_governor": "performance",
            },
            "frequency governor",
            "performance, powersave",
            True,
        ),
        (
            {f"{CPU}/cpu0/cpufreq/scaling_governor": "performance"},
            "frequency governor",
            "performance",
            False,
        ),
        ({f"{CPU}/intel_pstate/no_turbo": "0"}, "turbo", "on", True),
        ({f"{CPU}/intel_pstate/no_turbo": "1"}, "turbo", "off", False),
        ({f"{CPU}/cpufreq/boost": "1"}, "turbo", "on", True),
        ({f"{CPU}/cpufreq/boost": "0"}, "turbo", "off", False),
        ({f"{CPU}/smt/active": "1"}, "hardware threads", "two share a core", True),
        ({f"{CPU}/smt/active": "0"}, "hardware threads", "one a core", False),
        ({f"{CPU}/isolated": "2-3"}, "isolated cores", "2-3", False),
        ({"proc/cpuinfo": "flags\t\t: fpu hypervisor sse"}, "virtual machine", "of a kind", True),
        ({"sys/hypervisor/type": "xen"}, "virtual machine", "xen", True),
        (
            {"sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never"},
            "transparent huge pages",
            "always",
            True,
        ),
        (
            {"sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never"},
            "transparent huge pages",
            "madvise",
            False,
        ),
        (
            {"proc/sys/kernel/randomize_va_space": "0"},
            "address layout",
            "the same in every process",
            True,
        ),
        ({"proc/sys/kernel/randomize_va_space": "2"}, "address layout", "random", False),
        (
            {
                "sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet",
                "sys/devices/system/clocksource/clocksource0/available_clocksource": "hpet tsc",
            },
            "clock source",
            "hpet",
            True,
        ),
        ({".dockerenv": ""}, "container", "", False),
        (
            {"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/cpu.max": "150000 100000"},
            "CPU quota",
            "1.5 cores",
            True,
        ),
        (
            {
                "proc/self/cgroup": "9:name=systemd:/\n3:cpu,cpuacct:/x",
                "sys/fs/cgroup/cpu/x/cpu.cfs_quota_us": "50000",
                "sys/fs/cgroup/cpu/x/cpu.cfs_period_us": "100000",
            },
            "CPU quota",
            "0.5 cores",
            True,
        ),
    ],
)
def test_a_condition_is_told_with_its_remedy(
    tmp_path: Path, files: dict[str, str], what: str, state: str, hurts: bool
) -> None:
    conditions = _found(tmp_path, files)[what]
    assert state in conditions.state
    assert conditions.hurts is hurts


def test_a_machine_that_shows_nothing_is_not_accused(tmp_path: Path) -> None:
    conditions = _found(tmp_path)
    assert not {"frequency governor", "turbo", "CPU quota", "virtual machine"} & conditions.keys()
    assert {"cores", "threads", "allocator", "memory", "swap"} <= conditions.keys()


def test_a_cgroup_without_limit_is_no_limit(tmp_path: Path) -> None:
    files = {"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "max 100000"}
    assert "CPU quota" not in _found(tmp_path, files)


@pytest.mark.parametrize("text", ["", "nonsense", "\x00\xff", "9", ":::", "0:"])
def test_files_of_another_shape_are_passed_over(tmp_path: Path, text: str) -> None:
    files = (
        *(f"{CPU}/intel_pstate/no_turbo", f"{CPU}/smt/active", f"{CPU}/cpu0/cpufreq/x"),
        *("proc/self/cgroup", "proc/cpuinfo", "sys/fs/cgroup/cpu.max", "sys/fs/cgroup/cpu.stat"),
        *("sys/kernel/mm/transparent_hugepage/enabled", f"{CPU}/cpu0/thermal_throttle/a_throttle"),
    )
    _found(tmp_path, dict.fromkeys(files, text))
    assert read_throttling(tmp_path) == Throttling(0, 0)


def test_missing_settings_of_the_recipe_hurt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conditions = _found(tmp_path, variables={})
    assert conditions["threads"].hurts
    assert conditions["allocator"].hurts
    assert "MALLOC_TOP_PAD_" in conditions["allocator"].state
    assert "asv.conf.json" in conditions["allocator"].remedy
    assert not _found(tmp_path)["threads"].hurts
    assert not _found(tmp_path)["allocator"].hurts
    monkeypatch.setenv("LD_PRELOAD", "/usr/lib/libother.so")
    conditions = _found(tmp_path)
    assert "/usr/lib/libother.so" in conditions["allocator"].state
    assert conditions["allocator"].hurts


def test_the_real_machine_can_be_described() -> None:
    described = describe_conditions(STEADY)
    assert {"cores", "memory", "swap"} <= {condition.what for condition in described}


def test_being_held_back_meanwhile_is_told_and_before_is_not(tmp_path: Path) -> None:
    throttled = f"{CPU}/cpu0/thermal_throttle/core_throttle_count"
    _tree(
        tmp_path,
        {
            throttled: "7",
            "proc/self/cgroup": "0::/",
            "sys/fs/cgroup/cpu.stat": "usage_usec 5\nnr_periods 9\nnr_throttled 4",
        },
    )
    before = read_throttling(tmp_path)
    assert before == Throttling(hot=7, quota=4)
    assert describe_throttling(before, before) == []
    heat, quota = describe_throttling(before, Throttling(hot=9, quota=5))
    assert "2 times" in heat.state
    assert "1 periods" in quota.state
    assert heat.hurts
    assert quota.hurts


def test_load_and_stolen_time_hurt_from_a_threshold_on() -> None:
    quiet = describe_load(Load(before=0.1, others=0.05, stolen=0.0))
    busy = describe_load(Load(before=2.0, others=1.0, stolen=0.05))
    assert [condition.hurts for condition in quiet] == [False, False]
    assert [condition.hurts for condition in busy] == [True, True]
    assert "1.00 cores" in busy[0].state
    assert "5.0%" in busy[1].state


class Times(NamedTuple):
    """What `psutil.cpu_times` returns on Linux; user time holds guests' as well."""

    user: float
    system: float
    idle: float
    iowait: float
    steal: float
    guest: float


def test_our_own_work_is_not_other_load(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten seconds on two cores: 9 s busy, 4 s of them guests', 6 s ours, 1 s stolen."""
    clock = iter([0.0, 10.0])
    times = iter([Times(5, 5, 0, 0, 0, 1), Times(12, 7, 7, 3, 1, 5)])
    own = iter([1.0, 7.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(psutil, "cpu_times", lambda: next(times))
    monkeypatch.setattr(psutil, "cpu_count", lambda: 2)
    monkeypatch.setattr(psutil, "getloadavg", lambda: (0.7, 0.0, 0.0))
    monkeypatch.setattr(other_load, "_own_seconds", lambda: next(own))
    load = LoadWatch().load()
    assert load.others == pytest.approx(0.3)
    assert load == Load(before=0.7, others=load.others, stolen=0.05)


def test_work_of_our_children_is_ours() -> None:
    before = other_load._own_seconds()
    burn = "import time\nwhile time.process_time() < 0.5: pass"
    subprocess.run([sys.executable, "-c", burn], check=True)
    assert other_load._own_seconds() - before >= 0.48  # each part is cut to hundredths
