"""Calibrations made by hand."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from asv_watch.records.calibrations import (
    Calibration,
    CaseNoise,
    Finding,
    Load,
    RepeatedComparison,
    RepeatedComparisons,
)

_PLAIN = Calibration(
    at=1_760_000_000,
    commit="0123456789abcdef" * 2 + "01234567",
    torch="2.15.0",
    torchvision="0.29.2",
    runs=3,
    seconds=600.0,
    load=Load(before=0.2, others=0.05, stolen=0.001),
    noise=0.006,
    worst=0.021,
    comparisons=6,
    false_alarms=0,
    cases=(
        CaseNoise("a.A.time_x('m', 'cpu')", (0.1, 0.101, 0.102), 20, 0.004, 0.01, 0.025),
        CaseNoise("a.A.time_y('m', 'cpu')", (1.0, 1.02, 1.01), 6, 0.008, 0.021, None),
    ),
    without_value=("a.A.time_z('m', 'cpu')",),
    findings=(
        Finding("frequency governor", "powersave", True, "sudo <cpupower>"),
        Finding("swap", "none", False),
    ),
    interleaved=RepeatedComparisons(
        repeats=2,
        seconds=90.0,
        cases=(
            RepeatedComparison("a.A.time_x('m', 'cpu')", 5, 0.003, 0.008, 0.016),
            RepeatedComparison("a.A.time_w('m', 'cpu')", 9, 0.005, 0.012, 0.031),
        ),
        false_alarms=0,
    ),
)


def calibration(others: float = 0.05, **changes: Any) -> Calibration:
    """A calibration of a quiet machine, with changes."""
    return replace(_PLAIN, **({"load": replace(_PLAIN.load, others=others)} | changes))
