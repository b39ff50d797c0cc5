"""What spoils timings on a machine, read from made-up /sys trees, and other load, measured."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from asv_watch.machine import conditions
from asv_watch.machine.conditions import Condition, Load, LoadWatch, describe_conditions

QUIET = Load(before=0.1, others=0.05, stolen=0.0)
CPU = "sys/devices/system/cpu"


def _found(root: Path, files: dict[str, str], load: Load = QUIET) -> dict[str, Condition]:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return {condition.what: condition for condition in describe_conditions(load, root)}


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
        ({f"{CPU}/cpufreq/boost": "0"}, "turbo", "off", False),
    ],
)
def test_a_setting_that_spoils_timings_has_a_remedy(
    tmp_path: Path, files: dict[str, str], what: str, state: str, hurts: bool
) -> None:
    condition = _found(tmp_path, files)[what]
    assert state in condition.state
    assert bool(condition.remedy) is hurts


def test_load_and_stolen_time_hurt_from_a_threshold_on(tmp_path: Path) -> None:
    quiet = _found(tmp_path, {})
    busy = _found(tmp_path, {}, Load(before=2.0, others=1.0, stolen=0.05))
    for what, state in (("other load", "1.00 cores"), ("stolen time", "5.0 %")):
        assert not quiet[what].remedy
        assert busy[what].remedy
        assert state in busy[what].state


class Times(NamedTuple):
    """What `psutil.cpu_times` returns on Linux; user time holds guests' as well."""

    user: float
    system: float
    idle: float
    iowait: float
    steal: float
    guest: float


def test_our_own_work_is_not_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten seconds on two cores: 9 s busy, 4 s of them guests', 6 s ours, 1 s stolen."""
    clock = iter([0.0, 10.0])
    times = iter([Times(5, 5, 0, 0, 0, 1), Times(12, 7, 7, 3, 1, 5)])
    own = iter([1.0, 7.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(psutil, "cpu_times", lambda: next(times))
    monkeypatch.setattr(psutil, "cpu_count", lambda: 2)
    monkeypatch.setattr(psutil, "getloadavg", lambda: (0.7, 0.0, 0.0))
    monkeypatch.setattr(conditions, "_own_seconds", lambda: next(own))
    load = LoadWatch().load()
    assert load.others == pytest.approx(0.3)
    assert load == Load(before=0.7, others=load.others, stolen=0.05)


def test_work_of_our_children_is_ours() -> None:
    before = conditions._own_seconds()
    burn = "import time\nwhile time.process_time() < 0.5: pass"
    subprocess.run([sys.executable, "-c", burn], check=True)
    assert conditions._own_seconds() - before >= 0.48  # each part is cut to hundredths
